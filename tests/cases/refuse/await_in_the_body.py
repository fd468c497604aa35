# expect: DLB205 11:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
async def f(g):
    # dlb: parallel
    for i in range(n):
        await g(i)
