# expect: DLB306 11:17
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
d = {}
# dlb: parallel
for i in range(n):
    d[str(i)] = d.get(str(i - 1))
