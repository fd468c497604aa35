"""The Jacobi iteration on a dense system of linear equations: unknown digits labelled by their likeness.

Handwritten digits (scikit-learn's 8x8 images) pull at each other with the force W[i, j] = 1 / d^8, d being
the distance of the two images. Every tenth digit says that it is a three (x = 1) or not (x = 0), with the
force h; the others are silent. At rest each digit is where the forces on it add up to nothing,

    (h[i] + sum of W[i, j]) x[i] - sum of W[i, j] x[j] = h[i] label[i]            that is, A x = b

A is symmetric and its diagonal dominates, so the iteration converges:

    new[i] = (b[i] - sum over j other than i of A[i, j] x[j]) / A[i, i]

A and b stay where they are from pass to pass; what travels is the vector x. The iteration ends when no
element changes by more than the tolerance.

Cost: every row of A costs the same, 2n operations.

    python samples/jacobi.py [N [TOLERANCE]]      N digits (2 to 1797, default 1200), TOLERANCE (default 1e-4)
"""

import sys
import zlib

import numpy as np
from sklearn.datasets import load_digits

THREE = 3
KNOWN = slice(None, None, 10)
HOLD = 10.0  # h of those that say what they are; 1 is the mean force on a digit
LIMIT = 500  # passes


def jacobi(A, b, tolerance):
    """The solution of A x = b, and the passes that it took."""
    n = len(A)
    x, new = np.zeros(n), np.zeros(n)
    passes = 0
    # dlb: iterate
    while passes < LIMIT:
        passes += 1
        change = 0.0
        # dlb: parallel, BLOCK(A, b, new), WHOLE(x)
        for i in range(n):
            others = (A[i] * x).sum() - A[i, i] * x[i]
            new[i] = (b[i] - others) / A[i, i]
            change = max(change, abs(new[i] - x[i]))
        x, new = new, x
        if change <= tolerance:
            break
    return x, passes


def forces(pixels):
    """The forces between all images, in units of the mean force on one."""
    squares = (pixels * pixels).sum(axis=1)
    distances = squares[:, np.newaxis] + squares - 2 * (pixels @ pixels.T)  # whole numbers, exact
    np.fill_diagonal(distances, np.inf)  # nobody pulls at himself
    W = 1.0 / (distances * distances) ** 2
    return W * (len(W) / W.sum())


def system(pixels, labels):
    """The matrix and the right-hand side."""
    W = forces(pixels)
    h = np.zeros(len(W))
    h[KNOWN] = HOLD
    return np.diag(h + W.sum(axis=1)) - W, h * (labels == THREE)


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1200
    tolerance = float(sys.argv[2]) if len(sys.argv) > 2 else 1e-4
    digits = load_digits()
    labels = digits.target[:n]

    x, passes = jacobi(*system(digits.data[:n], labels), tolerance)

    silent = np.delete(np.arange(len(x)), KNOWN)
    threes = int((labels[silent] == THREE).sum())
    first = sorted(silent, key=lambda i: (-x[i], i))[:threes]
    found = int((labels[first] == THREE).sum())
    print(f"{len(x)} equations, {passes} passes until no element changes by more than {tolerance:g}")
    print(f"of the {threes} silent digits with the largest x, {found} are threes")
    print(f"crc32 of x: {zlib.crc32(x.tobytes()):08x}")


if __name__ == "__main__":
    main()
