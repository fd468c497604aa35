import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
seeds = np.random.SeedSequence(1).spawn(n)
# dlb: parallel
for i in range(n):
    B[i] = np.random.default_rng(seeds[i]).random()
