# expect: DLB310 11:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
t = 0
# dlb: parallel
for i in range(n):
    B[i] = t
    t = i
