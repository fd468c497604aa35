# expect: DLB311 11:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
best = 0
# dlb: parallel
for i in range(n):
    best = max(best, B[i])
