"""Loops whose cost is known, told or measured; a wrong one costs time, never the result."""

from math import log  # noqa: F401 - the cost of a loop reads it

import numpy as np


def cubes(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i] += k
    return A


def told(n, weights, names):
    A, B, C, D = np.zeros(n), np.zeros(n), np.zeros(n), []
    # dlb: parallel, BLOCK, cost(weights[i])
    for i in range(n):
        for j in range(weights[i]):
            A[i] += j
    # dlb: parallel, BLOCK, cost(cumulative=i**1.43 / (log(i) - 1.08366))
    for i in range(5, n, 2):
        for j in range(int(i**0.5)):
            B[i] += j
    # dlb: parallel, CYCLIC, cost(1 + i % 3)
    for i in range(n):
        C[i] = sum(range(i % 3))
    # dlb: parallel, BLOCK, cost(len(name) + k)
    for k, name in enumerate(names):
        D.append(name * k)
    return A, B, C, D


def fitted(n):
    A = np.zeros(n)
    samples = [(10, 0.1), (20, 0.4), (40, 1.6), (80, 6.4)]  # noqa: F841 - the cost of the loop reads it
    # dlb: parallel, BLOCK, cost(fit=samples)
    for i in range(n):
        for j in range(i):
            A[i] += j * 0.5
    return A


def wrong(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK, cost(i - 5)
    for i in range(n):
        A[i] = i
    # dlb: parallel, BLOCK, cost(1 / (i - 3))
    for i in range(n):
        A[i] += i
    # dlb: parallel, BLOCK, cost(float("nan"))
    for i in range(n):
        A[i] += i
    # dlb: parallel, BLOCK, cost(cumulative=-i)
    for i in range(n):
        A[i] += i
    # dlb: parallel, BLOCK, cost(i // 1000)
    for i in range(n):
        A[i] += i
    return A


def measured(n, passes):
    A = np.zeros(n)
    for p in range(passes):
        # dlb: parallel, BLOCK, profile(group=3, every=2, threshold=0.05)
        for i in range(n):
            for j in range(i * i // 40 if p < 4 else (n - i) ** 2 // 40):
                A[i] += j * 0.25
    return A


for n in (0, 1, 7, 50):
    print(cubes(n).sum(), fitted(n).sum(), wrong(n).tolist()[-3:], measured(n, 9).sum().hex())
    rows = told(n, [(k * 7) % 13 for k in range(n)], ["x" * (k % 4) for k in range(n)])
    print([r.sum() for r in rows[:3]], "".join(rows[3])[-20:])
