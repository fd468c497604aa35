"""Jacobi's iteration on a dense system of linear equations."""

import sys

from peer import serve


def jacobi(A, b, x, after, passes):
    n = A.shape[0]
    # dlb: iterate
    for _ in range(passes):
        # dlb: parallel, BLOCK(A, b, after), WHOLE(x), jit
        for i in range(n):
            others = 0.0
            for j in range(n):
                if j != i:
                    others += A[i, j] * x[j]
            after[i] = (b[i] - others) / A[i, i]
        x, after = after, x
    return x


if __name__ == "__main__":
    serve(jacobi, "jacobi", tuple(int(word) for word in sys.argv[1:]))
