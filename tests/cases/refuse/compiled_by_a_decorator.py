# expect: DLB502 9:5
import numba as nb
import numpy as np


@nb.njit(parallel=True)
def relax(u, v):
    # dlb: parallel, BLOCK
    for i in nb.prange(1, len(u) - 1):
        v[i] = (u[i - 1] + u[i + 1]) / 2


A, B = np.ones(8), np.zeros(8)
relax(A, B)
