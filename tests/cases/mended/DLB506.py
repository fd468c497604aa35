import numpy as np

A = np.zeros(8)
# dlb: parallel, BLOCK
for i in range(8):
    A[i] = i
