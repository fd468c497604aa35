# expect: DLB412 12:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
from helpers import g

# dlb: parallel
for i in range(n):
    B[i] = g(i)
