# expect: DLB323 8:5
import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    A[i] = A[i] / 2
    for i in range(3):
        pass
