import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    A[i] = A[i] / 2
    for j in range(3):
        pass
