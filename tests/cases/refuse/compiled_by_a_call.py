# expect: DLB502 8:5
import numpy as np
from numba import njit as compiled


def relax(u, v):
    # dlb: parallel, BLOCK
    for i in range(1, len(u) - 1):
        v[i] = (u[i - 1] + u[i + 1]) / 2


relax = compiled(cache=True)(relax)
relax(np.ones(8), np.zeros(8))
