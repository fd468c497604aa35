# expect: DLB316 9:10
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
# dlb: parallel
for x in xs:
    xs.append(x)
