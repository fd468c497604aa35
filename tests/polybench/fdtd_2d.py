"""Finite differences in the time domain, in two dimensions (PolyBench fdtd-2d)."""

import numpy as np
from harness import run

SIZES = {"MINI": (20, 20, 30), "SMALL": (40, 60, 80), "MEDIUM": (100, 200, 240), "LARGE": (500, 1000, 1200)}


def initial(steps, nx, ny):
    ex = np.fromfunction(lambda i, j: i * (j + 1) / nx, (nx, ny))
    ey = np.fromfunction(lambda i, j: i * (j + 2) / ny, (nx, ny))
    hz = np.fromfunction(lambda i, j: i * (j + 3) / nx, (nx, ny))
    return ex, ey, hz, np.arange(steps) + 0.0


def kernel(ex, ey, hz, fict):
    nx, ny = ex.shape
    # dlb: iterate
    for t in range(len(fict)):
        for j in range(ny):
            ey[0, j] = fict[t]
        # dlb: parallel, BLOCK, jit
        for i in range(1, nx):
            for j in range(ny):
                ey[i, j] = ey[i, j] - 0.5 * (hz[i, j] - hz[i - 1, j])
        # dlb: parallel, BLOCK, jit
        for i in range(nx):
            for j in range(1, ny):
                ex[i, j] = ex[i, j] - 0.5 * (hz[i, j] - hz[i, j - 1])
        # dlb: parallel, BLOCK, jit
        for i in range(nx - 1):
            for j in range(ny - 1):
                hz[i, j] = hz[i, j] - 0.7 * (ex[i, j + 1] - ex[i, j] + ey[i + 1, j] - ey[i, j])
    return ex, ey, hz


if __name__ == "__main__":
    run(kernel, initial, SIZES)
