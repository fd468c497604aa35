"""Contenders by hand with mpi4py and numba: blocks of rows, scattered, computed on every rank, and gathered.

    mpiexec -n P python ranks.py as_written | by_hand WORKLOAD SIZES...

Triangular work is cut where the ranks' shares are equal, the rows of the Mandelbrot set are dealt in turn,
and steps exchange what their neighbours or all ranks need.
"""

import numpy as np
from by_hand import BY_HAND
from mpi4py import MPI
from parts import PARTS, moved
from peer import arguments, serve

comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def cuts(n, cost=None):
    """The bounds of the ranks' rows: equal numbers of them, or equal cost."""
    if cost is None:
        return [r * n // size for r in range(size + 1)]
    total = np.cumsum(cost)
    inner = np.searchsorted(total, total[-1] * np.arange(1, size) / size)
    return [0, *inner.tolist(), n]


def counts(bounds, width):
    """Elements of each rank, and where they begin."""
    low, high = np.array(bounds[:-1]), np.array(bounds[1:])
    return (high - low) * width, low * width


def scattered(rows, bounds, width):
    """This rank's rows: on rank 0 in place, elsewhere received."""
    if rank == 0:
        comm.Scatterv([rows, *counts(bounds, width), MPI.DOUBLE], MPI.IN_PLACE)
        return rows[: bounds[1]]
    own = np.empty((bounds[rank + 1] - bounds[rank], width) if width > 1 else bounds[rank + 1] - bounds[rank])
    comm.Scatterv(None, own)
    return own


def gathered(rows, own, bounds, width):
    """Brings the rows of all ranks to rank 0, whose own stand there."""
    if rank == 0:
        comm.Gatherv(MPI.IN_PLACE, [rows, *counts(bounds, width), MPI.DOUBLE])
    else:
        comm.Gatherv(own, None)
    return rows


def everywhere(array, shape):
    """An array of rank 0 on all ranks."""
    array = array if rank == 0 else np.empty(shape)
    comm.Bcast(array)
    return array


def mxm(part, n, values=(None,) * 3):
    Z, X, Y = values
    bounds = cuts(n)
    X = scattered(X, bounds, n)
    Y = everywhere(Y, (n, n))
    own = Z[: bounds[1]] if rank == 0 else np.zeros((len(X), n))
    part(bounds[rank], own, X, Y)
    return gathered(Z, own, bounds, n)


def ac(part, n, values=(None,) * 4):
    A, x, B, C = values
    bounds = cuts(n, np.arange(n, 0, -1.0))
    x = comm.bcast(x)
    B, C = everywhere(B, n), everywhere(C, n)
    own = A[: bounds[1]] if rank == 0 else np.zeros(bounds[rank + 1] - bounds[rank])
    part(bounds[rank], own, x, B, C)
    return gathered(A, own, bounds, 1)


def trfd(part, n, values=(None,) * 2):
    A, V = values
    pairs = n * (n + 1) // 2
    first = np.repeat(np.arange(n), np.arange(1, n + 1))
    rest = n - first
    bounds, after = cuts(pairs), cuts(pairs, rest * (n * n + n * (n + first) / 2.0))
    A = scattered(A, bounds, pairs)
    V = everywhere(V, (n, n))
    part(bounds[rank], A, V, False)
    pieces = [np.ascontiguousarray(A[:, after[r] : after[r + 1]].T) for r in range(size)]
    own = np.empty((after[rank + 1] - after[rank], pairs))
    B = np.empty((pairs, pairs)) if rank == 0 else None
    if rank == 0:
        own = B[: after[1]]
    for other in range(size):
        columns = slice(bounds[other], bounds[other + 1])
        if other == rank:
            own[:, columns] = pieces[rank]
        else:
            received = np.empty((len(own), bounds[other + 1] - bounds[other]))
            comm.Sendrecv(pieces[other], other, recvbuf=received, source=other)
            own[:, columns] = received
    part(after[rank], own, V, True)
    return gathered(B, own, after, pairs)


def pairwise(part, n, dimensions, values=(None,) * 2):
    D, X = values
    bounds = cuts(n)
    X = everywhere(X, (n, dimensions))
    own = D[: bounds[1]] if rank == 0 else np.empty((bounds[rank + 1] - bounds[rank], n))
    part(bounds[rank], own, X)
    return gathered(D, own, bounds, n)


def mandelbrot(part, n, limit, values=(None,) * 2):
    result = values[0]
    own = np.empty((len(range(rank, n, size)), n), dtype=np.int64)
    part(rank, own, limit, n, size)
    if rank:
        comm.Send(own, 0)
        return None
    result[::size] = own
    for other in range(1, size):
        rows = np.empty((len(range(other, n, size)), n), dtype=np.int64)
        comm.Recv(rows, other)
        result[other::size] = rows
    return result


def heat2d(part, n, steps, values=(None,) * 3):
    bounds = cuts(n - 2)
    low, high = bounds[rank], bounds[rank + 1] + 2
    if rank == 0:
        u, v = values[0][:high], values[1][:high]
        for other in range(1, size):
            comm.Send(values[0][bounds[other] : bounds[other + 1] + 2], other)
    else:
        u = np.empty((high - low, n))
        comm.Recv(u, 0)
        v = u.copy()
    above, below = (
        rank - 1 if rank else MPI.PROC_NULL,
        rank + 1 if rank + 1 < size else MPI.PROC_NULL,
    )
    for _ in range(steps):
        part(low, u, v)
        comm.Sendrecv(v[1], above, recvbuf=v[-1], source=below)
        comm.Sendrecv(v[-2], below, recvbuf=v[0], source=above)
        u, v = v, u
    if rank:
        comm.Send(u[1:-1], 0)
        return None
    result = values[steps % 2]
    for other in range(1, size):
        comm.Recv(result[bounds[other] + 1 : bounds[other + 1] + 1], other)
    return result


def nbody(part, n, steps, values=(None,) * 5):
    x, v, mass, _, _ = values
    bounds = cuts(n)
    low, high = bounds[rank], bounds[rank + 1]
    x, mass = everywhere(x, (n, 3)), everywhere(mass, n)
    v = v[low:high] if rank == 0 else np.zeros((high - low, 3))
    force = np.empty((high - low, 3))
    for _ in range(steps):
        part(low, force, x, mass)
        moved(x[low:high], v, force)
        comm.Allgatherv(MPI.IN_PLACE, [x, *counts(bounds, 3), MPI.DOUBLE])
    return x


def jacobi(part, n, passes, values=(None,) * 5):
    A, b, x, new, _ = values
    bounds = cuts(n)
    A, b = scattered(A, bounds, n), scattered(b, bounds, 1)
    x = everywhere(x, n)
    new = np.empty(n) if new is None else new
    for _ in range(passes):
        part(bounds[rank], new[bounds[rank] : bounds[rank + 1]], A, b, x)
        comm.Allgatherv(MPI.IN_PLACE, [new, *counts(bounds, 1), MPI.DOUBLE])
        x, new = new, x
    return x


def conv2d(part, n, k, values=(None,) * 3):
    out, image, K = values
    m = n - k + 1
    bounds = cuts(m)
    low, high = bounds[rank], bounds[rank + 1]
    K = everywhere(K, (k, k))
    if rank == 0:
        own = out[:high]
        for other in range(1, size):
            comm.Send(image[bounds[other] : bounds[other + 1] + k - 1], other)
    else:
        own, image = np.zeros((high - low, m)), np.empty((high - low + k - 1, n))
        comm.Recv(image, 0)
    part(low, own, image[: len(own) + k - 1], K)
    return gathered(out, own, bounds, m)


def floyd_warshall(part, n, values=(None,)):
    bounds = cuts(n)
    low = bounds[rank]
    own = scattered(values[0], bounds, n)
    row = np.empty(n)
    owner = 0
    for k in range(n):
        while k >= bounds[owner + 1]:
            owner += 1
        if owner == rank:
            row[:] = own[k - low]
        comm.Bcast(row, owner)
        part(low, own, k, row)
    return gathered(values[0], own, bounds, n)


def main():
    contender, name, sizes = arguments()
    part = (BY_HAND if contender == "by_hand" else PARTS)[name]
    computed = globals()[name]

    def solve(*values):
        comm.bcast(True)
        return computed(part, *sizes, values)

    if rank == 0:
        serve(solve, name, sizes)
        comm.bcast(False)
    else:
        while comm.bcast(None):
            computed(part, *sizes)


if __name__ == "__main__":
    main()
