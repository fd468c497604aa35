# expect: DLB320 8:18
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel, BLOCK(A, axis=1)
for i in range(n):
    A[i] = 1
