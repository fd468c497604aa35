# expect: DLB326 12:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
best = 0
where = 0
# dlb: parallel
for i in range(n):
    if B[i] > best:
        best, where = B[i], i
    A[i] = where
