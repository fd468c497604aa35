# expect: DLB301 11:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(1, n):
    for j in range(n):
        A[i, j] = A[i - 1, j]
