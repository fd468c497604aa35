"""Parts of arrays in compiled bodies: bounds of all kinds, lengths that differ, arrays of the iteration."""

import numpy as np

n = 12
A = np.arange(float(n * n)).reshape(n, n) / 7
Z = np.zeros((n, n))
K = np.zeros((n, n), np.int64)
W = np.zeros((n, 3, n))
P = np.arange(n) % 4


def whole(x):
    # dlb: parallel, jit
    for i in range(n):
        Z[i, :] = 0.5
        Z[i, 2:5] += x
        Z[i, 1:-1] *= A[i, 1:-1]
        Z[i, :] -= A[i, :] / (x + 1) * 2
        Z[i, -3:] = Z[i, 0] * 3


def made(x):
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros(n)
        h = np.empty((3, n))
        h[:, :] = x
        h[1, :] = A[i, :]
        for k in range(4):
            t[:] = t + A[i, :] * k
            t[k:n] /= 2.0
        h[2] = t
        Z[i] = t
        Z[i, 1:n] += t[0 : n - 1] - -h[1, 1:]
        W[i] = h
        K[i, 0 : P[i]] = i + 2**33


def data(a, b):
    # dlb: parallel, jit
    for i in range(n):
        k = P[i]
        Z[i, k:b] += A[k, a : a + b - k]
        if k > 2:
            Z[i, k:] -= A[0, :-k]


def wrong(a, b, c):
    # dlb: parallel, jit
    for i in range(n):
        Z[i, a:b] += A[i, c:n]


def negative(a):
    # dlb: parallel, jit
    for i in range(n):
        Z[i, 1 : i - a] += 1


def shifted():
    # dlb: parallel, jit
    for i in range(n):
        Z[i, 1:] = Z[i, :-1] * 0.5


def integers(x):
    # dlb: parallel, jit
    for i in range(n):
        K[i, :] += x
        K[i, 1] = K[i, 0] * 2**61


def repeated():
    # dlb: parallel, jit
    for i in range(n):
        W[i, :, 2:4] = A[i, i % 3] + W[i, :, 2:4]
        W[i, 1:3, :] = A[0:2, :]
        W[i, 0, :] += A[:, 0]


def show():
    print(Z.tobytes().hex(), K.tolist(), W.sum(), flush=True)


def main():
    whole(1.5)
    show()
    whole(2)
    show()
    whole(np.float64(0.1))
    show()
    made(0.25)
    show()
    data(0, 8)
    show()
    data(1, 4)
    show()
    for args in ((2, n, 2), (3, n + 5, 3), (2, 4, 11), (0, 3, 2), (-3, n, 9)):
        Z[:] = 0
        try:
            wrong(*args)
        except ValueError as error:
            print(error)
        else:
            show()
    Z[:] = 0
    negative(3)
    show()
    shifted()
    show()
    repeated()
    show()
    integers(3)
    show()
    for bad in (0.5, np.arange(n)):
        try:
            integers(bad)
        except TypeError as error:
            print(str(error)[:30])
        else:
            show()


main()
