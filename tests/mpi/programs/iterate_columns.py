"""Routines by columns, and by rows and columns in turn (ADI); transposes, Fortran order, three axes."""

import numpy as np


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, a.size // 6)]])


def sweep(line, c):
    """A tridiagonal system along a line, solved in its place."""
    for k in range(1, len(line)):
        line[k] = (line[k] + c * line[k - 1]) / (1.0 + c)
    for k in range(len(line) - 2, -1, -1):
        line[k] = (line[k] + c * line[k + 1]) / (1.0 + c)


def alternating(n, m, order):
    u = np.array(np.random.default_rng(3).random((n, m)), order=order)
    w = np.zeros((n, m))
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            w[i, :] = u[i, :]
            for k in range(1, m):
                w[i, k] = (w[i, k] + 0.5 * w[i, k - 1]) / 1.5
        # dlb: parallel, BLOCK(u, w, axis=1)
        for j in range(m):
            u[:, j] = w[:, j]
            for k in range(n - 2, -1, -1):
                u[k, j] = (u[k, j] + 0.5 * u[k + 1, j]) / 1.5
        if t == 1:
            print(float(u[n // 2, m - 1]).hex(), float(w[:, 0].sum()).hex())
    shown(u, w)


def columns_alone(n, m):
    A, B, s = np.arange(float(n * m)).reshape(n, m) % 7, np.zeros((n, m)), np.zeros(m)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for j in range(1, m - 1):
            B[:, j] = A[:, j] + 0.25 * (A[:, j - 1].sum() if t % 2 else 1.0)
            s[j] = B[0, j]
        B[t % n, :] = t
        A, B = B, A
    shown(A, B, s)


def through_a_transpose(A, T):
    n = len(A)
    # dlb: iterate
    for t in range(4):
        if t % 2 == 0:
            # dlb: parallel
            for i in range(n):
                A[i, :] = A[i, ::-1] * 0.5 + i
        else:
            # dlb: parallel
            for i in range(n):
                T[i, :] = T[i, :] + T[i, :].max()
        print(float(A[1, 2]).hex(), float(T[1, 2]).hex())
    shown(A, T)


def three_axes(n):
    u, v = np.ones((n, 4, 3)), np.zeros((4, n, 3))
    # dlb: iterate
    for t in range(3):
        # dlb: parallel
        for i in range(n):
            for j in range(4):
                v[j, i] = u[i, j] * (j + 1)
        # dlb: parallel
        for i in range(1, n):
            u[i] = v[:, i] - v[:, i - 1]
        # dlb: parallel
        for k in range(3):
            u[:, :, k] += k
    shown(u, v)


for n, m in ((1, 1), (2, 9), (13, 8)):
    alternating(n, m, "C")
    alternating(n, m, "F")
    columns_alone(n, m)
for n in (3, 12):
    square = np.random.default_rng(n).random((n, n))
    through_a_transpose(square, square.T)
    three_axes(n)
line = np.arange(5.0)
sweep(line, 0.5)
shown(line)
