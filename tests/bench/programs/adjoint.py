"""AC (Zaki, Li, Parthasarathy, figure 1.5): adjoint convolution, a triangle, folded; nothing moves.

Of the sum over j = i .. N*N - 1 the first and the last term are computed; the time of all of them is paced.

    python adjoint.py N SECONDS      N*N iterations, SECONDS for each term
"""

import hashlib

import numpy as np
from pacing import arguments, begin_load, clock, spend


def convolve(A, B, C, x, seconds):
    size = len(B)
    # dlb: parallel, BLOCK(A), WHOLE(B, C), fold, cost(size - i)
    for i in range(size):
        began = clock()
        A[i] = x * (B[i] * C[0] + B[size - 1] * C[size - 1 - i])
        spend(began, (size - i) * seconds)


def main(sizes, seconds):
    n = sizes[0]
    B = np.arange(n * n, dtype=float) % 211 / 3
    C = np.arange(n * n, dtype=float) % 307 / 7
    A = np.zeros(n * n)
    begin_load()
    convolve(A, B, C, 1.0 / (n * n), seconds[0])
    print(hashlib.sha256(A.tobytes()).hexdigest())


if __name__ == "__main__":
    main(*arguments())
