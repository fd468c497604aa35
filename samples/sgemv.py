"""The matrix-vector product sgemv of the BLAS, y := alpha A x + beta y, in a walk among handwritten digits.

Someone walks from digit to digit (scikit-learn's 8x8 images). From digit j the next is i with probability
A[i, j], in proportion to 1 / d^4, d being the distance of the two images; and 15 times of 100 it is just any
digit. Where the walk is after one step more is one product: x and y are the chances of being at each digit,

    y := 0.85 A x + 0.15 y      y holding the chance of any digit beforehand

Where it comes most often are the digits that many others look like. A is dense, in single precision.

Cost: every row of A costs the same, 2n operations. M rows on P equal processors take as long as ceil(M / P)
rows do: more than M / 2 processors gain nothing until there are M (Ciegis et al., section 2). On processors
that differ, say how fast they are: each gets rows in proportion, and those left over go where they are done
first; here 13, 20, 35 and 62 (a matrix as small as this one is shared only by a strategy that is named):

    dlbc run -n 4 --strategy none --weights 0.129,0.202,0.349,0.620 samples/sgemv.py 130

    python samples/sgemv.py [N [STEPS]]      N digits (2 to 1797, default 400), STEPS products (default 20)
"""

import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits


def sgemv(alpha, A, x, beta, y):
    """y := alpha A x + beta y, row by row."""
    m, n = A.shape
    # dlb: parallel, BLOCK(A, y), WHOLE(x)
    for i in range(m):
        dot = np.float32(0)
        for j in range(n):
            dot += A[i, j] * x[j]
        y[i] = alpha * dot + beta * y[i]


def steps_between(pixels):
    """The chance of a step from digit j to digit i, at [i, j]: every column adds up to 1."""
    squares = (pixels * pixels).sum(axis=1)
    distances = squares[:, np.newaxis] + squares - 2 * (pixels @ pixels.T)  # whole numbers, exact
    np.fill_diagonal(distances, np.inf)  # nobody stays
    likeness = 1.0 / (distances * distances)
    return (likeness / likeness.sum(axis=0)).astype(np.float32)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    digits = load_digits()
    labels = digits.target[:n]
    n = len(labels)
    A = steps_between(digits.data[:n])
    alpha, beta = np.float32(0.85), np.float32(0.15)

    x = before = np.full(n, 1 / n, dtype=np.float32)
    for _ in range(steps):
        y = np.full(n, 1 / n, dtype=np.float32)
        sgemv(alpha, A, x, beta, y)
        x, before = y, x

    visited = sorted(range(n), key=lambda i: (-x[i], i))
    change = abs(x - before).max() * n
    print(f"{steps} products with a {n}x{n} matrix; the last changes {change:.6f} of the mean")
    for i in visited[:3]:
        print(f"digit {i}, a {labels[i]}: {x[i] * n:.3f} times the mean")
    print("by label: " + ", ".join(f"{k} {x[labels == k].mean() * n:.2f}" for k in np.unique(labels)))
    print(f"crc32 of x: {zlib.crc32(x.tobytes()):08x}")


if __name__ == "__main__":
    main()
