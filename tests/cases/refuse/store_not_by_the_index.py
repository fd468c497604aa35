# expect: DLB304 11:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    k = xs[i][0]
    B[k] = B[k] / 2
