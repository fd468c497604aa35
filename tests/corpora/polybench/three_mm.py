"""G = (A B) (C D) (PolyBench 3mm)."""

import numpy as np


def three_mm(a, b, c, d, ab, cd, result):
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            ab[i, j] = 0.0
            for k in range(a.shape[1]):
                ab[i, j] += a[i, k] * b[k, j]
    # dlb: parallel, BLOCK
    for i in range(c.shape[0]):
        for j in range(d.shape[1]):
            cd[i, j] = 0.0
            for k in range(c.shape[1]):
                cd[i, j] += c[i, k] * d[k, j]
    # dlb: parallel, BLOCK
    for i in range(ab.shape[0]):
        for j in range(cd.shape[1]):
            result[i, j] = 0.0
            for k in range(ab.shape[1]):
                result[i, j] += ab[i, k] * cd[k, j]


def filled(rows, columns, step):
    return np.fromfunction(lambda i, j: (i * (j + step) + 1) % rows / rows, (rows, columns))


result = np.empty((7, 6))
three_mm(
    filled(7, 5, 0),
    filled(5, 4, 1),
    filled(4, 8, 3),
    filled(8, 6, 2),
    np.empty((7, 4)),
    np.empty((4, 6)),
    result,
)
print(result.tolist())
