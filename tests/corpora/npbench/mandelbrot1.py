"""The Mandelbrot set, all points one step at a time (NPBench mandelbrot1)."""

import numpy as np


def linspace(start, stop, count):
    points = np.empty((count,))
    step = (stop - start) / (count - 1)
    # dlb: parallel, BLOCK
    for i in range(count):
        points[i] = start + i * step
    return points


def mandelbrot(width, height, steps, horizon=2.0):
    c = linspace(-2.25, 0.75, width) + linspace(-1.25, 1.25, height).reshape(height, 1) * 1j
    count = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=complex)
    for n in range(steps):
        inside = np.less(np.absolute(z), horizon)
        # dlb: parallel, BLOCK
        for j in range(c.shape[0]):
            # dlb: parallel, BLOCK
            for k in range(c.shape[1]):
                if inside[j, k]:
                    count[j, k] = n
                    z[j, k] = z[j, k] ** 2 + c[j, k]
    # dlb: parallel, BLOCK
    for j in range(c.shape[0]):
        # dlb: parallel, BLOCK
        for k in range(c.shape[1]):
            if count[j, k] == steps - 1:
                count[j, k] = 0
    return z, count


def mandelbrot_apart(width, height, steps, horizon=2.0):
    """The same with a pass of its own over the points for each store, as in the comments there."""
    c = linspace(-2.25, 0.75, width) + linspace(-1.25, 1.25, height).reshape(height, 1) * 1j
    z = np.zeros(c.shape, dtype=complex)
    for _ in range(steps):
        inside = np.less(np.absolute(z), horizon)
        # dlb: parallel, BLOCK
        for j in range(c.shape[0]):
            # dlb: parallel, BLOCK
            for k in range(c.shape[1]):
                if inside[j, k]:
                    z[j, k] = z[j, k] ** 2 + c[j, k]
    return z


z, count = mandelbrot(12, 10, 8)
print(z.tolist(), count.tolist(), mandelbrot_apart(12, 10, 3).sum())
