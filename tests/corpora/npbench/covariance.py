"""Covariance of columns, by rows and by elements (NPBench covariance)."""

import numpy as np


def by_rows(columns, count, data):
    result = np.zeros((columns, columns), dtype=data.dtype)
    # dlb: parallel, BLOCK
    for i in range(columns):
        result[i:columns, i] = result[i, i:columns] = data[:, i] @ data[:, i:columns] / (count - 1.0)
    return result


def by_elements(columns, count, data):
    result = np.zeros((columns, columns), dtype=data.dtype)
    # dlb: parallel, BLOCK
    for i in range(columns):
        # dlb: parallel, BLOCK
        for j in range(i, columns):
            result[i, j] = np.sum(data[:, i] * data[:, j])
            result[i, j] /= count - 1.0
            result[j, i] = result[i, j]
    return result


data = np.random.default_rng(11).random((13, 8))
data -= np.mean(data, axis=0)
print(by_rows(8, 13.0, data).tolist(), by_elements(8, 13.0, data).tolist())
