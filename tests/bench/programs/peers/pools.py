"""Contenders that send blocks of rows to a pool of processes, which computes them by numba as written.

    python pools.py joblib | joblib_threads | multiprocessing | dask | ray WORKLOAD SIZES...
    mpiexec -n P+1 python -m mpi4py.futures pools.py futures WORKLOAD SIZES...

The pool is started before the first computation and holds for all. Arrays that every block needs are passed
once where the pool has a way for it. Blocks are as many as workers, or eight times that where work varies.
"""

import contextlib
import os

import numpy as np
import rows
from parts import moved
from peer import arguments, serve

WORKERS = int(os.environ.get("PEER_WORKERS", "2"))


def blocks(n, each=1):
    """The bounds of the blocks of n rows, so many for each worker."""
    count = WORKERS * each
    return [(b * n // count, (b + 1) * n // count) for b in range(count)]


def mxm(run, Z, X, Y):
    return np.concatenate(run(rows.mxm, [(low, X[low:high]) for low, high in blocks(len(X))], (Y,)), out=Z)


def ac(run, A, x, B, C):
    return np.concatenate(run(rows.ac, blocks(len(A), 8), (x, B, C)), out=A)


def trfd(run, A, V):
    pairs = len(A)
    first = run(rows.trfd, [(low, A[low:high]) for low, high in blocks(pairs)], (V, False))
    B = np.ascontiguousarray(np.concatenate(first).T)
    return np.concatenate(run(rows.trfd, [(low, B[low:high]) for low, high in blocks(pairs, 8)], (V, True)))


def pairwise(run, D, X):
    return np.concatenate(run(rows.pairwise, blocks(len(X)), (X,)), out=D)


def mandelbrot(run, counts, limit):
    return np.concatenate(run(rows.mandelbrot, blocks(len(counts), 8), (limit, len(counts))), out=counts)


def heat2d(run, u, v, steps):
    inner = blocks(len(u) - 2)
    for _ in range(steps):
        np.concatenate(run(rows.heat2d, [(u[low : high + 2],) for low, high in inner], ()), out=v[1:-1])
        u, v = v, u
    return u


def nbody(run, x, v, mass, force, steps):
    for _ in range(steps):
        np.concatenate(run(rows.nbody, blocks(len(x)), (x, mass)), out=force)
        moved(x, v, force)
    return x


def jacobi(run, A, b, x, new, passes):
    parts = blocks(len(b))
    for _ in range(passes):
        np.concatenate(run(rows.jacobi, [(i, A[i:j], b[i:j]) for i, j in parts], (x,)), out=new)
        x, new = new, x
    return x


def conv2d(run, out, image, K):
    k = len(K)
    parts = [(image[low : high + k - 1],) for low, high in blocks(len(out))]
    return np.concatenate(run(rows.conv2d, parts, (K,)), out=out)


def floyd_warshall(run, path):
    parts = blocks(len(path))
    for k in range(len(path)):
        row = path[k].copy()
        path = np.concatenate(run(rows.floyd_warshall, [(path[i:j],) for i, j in parts], (k, row)))
    return path


@contextlib.contextmanager
def joblib(prefer="processes"):
    from joblib import Parallel, delayed

    with Parallel(n_jobs=WORKERS, prefer=prefer) as pool:
        yield lambda part, own, shared: pool(delayed(part)(*each, *shared) for each in own)


@contextlib.contextmanager
def joblib_threads():
    with joblib("threads") as run:
        yield run


@contextlib.contextmanager
def multiprocessing():
    from multiprocessing import get_context

    with get_context("spawn").Pool(WORKERS) as pool:
        yield lambda part, own, shared: pool.starmap(part, [(*each, *shared) for each in own], chunksize=1)


@contextlib.contextmanager
def futures():
    from mpi4py.futures import MPIPoolExecutor

    with MPIPoolExecutor(WORKERS) as pool:
        pool.bootup()

        def run(part, own, shared):
            waiting = [pool.submit(part, *each, *shared) for each in own]
            return [each.result() for each in waiting]

        yield run


@contextlib.contextmanager
def dask():
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):

        def run(part, own, shared):
            there = client.scatter(list(shared), broadcast=True, hash=False) if shared else []
            sent = [client.scatter(list(each), hash=False) for each in own]
            return client.gather([client.submit(part, *each, *there, pure=False) for each in sent])

        yield run


@contextlib.contextmanager
def ray():
    import ray

    ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, configure_logging=False)
    remote = {}

    def run(part, own, shared):
        call = remote.setdefault(part, ray.remote(part))
        there = [ray.put(each) for each in shared]
        return ray.get([call.remote(*each, *there) for each in own])

    yield run
    ray.shutdown()


def main():
    contender, name, sizes = arguments()
    with globals()[contender]() as run:
        serve(lambda *values: globals()[name](run, *values), name, sizes)


if __name__ == "__main__":
    main()
