"""The same, restructured by hand: loops over independent elements stand innermost, sums are unrolled.

Every element loses and gains in the order as written, so the bits are the same. What cannot be bettered this
way stands in `parts` alone.
"""

import numpy as np
from numba import njit
from parts import PARTS, row_of

__all__ = ["BY_HAND"]

STRIP = 512


@njit(nogil=True)
def mxm(first, Z, X, Y):
    r = X.shape[1]
    for i in range(Z.shape[0]):
        for k in range(0, r - 3, 4):
            x0, x1, x2, x3 = X[i, k], X[i, k + 1], X[i, k + 2], X[i, k + 3]
            for j in range(Z.shape[1]):
                z = Z[i, j] + x0 * Y[k, j] + x1 * Y[k + 1, j]
                Z[i, j] = z + x2 * Y[k + 2, j] + x3 * Y[k + 3, j]
        for k in range(r - r % 4, r):
            for j in range(Z.shape[1]):
                Z[i, j] += X[i, k] * Y[k, j]


@njit(nogil=True)
def ac(first, A, x, B, C):
    """A strip of iterations side by side, the last one first, so that C is read upwards."""
    n = B.shape[0]
    sums = np.empty(STRIP)
    for low in range(0, A.shape[0], STRIP):
        width = min(STRIP, A.shape[0] - low)
        start = first + low
        for t in range(width):
            sums[t] = A[low + width - 1 - t]
        for k in range(start, min(start + width - 1, n)):
            for t in range(width - 1 - (k - start), width):
                sums[t] += x * B[k] * C[k - start - width + 1 + t]
        ac_strip(sums, start + width - 1, width, x, B, C)
        for t in range(width):
            A[low + width - 1 - t] = sums[t]


@njit(nogil=True)
def ac_strip(sums, last, width, x, B, C):
    """The k from the strip's last iteration on, in which all take part; eight at a time, in order."""
    n = B.shape[0]
    whole = last + (n - last) // 8 * 8
    for k in range(last, whole, 8):
        b0, b1, b2, b3 = x * B[k], x * B[k + 1], x * B[k + 2], x * B[k + 3]
        b4, b5, b6, b7 = x * B[k + 4], x * B[k + 5], x * B[k + 6], x * B[k + 7]
        c = C[k - last :]
        for t in range(width):
            s = sums[t] + b0 * c[t] + b1 * c[t + 1] + b2 * c[t + 2] + b3 * c[t + 3]
            sums[t] = s + b4 * c[t + 4] + b5 * c[t + 5] + b6 * c[t + 6] + b7 * c[t + 7]
    for k in range(whole, n):
        for t in range(width):
            sums[t] += x * B[k] * C[k - last + t]


