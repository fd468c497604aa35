"""The loops of the workloads for a block of rows, as they are written, compiled by numba.

Each takes the number of its first row and its rows of what is distributed; other arrays are whole.
"""

import math

import numpy as np
from numba import njit

__all__ = ["PARTS"]


@njit(nogil=True)
def mxm(first, Z, X, Y):
    for i in range(Z.shape[0]):
        for j in range(Z.shape[1]):
            for k in range(X.shape[1]):
                Z[i, j] += X[i, k] * Y[k, j]


@njit(nogil=True)
def ac(first, A, x, B, C):
    n = B.shape[0]
    for r in range(A.shape[0]):
        for k in range(first + r, n):
            A[r] += x * B[k] * C[k - first - r]


@njit(nogil=True)
def half_transformed(row, V, first):
    n = V.shape[0]
    half = np.zeros((n, n))
    for p in range(n):
        for q in range(p):
            for i in range(first, n):
                half[q, i] += row[p * (p + 1) // 2 + q] * V[p, i]
            for i in range(first, n):
                half[p, i] += row[p * (p + 1) // 2 + q] * V[q, i]
        for i in range(first, n):
            half[p, i] += row[p * (p + 1) // 2 + p] * V[p, i]
    return half


@njit(nogil=True)
def row_of(pair):
    i = 0
    while (i + 1) * (i + 2) // 2 <= pair:
        i += 1
    return i


@njit(nogil=True)
def trfd(first, A, V, triangular):
    n = V.shape[0]
    for r in range(A.shape[0]):
        start = row_of(first + r) if triangular else 0
        half = half_transformed(A[r], V, start)
        for i in range(start, n):
            for j in range(i + 1):
                total = 0.0
                for q in range(n):
                    total += half[q, i] * V[q, j]
                A[r, i * (i + 1) // 2 + j] = total


@njit(nogil=True)
def pairwise(first, D, X):
    for r in range(D.shape[0]):
        for j in range(X.shape[0]):
            total = 0.0
            for k in range(X.shape[1]):
                total += (X[first + r, k] - X[j, k]) * (X[first + r, k] - X[j, k])
            D[r, j] = math.sqrt(total)


@njit(nogil=True)
def mandelbrot(first, counts, limit, n, every):
    """Row r is row first + r * every of the picture."""
    m = counts.shape[1]
    for r in range(counts.shape[0]):
        for j in range(m):
            a = 3.0 * j / m - 2.0
            b = 3.0 * (first + r * every) / n - 1.5
            x = 0.0
            y = 0.0
            steps = 0
            while steps < limit and x * x + y * y <= 4.0:
                further = x * x - y * y + a
                y = 2.0 * x * y + b
                x = further
                steps += 1
            counts[r, j] = steps


@njit(nogil=True)
def heat2d(first, u, v):
    """All rows but the outermost two."""
    for i in range(1, u.shape[0] - 1):
        for j in range(1, u.shape[1] - 1):
            around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
            v[i, j] = u[i, j] + 0.24 * (around - 4.0 * u[i, j])


@njit(nogil=True)
def nbody(first, force, x, mass):
    for r in range(force.shape[0]):
        i = first + r
        fx = 0.0
        fy = 0.0
        fz = 0.0
        for j in range(x.shape[0]):
            dx = x[j, 0] - x[i, 0]
            dy = x[j, 1] - x[i, 1]
            dz = x[j, 2] - x[i, 2]
            d2 = dx * dx + dy * dy + dz * dz + 1e-3
            w = mass[j] / (d2 * math.sqrt(d2))
            fx += w * dx
            fy += w * dy
            fz += w * dz
        force[r, 0] = fx
        force[r, 1] = fy
        force[r, 2] = fz


@njit(nogil=True)
def moved(x, v, force):
    for i in range(x.shape[0]):
        for c in range(3):
            v[i, c] += 1e-4 * force[i, c]
            x[i, c] += 1e-4 * v[i, c]


@njit(nogil=True)
def jacobi(first, new, A, b, x):
    for r in range(A.shape[0]):
        others = 0.0
        for j in range(A.shape[1]):
            if j != first + r:
                others += A[r, j] * x[j]
        new[r] = (b[r] - others) / A[r, first + r]


@njit(nogil=True)
def conv2d(first, out, image, K):
    """Row r of ``out`` needs the rows from r on of ``image``."""
    k = K.shape[0]
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            for p in range(k):
                for q in range(k):
                    out[i, j] += image[i + p, j + q] * K[p, q]


@njit(nogil=True)
def floyd_warshall(first, path, k, row):
    for i in range(path.shape[0]):
        for j in range(path.shape[1]):
            path[i, j] = min(path[i, j], path[i, k] + row[j])


PARTS = {
    part.__name__: part
    for part in (mxm, ac, trfd, pairwise, mandelbrot, heat2d, nbody, jacobi, conv2d, floyd_warshall)
}
