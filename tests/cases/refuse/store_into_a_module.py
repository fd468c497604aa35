# expect: DLB416 12:5
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
import settings

# dlb: parallel
for i in range(n):
    settings.table[i] = B[i]
