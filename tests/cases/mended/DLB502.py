import numpy as np


def relax(u, v):
    # dlb: parallel, BLOCK, jit
    for i in range(1, len(u) - 1):
        v[i] = (u[i - 1] + u[i + 1]) / 2


A, B = np.ones(8), np.zeros(8)
relax(A, B)
