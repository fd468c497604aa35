import numpy as np


def waves(A, n):
    # dlb: parallel, jit
    for i in range(n):
        A[i] = np.sin(A[i])
