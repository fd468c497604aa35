# expect: DLB325 11:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
s = 1
# dlb: parallel
for i in range(n):
    s += B[i]
    s *= 2
