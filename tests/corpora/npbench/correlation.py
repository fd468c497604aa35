"""Correlation of columns, a row and a column of the matrix at a time (NPBench correlation)."""

import numpy as np


def correlate(columns, count, data):
    mean = np.sum(data, axis=0) / count
    deviation = np.sqrt(np.sum((data - mean) ** 2, axis=0) / count)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(count) * deviation
    result = np.eye(columns, dtype=data.dtype)
    # dlb: parallel, BLOCK
    for i in range(columns - 1):
        result[i + 1 : columns, i] = result[i, i + 1 : columns] = data[:, i] @ data[:, i + 1 : columns]
    return result


print(correlate(9, 14.0, np.random.default_rng(10).random((14, 9))).tolist())
