# expect: DLB301 10:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(1, n):
    B[i] = B[i - 1] + 1
