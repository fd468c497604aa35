import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
async def f(g):
    values = [await g(i) for i in range(n)]
    # dlb: parallel
    for i in range(n):
        B[i] = 2 * values[i]
