from math import log


def folded(A, n):
    # dlb: parallel
    for i in range(n):
        for j in range(i, n):
            A[i, j] = i + j


def cut(A, n):
    # dlb: parallel
    for i in range(1000):
        for j in range(i):
            for k in range(j):
                A[i, j] += k


def measured(A, n):
    # dlb: parallel, profile(every=4), cost(i + 1)
    for i in range(n):
        while A[i] > 1:
            A[i] /= 2


def sieve(A, n):
    # dlb: parallel, cost(cumulative=x**1.43 / (log(x) - 1.08366))
    for x in range(3, n, 2):
        A[x] = all(x % k for k in range(3, x))


def timed(A, rows, n):
    # dlb: parallel, cost(fit=[(0, 0), (n, 2.5)])
    for i in range(n):
        A[i] = sum(rows[i])
    # dlb: parallel, cost(len(row)), nofold
    for i, row in enumerate(rows):
        A[i] = sum(row)


def unknown(A, n):
    # dlb: parallel, fold
    for i in range(n):
        while A[i] > 1:
            A[i] /= 2
    if n > 3:
        m = n
    # dlb: parallel
    for i in range(n):
        if A[i] > 0:
            for j in range(i, m):
                A[i] += 1
