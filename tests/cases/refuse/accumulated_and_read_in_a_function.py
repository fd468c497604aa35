# expect: DLB313 10:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
s = 0
def so_far():
    return s


# dlb: parallel
for i in range(n):
    s += B[i]
    A[i] = so_far()
