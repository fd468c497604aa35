import numpy as np

A = np.zeros(4)
# dlb: parallel, jit
for i in range(4):
    A[i] = i * 0.5
