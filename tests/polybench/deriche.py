"""Deriche's recursive edge detection, along rows and then along columns (PolyBench deriche), in doubles."""

import math

import numpy as np
from harness import run

SIZES = {"MINI": (64, 64), "SMALL": (192, 128), "MEDIUM": (720, 480), "LARGE": (4096, 2160)}


def initial(width, height):
    image = np.fromfunction(lambda i, j: (313 * i + 991 * j) % 65536 / 65535.0, (width, height))
    alpha = 0.25
    decay, faster = math.exp(-alpha), math.exp(-2.0 * alpha)
    k = (1.0 - decay) * (1.0 - decay) / (1.0 + 2.0 * alpha * decay - math.exp(2.0 * alpha))
    a = (k, k * decay * (alpha - 1.0), k * decay * (alpha + 1.0), -k * faster)
    return image, *(np.zeros((width, height)) for _ in range(3)), *a, math.pow(2.0, -alpha), -faster


def kernel(image, out, y1, y2, a1, a2, a3, a4, b1, b2):
    width, height = image.shape
    # dlb: parallel, BLOCK, jit
    for i in range(width):
        ym1 = 0.0
        ym2 = 0.0
        xm1 = 0.0
        for j in range(height):
            y1[i, j] = a1 * image[i, j] + a2 * xm1 + b1 * ym1 + b2 * ym2
            xm1 = image[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    # dlb: parallel, BLOCK, jit
    for i in range(width):
        yp1 = 0.0
        yp2 = 0.0
        xp1 = 0.0
        xp2 = 0.0
        for j in range(height - 1, -1, -1):
            y2[i, j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2
            xp2 = xp1
            xp1 = image[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    # dlb: parallel, BLOCK, jit
    for i in range(width):
        for j in range(height):
            out[i, j] = y1[i, j] + y2[i, j]
    # dlb: parallel, BLOCK, jit
    for j in range(height):
        tm1 = 0.0
        ym1 = 0.0
        ym2 = 0.0
        for i in range(width):
            y1[i, j] = a1 * out[i, j] + a2 * tm1 + b1 * ym1 + b2 * ym2
            tm1 = out[i, j]
            ym2 = ym1
            ym1 = y1[i, j]
    # dlb: parallel, BLOCK, jit
    for j in range(height):
        tp1 = 0.0
        tp2 = 0.0
        yp1 = 0.0
        yp2 = 0.0
        for i in range(width - 1, -1, -1):
            y2[i, j] = a3 * tp1 + a4 * tp2 + b1 * yp1 + b2 * yp2
            tp2 = tp1
            tp1 = out[i, j]
            yp2 = yp1
            yp1 = y2[i, j]
    # dlb: parallel, BLOCK, jit
    for i in range(width):
        for j in range(height):
            out[i, j] = y1[i, j] + y2[i, j]
    return out


if __name__ == "__main__":
    run(kernel, initial, SIZES)
