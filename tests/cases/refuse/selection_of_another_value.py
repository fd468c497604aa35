# expect: DLB326 11:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
best = 0
# dlb: parallel
for i in range(n):
    if B[i] > best:
        best, where = 2 * B[i], i
