# expect: DLB301 10:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(2, n, 2):
    A[i, :] = A[i - 2, :]
