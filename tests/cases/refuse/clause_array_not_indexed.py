# expect: DLB321 8:18
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel, BLOCK(B)
for i in range(n):
    A[i] = B[0]
