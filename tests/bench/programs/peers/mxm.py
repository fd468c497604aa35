"""Matrix product, by the three loops of the definition."""

import sys

from peer import serve


def mxm(Z, X, Y):
    n, r = X.shape
    m = Y.shape[1]
    # dlb: parallel, BLOCK(Z, X), WHOLE(Y), jit
    for i in range(n):
        for j in range(m):
            for k in range(r):
                Z[i, j] += X[i, k] * Y[k, j]
    return Z


if __name__ == "__main__":
    serve(mxm, "mxm", tuple(int(word) for word in sys.argv[1:]))
