# expect: DLB309 11:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for i in range(n):
    t = xs[i].base
    t[0] = 1