@njit(nogil=True)
def unpacked(row, S):
    for p in range(S.shape[0]):
        for q in range(p + 1):
            S[p, q] = S[q, p] = row[p * (p + 1) // 2 + q]


@njit(nogil=True)
def added(out, low, high, factors, V):
    """To the elements from ``low`` to ``high`` of ``out`` all rows of V, each times a factor, in order."""
    n = V.shape[0]
    for q in range(0, n - 3, 4):
        f0, f1, f2, f3 = factors[q], factors[q + 1], factors[q + 2], factors[q + 3]
        for i in range(low, high):
            s = out[i] + f0 * V[q, i] + f1 * V[q + 1, i]
            out[i] = s + f2 * V[q + 2, i] + f3 * V[q + 3, i]
    for q in range(n - n % 4, n):
        for i in range(low, high):
            out[i] += factors[q] * V[q, i]


@njit(nogil=True)
def trfd(first, A, V, triangular):
    """Both halves as products of matrices: the packed row's symmetric one, in the order of its rows."""
    n = V.shape[0]
    S, half, totals, column = np.empty((n, n)), np.empty((n, n)), np.empty(n), np.empty(n)
    for r in range(A.shape[0]):
        start = row_of(first + r) if triangular else 0
        unpacked(A[r], S)
        half[:, start:] = 0.0
        for p in range(n):
            added(half[p], start, n, S[p], V)
        for i in range(start, n):
            totals[: i + 1] = 0.0
            column[:] = half[:, i]
            added(totals, 0, i + 1, column, V)
            A[r, i * (i + 1) // 2 : (i + 1) * (i + 2) // 2] = totals[: i + 1]


@njit(nogil=True)
def pairwise(first, D, X):
    n, dimensions = X.shape
    T = np.ascontiguousarray(X.T)
    whole = dimensions - dimensions % 4
    for r in range(D.shape[0]):
        for j in range(n):
            D[r, j] = 0.0
        for k in range(0, whole, 4):
            x0, x1, x2, x3 = T[k, first + r], T[k + 1, first + r], T[k + 2, first + r], T[k + 3, first + r]
            for j in range(n):
                d0, d1, d2, d3 = x0 - T[k, j], x1 - T[k + 1, j], x2 - T[k + 2, j], x3 - T[k + 3, j]
                D[r, j] = D[r, j] + d0 * d0 + d1 * d1 + d2 * d2 + d3 * d3
        for k in range(whole, dimensions):
            for j in range(n):
                D[r, j] += (T[k, first + r] - T[k, j]) * (T[k, first + r] - T[k, j])
        for j in range(n):
            D[r, j] = np.sqrt(D[r, j])


@njit(nogil=True, error_model="numpy")
def nbody(first, force, x, mass):
    """A strip of bodies side by side; no distance is zero, which numpy's model takes for granted."""
    T = np.ascontiguousarray(x.T)
    width = 128
    fx, fy, fz = np.empty(width), np.empty(width), np.empty(width)
    for low in range(0, force.shape[0], width):
        count = min(width, force.shape[0] - low)
        own = T[:, first + low : first + low + count].copy()
        fx[:], fy[:], fz[:] = 0.0, 0.0, 0.0
        for j in range(x.shape[0]):
            xj, yj, zj, mj = T[0, j], T[1, j], T[2, j], mass[j]
            for t in range(count):
                dx, dy, dz = xj - own[0, t], yj - own[1, t], zj - own[2, t]
                d2 = dx * dx + dy * dy + dz * dz + 1e-3
                w = mj / (d2 * np.sqrt(d2))
                fx[t] += w * dx
                fy[t] += w * dy
                fz[t] += w * dz
        for t in range(count):
            force[low + t, 0], force[low + t, 1], force[low + t, 2] = fx[t], fy[t], fz[t]


@njit(nogil=True)
def row_sum(row, x, i):
    total = 0.0
    for j in range(i):
        total += row[j] * x[j]
    for j in range(i + 1, row.shape[0]):
        total += row[j] * x[j]
    return total


@njit(nogil=True)
def jacobi(first, new, A, b, x):
    """Four rows side by side, the square on the diagonal apart."""
    whole = A.shape[0] - A.shape[0] % 4
    for r in range(0, whole, 4):
        s0 = s1 = s2 = s3 = 0.0
        i = first + r
        for j in range(i):
            s0, s1 = s0 + A[r, j] * x[j], s1 + A[r + 1, j] * x[j]
            s2, s3 = s2 + A[r + 2, j] * x[j], s3 + A[r + 3, j] * x[j]
        for j in range(i, i + 4):
            s0 = s0 + A[r, j] * x[j] if j != i else s0
            s1 = s1 + A[r + 1, j] * x[j] if j != i + 1 else s1
            s2 = s2 + A[r + 2, j] * x[j] if j != i + 2 else s2
            s3 = s3 + A[r + 3, j] * x[j] if j != i + 3 else s3
        for j in range(i + 4, A.shape[1]):
            s0, s1 = s0 + A[r, j] * x[j], s1 + A[r + 1, j] * x[j]
            s2, s3 = s2 + A[r + 2, j] * x[j], s3 + A[r + 3, j] * x[j]
        new[r], new[r + 1] = (b[r] - s0) / A[r, i], (b[r + 1] - s1) / A[r + 1, i + 1]
        new[r + 2], new[r + 3] = (b[r + 2] - s2) / A[r + 2, i + 2], (b[r + 3] - s3) / A[r + 3, i + 3]
    for r in range(whole, A.shape[0]):
        new[r] = (b[r] - row_sum(A[r], x, first + r)) / A[r, first + r]


@njit(nogil=True)
def conv2d(first, out, image, K):
    k = K.shape[0]
    m = out.shape[1]
    for i in range(out.shape[0]):
        row = out[i]
        for p in range(k):
            pixels = image[i + p]
            for q in range(0, k - 3, 4):
                k0, k1, k2, k3 = K[p, q], K[p, q + 1], K[p, q + 2], K[p, q + 3]
                for j in range(m):
                    s = row[j] + pixels[j + q] * k0 + pixels[j + q + 1] * k1
                    row[j] = s + pixels[j + q + 2] * k2 + pixels[j + q + 3] * k3
            for q in range(k - k % 4, k):
                for j in range(m):
                    row[j] += pixels[j + q] * K[p, q]


@njit(nogil=True)
def floyd_warshall(first, path, k, row):
    """Element k of a row stays as it is in step k, since path[k, k] is 0."""
    for i in range(path.shape[0]):
        there = path[i, k]
        for j in range(path.shape[1]):
            further = there + row[j]
            path[i, j] = further if further < path[i, j] else path[i, j]


RESTRUCTURED = (mxm, ac, trfd, pairwise, nbody, jacobi, conv2d, floyd_warshall)
BY_HAND = PARTS | {part.__name__: part for part in RESTRUCTURED}
