import numpy as np

A = np.zeros((10, 50))
# dlb: parallel
for i in range(10):
    for j in range(50):
        A[i, j] = i + j
