"""Columns of tall matrices and rows taken by steps: more pieces of memory than one message may have."""

import numpy as np


def scale(matrix, out):
    # dlb: parallel, BLOCK
    for j in range(matrix.shape[1]):
        out[:, j] = matrix[:, j] * (j + 1)


def add_in_place(rows):
    # dlb: parallel, CYCLIC
    for i in range(len(rows)):
        rows[i] += i


def add_in_lines(cube):
    # dlb: parallel, CYCLIC
    for j in range(cube.shape[1]):
        cube[:, j] -= j


matrix = np.random.default_rng(7).random((1500, 400))
out = np.zeros_like(matrix)
scale(matrix, out)
print(out.sum(), out.tobytes().__hash__() == (matrix * np.arange(1, 401)).tobytes().__hash__())

rows = np.random.default_rng(8).random((2600, 130))
expected = rows + np.arange(2600.0)[:, None]
add_in_place(rows)
print(rows.sum(), (rows == expected).all())

cube = np.asfortranarray(np.random.default_rng(9).random((130, 7, 700)))
expected = cube - np.arange(7.0)[:, None]
add_in_lines(cube)
print(cube.sum(), (cube == expected).all())
