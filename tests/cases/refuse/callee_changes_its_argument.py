# expect: DLB410 14:7
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def g(*a):
    a[0][0] = 1


# dlb: parallel
for i in range(n):
    g(A, i)
