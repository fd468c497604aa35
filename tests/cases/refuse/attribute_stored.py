# expect: DLB408 15:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
class P:
    x = 0


p = P()
# dlb: parallel
for i in range(n):
    p.x = i
    A[i, 0] = p.x
