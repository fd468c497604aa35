"""What a pool's process computes: blocks of rows by `parts`, returned as arrays of their own."""

import numpy as np
from parts import PARTS


def mxm(first, X, Y):
    Z = np.zeros((len(X), Y.shape[1]))
    PARTS["mxm"](first, Z, X, Y)
    return Z


def ac(first, last, x, B, C):
    A = np.zeros(last - first)
    PARTS["ac"](first, A, x, B, C)
    return A


def trfd(first, A, V, triangular):
    A = np.array(A)
    PARTS["trfd"](first, A, V, triangular)
    return A


def pairwise(first, last, X):
    D = np.empty((last - first, len(X)))
    PARTS["pairwise"](first, D, X)
    return D


def mandelbrot(first, last, limit, n):
    counts = np.empty((last - first, n), dtype=np.int64)
    PARTS["mandelbrot"](first, counts, limit, n, 1)
    return counts


def heat2d(u):
    v = u.copy()
    PARTS["heat2d"](0, u, v)
    return v[1:-1]


def nbody(first, last, x, mass):
    force = np.empty((last - first, 3))
    PARTS["nbody"](first, force, x, mass)
    return force


def jacobi(first, A, b, x):
    new = np.empty(len(b))
    PARTS["jacobi"](first, new, A, b, x)
    return new


def conv2d(image, K):
    k = len(K)
    out = np.zeros((len(image) - k + 1, image.shape[1] - k + 1))
    PARTS["conv2d"](0, out, image, K)
    return out


def floyd_warshall(path, k, row):
    path = np.array(path)
    PARTS["floyd_warshall"](0, path, k, row)
    return path
