"""Adjoint convolution, a triangle of work."""

import sys

from peer import serve


def ac(A, x, B, C):
    n = A.shape[0]
    # dlb: parallel, BLOCK(A), WHOLE(B, C), jit
    for i in range(n):
        for k in range(i, n):
            A[i] += x * B[k] * C[k - i]
    return A


if __name__ == "__main__":
    serve(ac, "ac", tuple(int(word) for word in sys.argv[1:]))
