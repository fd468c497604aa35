# expect: DLB401 15:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
def g(x):
    print(x)
    return x


# dlb: parallel
for i in range(n):
    B[i] = g(i)
