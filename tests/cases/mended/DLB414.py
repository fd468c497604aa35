import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
d = dict.fromkeys(range(n))
kept = {}
# dlb: parallel
for i in range(n):
    if i % 2:
        kept[i] = d[i]
d = kept
