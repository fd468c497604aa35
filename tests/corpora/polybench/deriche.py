"""Deriche's recursive edge detection, rows and then columns (PolyBench deriche)."""

import numpy as np


def deriche(image, alpha):
    width, height = image.shape
    left, right, out = np.zeros((width, height)), np.zeros((width, height)), np.zeros((width, height))
    decay = np.exp(-alpha)
    k = (1 - decay) ** 2 / (1 + 2 * alpha * decay - decay**2)
    a1, a2, a3, a4 = k, k * decay * (alpha - 1), k * decay * (alpha + 1), -k * decay**2
    b1, b2 = 2 ** (-alpha), -(decay**2)
    # dlb: parallel, BLOCK
    for i in range(width):
        ym1 = ym2 = xm1 = 0.0
        for j in range(height):
            left[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = left[i, j]
    # dlb: parallel, BLOCK
    for i in range(width):
        yp1 = yp2 = xp1 = xp2 = 0.0
        for j in range(height - 1, -1, -1):
            right[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = right[i, j]
    # dlb: parallel, BLOCK
    for i in range(width):
        for j in range(height):
            out[i, j] = left[i, j] + right[i, j]
    # dlb: parallel, BLOCK
    for j in range(height):
        tm1 = ym1 = ym2 = 0.0
        for i in range(width):
            left[i, j] = a1 * out[i, j] + a2 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = left[i, j]
    return left


print(deriche(np.fromfunction(lambda i, j: (313 * i + 991 * j) % 65536 / 65535, (9, 8)), 0.25).tolist())
