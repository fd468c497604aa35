"""Loops whose work is derived: folded where pairs of iterations cost the same, else cut by it."""

n = 6
A = [[0] * n for _ in range(n)]
B = [float(i) for i in range(n)]


def triangle(A, n):
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i, n):
            A[i][j] = i + j


def countdown(A, n):
    # dlb: parallel
    for i in range(n - 1, -1, -1):
        for j in range(i):
            A[i][j] += 1


def dealt(A, n):
    # dlb: parallel, CYCLIC, fold
    for i in reversed(range(0, n, 2)):
        for j in range(i):
            A[i][j] += 1


def in_order(A, n):
    # dlb: parallel, nofold
    for i in range(n):
        for j in range(i, n):
            A[i][j] += 1


def cut(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i):
            for k in range(j):
                A[i][j] += k


def forced(B):
    # dlb: parallel, fold
    for i in range(len(B)):
        while B[i] > 1:
            B[i] /= 2


def not_asked(B, n):
    # dlb: parallel, fold
    for i in range(n):
        B[i] += 1


def read_after(A, n):
    total, found = 0, []
    # dlb: parallel
    for i in range(n):
        for j in range(i, n):
            last = A[i][j]
            total += last
        found.append(i)
    return total, found, last, i


def dealt_and_read_after(A, n):
    # dlb: parallel, CYCLIC
    for i in range(n):
        for j in range(i):
            last = A[i][j]
    return last


triangle(A, n)
countdown(A, n)
dealt(A, n)
in_order(A, n)
cut(A, n)
forced(B)
not_asked(B, n)
print(A, B, read_after(A, n), dealt_and_read_after(A, n))
