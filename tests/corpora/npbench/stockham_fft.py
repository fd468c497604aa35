"""The Stockham fast Fourier transform of a radix (NPBench stockham_fft)."""

import numpy as np


def grids(rows, columns):
    down = np.empty((rows, columns), dtype=np.uint32)
    across = np.empty((rows, columns), dtype=np.uint32)
    # dlb: parallel, BLOCK
    for i in range(rows):
        down[i, :] = i
    # dlb: parallel, BLOCK
    for j in range(columns):
        across[:, j] = j
    return down, across


def transform(radix, power, x):
    down, across = grids(radix, radix)
    butterfly = np.exp(-2.0j * np.pi * down * across / radix)
    down, across = grids(radix, radix**power)
    y = x.copy()
    for i in range(power):
        stride = radix ** (power - i - 1)
        permuted = np.transpose(y.reshape(radix**i, radix, stride), (1, 0, 2)).copy()
        factors = np.empty((radix, radix**i, stride), dtype=complex)
        twiddles = np.exp(-2.0j * np.pi * down[:, : radix**i] * across[:, : radix**i] / radix ** (i + 1))
        # dlb: parallel, BLOCK
        for k in range(stride):
            factors[:, :, k] = twiddles
        y[:] = (butterfly @ (permuted.reshape(-1) * factors.reshape(-1)).reshape(radix, -1)).reshape(-1)
    return y


rng = np.random.default_rng(17)
print(transform(2, 5, rng.random(32) + 1j * rng.random(32)).tolist())
