import numpy as np

n = 8
A = np.zeros(n)
items = list(range(100))
# dlb: parallel
for i in range(n):
    A[i] = sum(x for x in items if x > i)
