"""Covariance of columns, element by element (PolyBench covariance)."""

import numpy as np


def covary(count, data, result, mean):
    points, columns = data.shape
    # dlb: parallel, BLOCK
    for j in range(columns):
        mean[j] = 0.0
        for i in range(points):
            mean[j] += data[i, j]
        mean[j] /= count
    # dlb: parallel, BLOCK
    for i in range(points):
        for j in range(columns):
            data[i, j] -= mean[j]
    # dlb: parallel, BLOCK
    for i in range(columns):
        for j in range(i, columns):
            result[i, j] = 0.0
            for k in range(points):
                result[i, j] += data[k, i] * data[k, j]
            result[i, j] /= count - 1.0
            result[j, i] = result[i, j]


result = np.zeros((7, 7))
covary(9.0, np.fromfunction(lambda i, j: i * j / 7 + i, (9, 7)), result, np.empty(7))
print(result.tolist())
