# expect: DLB316 9:25
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i, row in enumerate(A):
    A[i] = row * 2
