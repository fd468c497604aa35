"""Correlation of columns, element by element (PolyBench correlation)."""

import numpy as np


def correlate(count, data, result, mean, deviation):
    points, columns = data.shape
    # dlb: parallel, BLOCK
    for j in range(columns):
        mean[j] = 0.0
        for i in range(points):
            mean[j] += data[i, j]
        mean[j] /= count
    # dlb: parallel, BLOCK
    for j in range(columns):
        deviation[j] = 0.0
        for i in range(points):
            deviation[j] += (data[i, j] - mean[j]) * (data[i, j] - mean[j])
        deviation[j] = np.sqrt(deviation[j] / count)
        deviation[j] = 1.0 if deviation[j] <= 0.1 else deviation[j]
    # dlb: parallel, BLOCK
    for i in range(points):
        for j in range(columns):
            data[i, j] -= mean[j]
            data[i, j] /= np.sqrt(count) * deviation[j]
    # dlb: parallel, BLOCK
    for i in range(columns - 1):
        result[i, i] = 1.0
        for j in range(i + 1, columns):
            result[i, j] = 0.0
            for k in range(points):
                result[i, j] += data[k, i] * data[k, j]
            result[j, i] = result[i, j]
    result[columns - 1, columns - 1] = 1.0


result = np.zeros((7, 7))
correlate(9.0, np.fromfunction(lambda i, j: i * j / 7 + i, (9, 7)), result, np.empty(7), np.empty(7))
print(result.tolist())
