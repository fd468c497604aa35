# expect: DLB323 8:5
import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    A[i] = i
    for i in range(3):
        pass
