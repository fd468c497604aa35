"""Contenders of one process: numba on one thread and on several, as written and restructured by hand.

    python threads.py sequential | by_hand | prange | prange_tbb | prange_by_hand WORKLOAD SIZES...

`prange` is the text of the workload with its annotated loops over `prange`; `prange_tbb` deals them in
chunks, for a layer that steals them. Restructured, a thread takes every so many-th block of rows.
"""

import importlib
import re
import sys
import tempfile
from pathlib import Path

import numba
from by_hand import BY_HAND
from numba import njit, prange
from parts import moved
from peer import arguments, serve

_BLOCKS = 16  # for each thread


def text_with(name, loop, header):
    """The workload's function as text, its annotated loops beginning with ``loop`` instead of a comment."""
    text = Path(__file__).with_name(f"{name}.py").read_text(encoding="utf-8")
    body = text[text.index("def ") : text.index("if __name__")].rstrip() + "\n"
    body = re.sub(r" *# dlb: iterate\n", "", body)
    return header + re.sub(r"( *)# dlb: parallel.*\n( *for \w+ in )range", loop, body)


def by_prange(name, place):
    """The workload with its annotated loops over `prange`, compiled."""
    header = "import math\nimport numpy as np\nfrom numba import njit, prange\n\n@njit(parallel=True)\n"
    Path(place, f"prange_{name}.py").write_text(text_with(name, r"\2prange", header), encoding="utf-8")
    sys.path.insert(0, place)
    return getattr(importlib.import_module(f"prange_{name}"), name)


@njit
def bounds(block, blocks, n):
    return block * n // blocks, (block + 1) * n // blocks


def mxm(part, threads, blocks):
    @njit(parallel=True)
    def solve(Z, X, Y):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, Z.shape[0])
                part(low, Z[low:high], X[low:high], Y)
        return Z

    return solve


def ac(part, threads, blocks):
    @njit(parallel=True)
    def solve(A, x, B, C):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, A.shape[0])
                part(low, A[low:high], x, B, C)
        return A

    return solve


def trfd(part, threads, blocks):
    @njit(parallel=True)
    def rows(A, V, triangular):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, A.shape[0])
                part(low, A[low:high], V, triangular)

    def solve(A, V):
        rows(A, V, False)
        B = A.T.copy()
        rows(B, V, True)
        return B

    return solve


def pairwise(part, threads, blocks):
    @njit(parallel=True)
    def solve(D, X):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, D.shape[0])
                part(low, D[low:high], X)
        return D

    return solve


def mandelbrot(part, threads, blocks):
    @njit(parallel=True)
    def solve(counts, limit):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, counts.shape[0])
                part(low, counts[low:high], limit, counts.shape[0], 1)
        return counts

    return solve


def heat2d(part, threads, blocks):
    @njit(parallel=True)
    def solve(u, v, steps):
        for _ in range(steps):
            for t in prange(threads):
                low, high = bounds(t, threads, u.shape[0] - 2)
                part(low, u[low : high + 2], v[low : high + 2])
            u, v = v, u
        return u

    return solve


def nbody(part, threads, blocks):
    @njit(parallel=True)
    def solve(x, v, mass, force, steps):
        for _ in range(steps):
            for t in prange(threads):
                low, high = bounds(t, threads, x.shape[0])
                part(low, force[low:high], x, mass)
            moved(x, v, force)
        return x

    return solve


def jacobi(part, threads, blocks):
    @njit(parallel=True)
    def solve(A, b, x, new, passes):
        for _ in range(passes):
            for t in prange(threads):
                low, high = bounds(t, threads, x.shape[0])
                part(low, new[low:high], A[low:high], b[low:high], x)
            x, new = new, x
        return x

    return solve


def conv2d(part, threads, blocks):
    @njit(parallel=True)
    def solve(out, image, K):
        for t in prange(threads):
            for block in range(t, blocks, threads):
                low, high = bounds(block, blocks, out.shape[0])
                part(low, out[low:high], image[low : high + K.shape[0] - 1], K)
        return out

    return solve


def floyd_warshall(part, threads, blocks):
    @njit(parallel=True)
    def solve(path):
        for k in range(path.shape[0]):
            row = path[k].copy()
            for t in prange(threads):
                low, high = bounds(t, threads, path.shape[0])
                part(low, path[low:high], k, row)
        return path

    return solve


def solver(contender, name, place):
    """The function of the workload's values."""
    if contender == "sequential":
        return njit(getattr(importlib.import_module(name), name))
    if contender in ("by_hand", "prange_by_hand"):
        threads = numba.get_num_threads() if contender == "prange_by_hand" else 1
        return globals()[name](BY_HAND[name], threads, threads * _BLOCKS)
    if contender == "prange_tbb":
        numba.set_parallel_chunksize(8)
    return by_prange(name, place)


def main():
    contender, name, sizes = arguments()
    with tempfile.TemporaryDirectory() as place:
        serve(solver(contender, name, place), name, sizes)
    if contender.startswith("prange"):
        print(f"threading layer: {numba.threading_layer()}", file=sys.stderr)


if __name__ == "__main__":
    main()
