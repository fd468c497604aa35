# expect: DLB304 12:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
state = {0: B, 1: B}
# dlb: parallel
for i in range(n):
    k = xs[i][0]
    state[k][3] = i
