"""Iterations that overwrite their rows element by element, some of which fail in the middle of one."""

import math

import numpy as np


def distances(D, X, n, least):
    log, total = [], 0.0
    try:
        # dlb: parallel, BLOCK(D), WHOLE(X)
        for i in range(n):
            for j in range(n):
                part = 0.0
                for k in range(X.shape[1]):
                    part += (X[i, k] - X[j, k]) ** 2
                D[i, j] = math.sqrt(least[i, j] + part)
            total += D[i, 0]
            log.append(i)
            print("row", i)
    except ValueError as error:
        print(error, i, j, part)
    return log, total


def further(T, m):
    # dlb: parallel
    for i in range(len(T)):
        for j in range(T.shape[1]):
            for k in range(m):
                T[i, j, k] = i - j * k
                T[i, j, k] += 0.5
        T[i, 0, 0] *= 2.0
    return T


def column(C, m):
    # dlb: parallel, BLOCK(C, axis=1), jit
    for i in range(C.shape[1]):
        for j in range(m):
            C[j, i] = i / (j + 1)


def skipped(A, n):
    # dlb: parallel
    for i in range(len(A)):
        if i % 3 == 0:
            continue
        for j in range(n):
            A[i, j] = i + j


def left_early(A, n):
    # dlb: parallel
    for i in range(len(A)):
        for j in range(n):
            if j > i:
                break
            A[i, j] = i + j


def read_first(A, n):
    # dlb: parallel
    for i in range(len(A)):
        for j in range(n - 1):
            A[i, n - 1] = 7.0 + A[i, j + 1]
            for k in range(n):
                A[i, k] = A[i, n - 1] + k


X, least = np.random.default_rng(8).random((40, 3)), np.zeros((40, 40))
for run in range(6):
    D = np.full((40, 40), -1.0)
    if run == 2:
        least[31, 20] = -100.0  # on the last rank, in the middle of a row
    if run == 4:
        least[3, 7] = -100.0  # on the first one, and later on the last one
    rows = (40, 40, 32, 32, 4, 4)[run]  # later ones may have been stored to
    print(run, *distances(D, X, 40, least), D[:rows].sum(), D[rows - 1].tolist())
for run in range(3):
    wide = np.full((12, 5, 9 + run), -2.0)
    print(further(wide, 9).sum(), wide[3, 4].tolist())
    tall = np.full((7 + run, 11), -3.0)
    column(tall, 7)
    print(tall.sum(), tall[:, 5].tolist())
    for change in (skipped, left_early, read_first):
        A = np.full((12, 6), -4.0)
        change(A, 6)
        print(change.__name__, A.sum(), A[4].tolist())
