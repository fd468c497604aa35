# expect: DLB404 12:12
import numpy as np

n = 8
A = np.zeros((n, n))
B = np.ones(n)
xs = [[0] for _ in range(n)]
import random

# dlb: parallel
for i in range(n):
    B[i] = random.random()
