# expect: DLB307 10:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for x in B:
    A[0] = A[0] / x
