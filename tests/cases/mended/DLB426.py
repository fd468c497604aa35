import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    t = i * i
    A[i] = t
print(t)
