# expect: DLB203 12:13
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def f():
    # dlb: parallel
    for i in range(n):
        if B[i] > 1:
            return i
