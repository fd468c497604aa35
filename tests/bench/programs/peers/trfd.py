"""TRFD: the two-electron integral transformation, a uniform pass over the rows, then a triangular one."""

import sys

import numpy as np
from peer import serve


def trfd(A, V):
    pairs, n = A.shape[0], V.shape[0]
    # dlb: parallel, BLOCK(A), WHOLE(V), jit
    for rs in range(pairs):
        half = np.zeros((n, n))
        for p in range(n):
            for q in range(p):
                for i in range(n):
                    half[q, i] += A[rs, p * (p + 1) // 2 + q] * V[p, i]
                for i in range(n):
                    half[p, i] += A[rs, p * (p + 1) // 2 + q] * V[q, i]
            for i in range(n):
                half[p, i] += A[rs, p * (p + 1) // 2 + p] * V[p, i]
        for i in range(n):
            for j in range(i + 1):
                total = 0.0
                for q in range(n):
                    total += half[q, i] * V[q, j]
                A[rs, i * (i + 1) // 2 + j] = total
    B = np.ascontiguousarray(A.T)
    # dlb: parallel, BLOCK(B), WHOLE(V), jit
    for ij in range(pairs):
        first = 0
        while (first + 1) * (first + 2) // 2 <= ij:
            first += 1
        half = np.zeros((n, n))
        for p in range(n):
            for q in range(p):
                for k in range(first, n):
                    half[q, k] += B[ij, p * (p + 1) // 2 + q] * V[p, k]
                for k in range(first, n):
                    half[p, k] += B[ij, p * (p + 1) // 2 + q] * V[q, k]
            for k in range(first, n):
                half[p, k] += B[ij, p * (p + 1) // 2 + p] * V[p, k]
        for k in range(first, n):
            for j in range(k + 1):
                total = 0.0
                for q in range(n):
                    total += half[q, k] * V[q, j]
                B[ij, k * (k + 1) // 2 + j] = total
    return B


if __name__ == "__main__":
    serve(trfd, "trfd", tuple(int(word) for word in sys.argv[1:]))
