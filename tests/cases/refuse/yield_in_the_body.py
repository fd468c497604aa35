# expect: DLB204 11:9
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def f():
    # dlb: parallel
    for i in range(n):
        yield B[i]
