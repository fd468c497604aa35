import numpy as np

n = 8
A = np.zeros(n)
seen = []
# dlb: parallel
for i in range(n):
    seen.append(i)
    A[i] = i
