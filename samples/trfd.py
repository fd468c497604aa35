"""TRFD: the two-electron integral transformation of the Perfect Club, on fourth-order pixel moments.

The array has one entry (pq|rs) for each pair of pairs p >= q, r >= s out of n: here the sum over all
handwritten digits of scikit-learn of pixel p * pixel q * pixel r * pixel s, for the n pixels that vary
most. It has the symmetries of two-electron integrals and is brought to another basis, of n Walsh
functions, in two passes over the columns of the one array A, with a transpose between them:

    L1, column rs: (pq|rs) -> (ij|rs)   uniform, n^3 + 3n^2 + n operations
    L2, column ij: (rs|ij) -> (kl|ij)   triangular, about n^3 + (3 - r/2)n^2 + (2 - r - r^2/2)n + (r - r^2)/2,
                                        r being the row of the pair ij, counted from 1

L2 leaves out the (kl|ij) with k < i: (ij|kl) is the same number. All intermediate values are whole
numbers below 2^53, so the result is exact, and is compared with the moments of transformed pixels.

    python samples/trfd.py [N]      N pixels (at most 64), columns of N(N+1)/2 elements
"""

import math
import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits


def row_of(pair):
    """The row i of the pair number i * (i + 1) / 2 + j, where j <= i."""
    return (math.isqrt(8 * pair + 1) - 1) // 2


def half_transformed(column, V, first):
    """One index of a packed symmetric matrix to the new basis, new indices from `first` on."""
    n = len(V)
    half = np.zeros((n, n - first))
    pq = 0
    for p in range(n):
        for q in range(p):
            half[q] += column[pq] * V[p, first:]
            half[p] += column[pq] * V[q, first:]
            pq += 1
        half[p] += column[pq] * V[p, first:]
        pq += 1
    return half


def transformed(column, V, first):
    """Both indices: the packed elements of the rows from `first` on."""
    n = len(V)
    half = half_transformed(column, V, first)
    packed = []
    for i in range(first, n):
        row = np.zeros(i + 1)
        for q in range(n):
            row += half[q, i - first] * V[q, : i + 1]
        packed.append(row)
    return np.concatenate(packed)


def transform_integrals(A, V):
    """The lower triangle of the transformed array; A has n(n+1)/2 rows and columns."""
    pairs = len(A)
    # dlb: parallel, BLOCK(A, axis=1), WHOLE(V)
    for rs in range(pairs):
        A[:, rs] = transformed(A[:, rs], V, 0)
    A = A.T.copy()
    # dlb: parallel, BLOCK(A, axis=1), WHOLE(V)
    for ij in range(pairs):
        i = row_of(ij)
        A[i * (i + 1) // 2 :, ij] = transformed(A[:, ij], V, i)
    return A


def moments(samples):
    """All fourth-order moments, (pq|rs) in packed form; whole numbers, so exact in any order."""
    n = samples.shape[1]
    products = np.stack([samples[:, p] * samples[:, q] for p in range(n) for q in range(p + 1)], axis=1)
    return products.T @ products


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 24
    digits = load_digits().data
    count = len(digits)
    whole = digits.astype(np.int64)
    spread = count * (whole * whole).sum(axis=0) - whole.sum(axis=0) ** 2
    pixels = digits[:, np.sort(np.argsort(-spread, kind="stable")[:n])]
    V = np.array([[(-1.0) ** (p & i).bit_count() for i in range(n)] for p in range(n)])

    A = np.tril(transform_integrals(moments(pixels), V))

    direct = np.tril(moments(pixels @ V))
    print(f"n = {n}: {len(A)} columns of {len(A)} elements")
    print(f"(00|00) = {int(A[0, 0])}, trace = {sum(int(e) for e in A.diagonal())}")
    print(f"equal to the moments of the transformed pixels: {np.array_equal(A, direct)}")
    print(f"crc32 of the lower triangle: {zlib.crc32((A + 0.0).tobytes()):08x}")


if __name__ == "__main__":
    main()
