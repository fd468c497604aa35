# expect: DLB409 19:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
count = 0


def g(x):
    global count
    count += 1
    return x


# dlb: parallel
for i in range(n):
    B[i] = g(i)
