import numpy as np

A = np.zeros(6)
# dlb: parallel
for i in range(6):
    A[i] = i
