"""What every contender of tests/bench/peers.py does around its computation: values, sizes, time, answers.

A contender reads lines from standard input. For each it makes the values anew, computes, and answers with
one line of JSON: the seconds from arrays ready to results ready, and a digest. The first result is kept in
the file that ``PEER_OUT`` names, to be compared with that of other contenders.
"""

import hashlib
import json
import os
import sys
import time

import numpy as np

__all__ = ["INITIAL", "SIZES", "arguments", "serve"]


def mxm(n):
    rng = np.random.default_rng(1)
    return np.zeros((n, n)), rng.random((n, n)), rng.random((n, n))


def ac(n):
    rng = np.random.default_rng(2)
    return np.zeros(n), 1.0 / n, rng.random(n), rng.random(n)


def trfd(n):
    rng = np.random.default_rng(3)
    pairs = n * (n + 1) // 2
    return rng.random((pairs, pairs)), rng.random((n, n))


def pairwise(n, dimensions):
    return np.zeros((n, n)), np.random.default_rng(4).random((n, dimensions))


def mandelbrot(n, limit):
    return np.zeros((n, n), dtype=np.int64), limit


def heat2d(n, steps):
    u = np.random.default_rng(5).random((n, n))
    return u, u.copy(), steps


def nbody(n, steps):
    rng = np.random.default_rng(6)
    return rng.random((n, 3)), np.zeros((n, 3)), rng.random(n), np.zeros((n, 3)), steps


def jacobi(n, passes):
    rng = np.random.default_rng(7)
    return rng.random((n, n)) + n * np.eye(n), rng.random(n), np.zeros(n), np.zeros(n), passes


def conv2d(n, k):
    rng = np.random.default_rng(8)
    return np.zeros((n - k + 1, n - k + 1)), rng.random((n, n)), rng.random((k, k))


def floyd_warshall(n):
    path = np.random.default_rng(9).integers(1, 1000, (n, n)) + 0.0
    np.fill_diagonal(path, 0.0)
    return (path,)


WORKLOADS = (mxm, ac, trfd, pairwise, mandelbrot, heat2d, nbody, jacobi, conv2d, floyd_warshall)
INITIAL = {make.__name__: make for make in WORKLOADS}

#: Sizes for which numba's threads take some tenths of a second, and such that plain Python can do.
SIZES = {
    "mxm": ((700,), (24,)),
    "ac": ((40_000,), (300,)),
    "trfd": ((56,), (6,)),
    "pairwise": ((2400, 64), (24, 7)),
    "mandelbrot": ((1800, 200), (32, 20)),
    "heat2d": ((1500, 200), (20, 5)),
    "nbody": ((3200, 10), (25, 3)),
    "jacobi": ((1500, 200), (30, 5)),
    "conv2d": ((2800, 7), (20, 3)),
    "floyd_warshall": ((800,), (25,)),
}


def arguments():
    """Contender, workload and sizes from the command line."""
    return sys.argv[1], sys.argv[2], tuple(int(word) for word in sys.argv[3:])


def serve(solve, name, sizes):
    """Answers every line of standard input with a computation."""
    for line in sys.stdin:
        values = INITIAL[name](*sizes)
        start = time.perf_counter()
        result = solve(*values)
        seconds = time.perf_counter() - start
        if line.startswith("first") and "PEER_OUT" in os.environ:
            np.save(os.environ["PEER_OUT"], result)
        digest = hashlib.sha256(np.ascontiguousarray(result).tobytes()).hexdigest()
        print(json.dumps({"seconds": seconds, "digest": digest}), flush=True)
