"""Product of a sparse matrix, by compressed rows, and a vector (NPBench spmv)."""

import numpy as np


def multiply(starts, columns, values, x):
    y = np.empty(starts.size - 1, values.dtype)
    # dlb: parallel, BLOCK
    for i in range(starts.size - 1):
        where = columns[starts[i] : starts[i + 1]]
        row = values[starts[i] : starts[i + 1]]
        y[i] = row @ x[where]
    return y


rng = np.random.default_rng(16)
starts = np.concatenate([[0], np.cumsum(rng.integers(0, 5, 30))])
columns = rng.integers(0, 20, starts[-1])
print(multiply(starts, columns, rng.random(starts[-1]), rng.random(20)).tolist())
