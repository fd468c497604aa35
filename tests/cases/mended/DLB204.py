import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def f():
    results = [0.0] * n
    # dlb: parallel
    for i in range(n):
        results[i] = 2 * B[i]
    yield from results
