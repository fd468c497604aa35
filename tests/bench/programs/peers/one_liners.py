"""Contenders by the call that a user of numpy or scipy would write; most sum in another order: other bits.

python one_liners.py library WORKLOAD SIZES...
"""

import numpy as np
from peer import arguments, serve
from scipy.ndimage import convolve
from scipy.signal import correlate
from scipy.sparse.csgraph import floyd_warshall as shortest
from scipy.spatial.distance import cdist


def mxm(Z, X, Y):
    return np.matmul(X, Y, out=Z)


def ac(A, x, B, C):
    return x * correlate(B, C)[len(A) - 1 :]


def pairwise(D, X):
    return cdist(X, X)


def heat2d(u, v, steps):
    for _ in range(steps):
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.24 * (around - 4.0 * u[1:-1, 1:-1])
        u, v = v, u
    return u


def nbody(x, v, mass, force, steps):
    for _ in range(steps):
        d = x[np.newaxis] - x[:, np.newaxis]
        d2 = (d * d).sum(axis=2) + 1e-3
        force = np.einsum("ij,ijc->ic", mass / (d2 * np.sqrt(d2)), d)
        v += 1e-4 * force
        x += 1e-4 * v
    return x


def jacobi(A, b, x, new, passes):
    diagonal = A.diagonal().copy()
    for _ in range(passes):
        x = (b - (A @ x - diagonal * x)) / diagonal
    return x


def conv2d(out, image, K):
    k = len(K)
    whole = convolve(image, K[::-1, ::-1], mode="constant", origin=(-(k % 2 == 0),) * 2)
    return whole[k // 2 : k // 2 + len(out), k // 2 : k // 2 + len(out)]


def floyd_warshall(path):
    return shortest(path)


LIBRARY = {call.__name__: call for call in (mxm, ac, pairwise, heat2d, nbody, jacobi, conv2d, floyd_warshall)}


def main():
    _, name, sizes = arguments()
    serve(LIBRARY[name], name, sizes)


if __name__ == "__main__":
    main()
