"""Finite differences in the time domain, in two dimensions (PolyBench fdtd-2d)."""

import numpy as np


def fdtd(ex, ey, hz, source):
    for t in range(len(source)):
        # dlb: parallel, BLOCK
        for j in range(ey.shape[1]):
            ey[0, j] = source[t]
        # dlb: parallel, BLOCK
        for i in range(1, ey.shape[0]):
            for j in range(ey.shape[1]):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        # dlb: parallel, BLOCK
        for i in range(ex.shape[0]):
            for j in range(1, ex.shape[1]):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        # dlb: parallel, BLOCK
        for i in range(hz.shape[0] - 1):
            for j in range(hz.shape[1] - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])


ex, ey, hz = (np.fromfunction(lambda i, j, k=k: i * (j + k) / (7 + k), (9, 8)) for k in (1, 2, 3))
fdtd(ex, ey, hz, [0.0, 1.0, 2.0])
print(ex.tolist(), ey.tolist(), hz.tolist())
