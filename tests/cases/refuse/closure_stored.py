# expect: DLB314 11:13
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
fs = [None] * n
# dlb: parallel
for i in range(n):
    fs[i] = lambda: i
