# expect: DLB414 11:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
d = dict.fromkeys(range(n))
# dlb: parallel
for i in range(n):
    del d[i]
