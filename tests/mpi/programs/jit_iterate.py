"""A routine around compiled loops: rows stay on the ranks, halos travel; what it leaves is as in Python."""

import numpy as np

n, passes = 24, 9
u = np.linspace(0.0, 1.0, n * n).reshape(n, n)
v = u.copy()
# dlb: iterate
for t in range(passes):
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - 4.0 * u[i, j])
    # dlb: parallel, jit
    for i in range(1, n - 1):
        for j in range(1, n - 1):
            u[i, j] = v[i, j] * (1.0 + 0.01 * t)
    if t % 4 == 0:
        print(t, u[3, 4], u[n - 2, 5])
print(u.tobytes().hex()[:300], u.sum(), v.sum())


def alignment(a, b):
    """Smith and Waterman, by anti-diagonals: all ranks need the matrix, and store to it."""
    n, m = len(a), len(b)
    H = np.zeros((n + 1, m + 1), dtype=np.int64)
    # dlb: iterate
    for d in range(2, n + m + 1):
        # dlb: parallel, jit
        for i in range(max(1, d - m), min(n, d - 1) + 1):
            same = 2 if a[i - 1] == b[d - i - 1] else -1
            best = max(H[i - 1, d - i - 1] + same, H[i - 1, d - i] - 1)
            H[i, d - i] = max(max(best, H[i, d - i - 1] - 1), 0)
    return H.max(), H.sum()


rng = np.random.default_rng(1)
print(*alignment(rng.integers(0, 4, 70), rng.integers(0, 4, 90)))


def copied_last(A, n, passes):
    # dlb: iterate
    for t in range(passes):
        # dlb: parallel, jit
        for i in range(n):
            for j in range(n):
                A[i, j] = A[i, j] * 0.9 + 0.1
        unused = A[t % n].copy()
    return unused


def copied_around(A, n, passes):
    # dlb: iterate
    for t in range(passes):
        row = A[3].copy()
        # dlb: parallel, jit
        for i in range(n):
            for j in range(n):
                A[i, j] = A[i, j] * 0.9 + row[j] * 0.1
        last = A[t % n].copy()
    return last


def used_twice(A, n, passes):
    # dlb: iterate
    for t in range(passes):
        row = A[3].copy()
        for s in range(2):
            # dlb: parallel, jit
            for i in range(n):
                for j in range(n):
                    A[i, j] = A[i, j] * 0.9 + row[j] * 0.1


def used_by_two(A, B, n, passes):
    # dlb: iterate
    for t in range(passes):
        row = A[t % n].copy()
        # dlb: parallel, jit
        for i in range(n):
            for j in range(n):
                A[i, j] = A[i, j] * 0.9 + row[j] * 0.1
        other = B[3].copy()
        # dlb: parallel, jit
        for i in range(n):
            for j in range(n):
                B[i, j] = B[i, j] * 0.9 + row[j] * other[j] * 0.1


for function in (copied_last, copied_around, used_twice):
    for passes in (60, 150):
        A = np.arange(3600.0).reshape(60, 60) % 11
        last = function(A, 60, passes)
        print(A.sum(), None if last is None else last.tolist())
A = np.arange(3600.0).reshape(60, 60) % 11
B = A + 1
used_by_two(A, B, 60, 150)
print(A.sum(), B.sum())
