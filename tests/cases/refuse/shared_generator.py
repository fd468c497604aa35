# expect: DLB405 11:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
rng = np.random.default_rng(1)
# dlb: parallel
for i in range(n):
    B[i] = rng.normal()
