import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
more = []
# dlb: parallel
for x in xs:
    more.append(x)
xs.extend(more)
