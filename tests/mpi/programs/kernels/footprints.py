"""Kernels as they are emitted, whose rows follow no line or that are gathered by elements.

Each loop is run twice, on all ranks and plainly, on equal data; a line says whether both left the same.
"""

import copy

import dlbrt
import numpy as np
from dlbrt import BLOCK, CYCLIC, WHOLE
from mpi4py import MPI

dlb = dlbrt.start(MPI.COMM_WORLD)
rng = np.random.default_rng(3)
n = 240


def busy(i):
    return sum(range(300 + (i * 7919) % 2000)) * 0 + i


def permutation(dlb, A, ix):
    dlb.arrays(A=BLOCK(0, "rw", rows=lambda i: ix[i], inspect=True))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[ix[i]] += busy(i)
        dlb.synchronize()
    dlb.gather()


def overwritten(dlb, A, ix):
    dlb.arrays(CYCLIC, A=CYCLIC(1, "w", rows=lambda i: ix[i], inspect=True))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[:, ix[i]] = busy(i)
        dlb.synchronize()
    dlb.gather()


def neighbours(dlb, A, ix):
    dlb.arrays(A=BLOCK(0, "rw", rows=lambda i: (ix[i], ix[i] - 1, 0), writes=lambda i: ix[i], inspect=True))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            A[ix[i]] += A[ix[i] - 1] * A[0] + busy(i)
        dlb.synchronize()
    dlb.gather()


def sparse(dlb, y, val, col, ptr, x):
    dlb.arrays(
        y=BLOCK(0, "w"),
        val=BLOCK(0, "r", rows=lambda i: slice(ptr[i], ptr[i + 1]), inspect=True),
        col=BLOCK(0, "r", rows=lambda i: slice(ptr[i], ptr[i + 1]), inspect=True),
        x=WHOLE("r"),
    )
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            y[i] = busy(i)
            for k in range(ptr[i], ptr[i + 1]):
                y[i] += val[k] * x[col[k]]
        dlb.synchronize()
    dlb.gather()


def sparse_by_rows(dlb, y, val, ptr):
    dlb.arrays(
        y=BLOCK(0, "w"),
        val=BLOCK(0, "rw", rows=lambda i: slice(ptr[i], ptr[i + 1]), inspect=True),
        ptr=BLOCK(0, "r", rows=lambda i: (i, i + 1)),
    )
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            y[i] = busy(i) + sum(val[ptr[i] : ptr[i + 1]])
            val[ptr[i] : ptr[i + 1]] = val[ptr[i] : ptr[i + 1]][::-1]
        dlb.synchronize()
    dlb.gather()


def triangle(dlb, x):
    dlb.arrays(x=BLOCK(0, "rw", rows=lambda i: slice(i * (i + 1) // 2, (i + 1) * (i + 2) // 2), inspect=True))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            for j in range(i + 1):
                x[i * (i + 1) // 2 + j] += busy(i) * j
        dlb.synchronize()
    dlb.gather()


def skewed(dlb, A, m):
    dlb.arrays(A=WHOLE("rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            for k in range(m):
                A[k, (i + k) % A.shape[1]] += busy(i)
        dlb.synchronize()
    dlb.gather()


def failing(dlb, A, m, last):
    dlb.arrays(A=WHOLE("rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            for k in range(m):
                A[k, (i + k) % A.shape[1]] = busy(i)
                if i == last and k == 3:
                    raise ValueError("in the body")
        dlb.synchronize()
    dlb.gather()


def anywhere(dlb, xs, ix, marks):
    dlb.arrays(xs=WHOLE("rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            xs[ix[i]] = (xs[ix[i]], busy(i)) if i % 3 else marks[i % 2]
        dlb.synchronize()
    dlb.gather()


def whole_list(dlb, xs):
    dlb.arrays(xs=WHOLE(0, "rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            xs[i] = [xs[i], busy(i), xs[-1]]
        dlb.synchronize()
    dlb.gather()


def borrowed(dlb, xs):
    dlb.arrays(xs=WHOLE("rw"))
    dlb.scatter()
    while dlb.more_work:
        for i in dlb.iterations():
            xs[-1 - i] = xs[0] if i % 2 else busy(i)
        dlb.synchronize()
    dlb.gather()


class Plainly:
    """``dlb`` of a plain run."""

    def __init__(self, iterable):
        self.iterable, self.more_work = iterable, True

    def arrays(self, *iterations, **specs):
        pass

    def scatter(self):
        pass

    def iterations(self):
        return self.iterable

    def synchronize(self):
        self.more_work = False

    def gather(self):
        pass


def same(one, other):
    if isinstance(one, np.ndarray):
        return one.tobytes() == other.tobytes()
    if isinstance(one, (list, tuple)):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    return one is other or (type(one) is not object and one == other)


def compare(kernel, *arguments):
    keep = {id(mark): mark for mark in MARKS}
    mine = [copy.deepcopy(argument, dict(keep)) for argument in arguments]
    kernel(Plainly(range(n)), *mine)
    dlb.run(kernel, range(n), *arguments)
    print(kernel.__name__, same(list(arguments), mine), flush=True)


MARKS = [object(), object()]
ix = rng.permutation(2 * n)[:n]
for _ in range(2):
    compare(permutation, rng.random((2 * n, 3)), ix)
compare(permutation, rng.random(2 * n)[::-1], ix.tolist())
compare(permutation, [float(k) for k in range(2 * n)], ix)
compare(overwritten, rng.random((3, 2 * n)), ix - 2 * n)
compare(neighbours, rng.random(3 * n), rng.permutation(n) * 2 + 2)
ptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))])
val, col = rng.random(ptr[-1]), rng.integers(0, n, ptr[-1])
compare(sparse, np.zeros(n), val, col, ptr, rng.random(n))
compare(sparse, [0.0] * n, val.tolist(), col, ptr.tolist(), rng.random(n))
compare(sparse_by_rows, np.zeros(n), val, ptr)
compare(triangle, rng.random(n * (n + 1) // 2))
A = rng.random((40, 2 * n))[:, ::-2]
A[5, 5] = np.nan
compare(skewed, A, 40)
compare(skewed, rng.integers(0, 99, (2, n)), 2)
objects = [MARKS[k % 2] for k in range(2 * n)]
compare(anywhere, objects, ix, MARKS)
marks = [element for element in objects if type(element) is object]
print("identity", all(any(element is mark for mark in MARKS) for element in marks))
compare(borrowed, [MARKS[0], *range(n), MARKS[0]])  # the last mark is overwritten before others are read
compare(whole_list, [[k] for k in range(n + 1)])

one, two = np.zeros((9, n)), np.zeros((9, n))
for last in (100, 0, n - 1):
    try:
        dlb.run(failing, range(n), one, 9, last)
    except ValueError as error:
        print("failing", error, error.args)
    try:
        failing(Plainly(range(n)), two, 9, last)
    except ValueError:
        before = [(k, (i + k) % n) for i in range(last) for k in range(9)]
        before += [(k, (last + k) % n) for k in range(4)]
        print("stored before it", all(one[place] == two[place] for place in before))

ix[17] = ix[44]
compare(permutation, rng.random((2 * n, 3)), ix)
