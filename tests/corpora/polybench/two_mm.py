"""D = alpha A B C + beta D (PolyBench 2mm)."""

import numpy as np


def two_mm(alpha, beta, product, a, b, c, d):
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            product[i, j] = 0.0
            for k in range(a.shape[1]):
                product[i, j] += alpha * a[i, k] * b[k, j]
    # dlb: parallel, BLOCK
    for i in range(a.shape[0]):
        for j in range(c.shape[1]):
            d[i, j] *= beta
            for k in range(b.shape[1]):
                d[i, j] += product[i, k] * c[k, j]


def filled(rows, columns, step):
    return np.fromfunction(lambda i, j: (i * (j + step) + 1) % rows / rows, (rows, columns))


d = filled(8, 6, 2)
two_mm(1.5, 1.2, np.empty((8, 7)), filled(8, 5, 0), filled(5, 7, 1), filled(7, 6, 3), d)
print(d.tolist())
