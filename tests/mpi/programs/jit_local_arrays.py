"""Arrays that compiled iterations make: lengths of all kinds, exceptions, and uses that stay with Python."""

import math

import numpy as np

n = 12
A = np.arange(float(n * n)).reshape(n, n) / 7
Z = np.zeros((n, n))
counts = np.arange(n) % 5
taken = []


def buffered(m):
    # dlb: parallel, jit
    for i in range(n):
        half = np.zeros((m, n))
        ones = np.ones(n)
        flags = np.zeros(m, dtype=bool)
        for p in range(m):
            for q in range(n):
                half[p, q] += A[i, q] * p + ones[q]
            flags[p] = half[p, 0] > 3.0
        for q in range(n):
            Z[i, q] = half[m - 1, q] - half[0, -1]
            if flags[q % m]:
                Z[i, q] += len(half) + half.shape[1] + ones.size


def varying():
    # dlb: parallel, jit
    for i in range(n):
        t = np.empty(i + 1)
        for j in range(i + 1):
            t[j] = A[i, j] * 2
        k = counts[i]
        u = np.full(int(k) + 1, 0.25)
        for j in range(k + 1):
            u[j] += t[0]
        v = np.full(3, i)
        v[1] += 4
        Z[i, 0] = t[i] + u[k] / 3 + v[1] // 2


def liked():
    # dlb: parallel, jit
    for i in range(n):
        x, y = 0.5, 0
        B = np.zeros_like(A)
        C = np.full_like(A, 1.5)
        D = np.ones(A.shape, dtype=np.int64)
        E = np.zeros_like(D)
        for j in range(n):
            B[i, j] += C[j, i] * A[i, j]
            E[j, i] = D[j, i] + j
            y += int(E[j, i])
        for b in range(n):
            x += B[i, b]
        Z[i, i] = x + y


def in_loops():
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for p in range(4):
            row = np.zeros(p + 2)
            cells = np.zeros(n, int)
            for q in range(p + 2):
                row[q] = A[i, q] + s
                cells[counts[q]] += q
            for v in row:
                s += v
            for k, c in enumerate(cells):
                s += c * k
        Z[i, 3] = s


def transformed(packed, V):
    size = V.shape[0]
    # dlb: parallel, jit
    for rs in range(packed.shape[0]):
        first = 0
        while (first + 1) * (first + 2) // 2 <= rs // 2:
            first += 1
        half = np.zeros((size, size))
        for p in range(size):
            for q in range(p + 1):
                for k in range(first, size):
                    half[q, k] += packed[rs, p * (p + 1) // 2 + q] * V[p, k]
        for k in range(first, size):
            for j in range(k + 1):
                total = 0.0
                for q in range(size):
                    total += half[q, k] * V[q, j]
                packed[rs, k * (k + 1) // 2 + j] = total


def first_of(values, width):
    best = np.zeros(width)
    for j in range(width):
        best[j] = values[0, j] * 2
    return best[width - 1]


def fill(values, row):
    for j in range(len(row)):
        if j > 6:
            return
        row[j] = values[j, j] + 1


def in_functions():
    # dlb: parallel, jit
    for i in range(n):
        row = np.empty(n)
        fill(A, row)
        Z[i, 1] = first_of(A, 3) + row[i % 7]


def wrong(make, where):
    # dlb: parallel, jit
    for i in range(n):
        Z[i, 0] += 1
        t = np.zeros(make - i)
        u = np.zeros(4)
        u[where + i] = 1.0
        Z[i, 2] = u[where + i]
        if i == 7:
            Z[i, 2] = 1.0 / (1 - float(u[3]))
        Z[i, 3] += len(t)


def negative(m):
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros((2, m))
        Z[i, 0] += t.size


def huge(m):
    # dlb: parallel, jit
    for i in range(n):
        t = np.empty((m, m))
        t[0, 0] = i
        Z[i, 0] = t[0, 0]


def shared(out):
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros(3)
        t[i % 3] = A[i, i]
        out.append(t[1])


def texts(out):
    # dlb: parallel, jit
    for i in range(n):
        x = A[i, 0] * 2
        out.append(x.hex())


def kept(out):
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros(3)
        t[0] = i
        out.append(t)


def last():
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros(3)
        t[0] = A[i, 2]
        Z[i, 4] = t[0]
    return t


def divided(d):
    # dlb: parallel, jit
    for i in range(n):
        t = np.zeros(2, dtype="int64")
        t[0] = i - 3
        t[1] = 4611686018427387904 + i
        Z[i, 5] = 7 // (int(t[0]) + d) + (t[1] * 4 + 1) % 1000


def show(rows=n):
    print(Z[:rows].tobytes().hex(), flush=True)


for m in (3, 1, n):
    buffered(m)
    show()
varying()
show()
liked()
show()
in_loops()
show()
in_functions()
show()
packed = np.fromfunction(lambda r, q: (r * 7 + q) % 13 / 9, (91, 91))
transformed(packed, A[:13, :13].copy() / 3)
transformed(packed[:, :78], A[:12, :12] / 3)
try:
    transformed(packed[:, :77], A[:12, :12].copy())
except IndexError as error:
    print(error)
print(packed[1:].tobytes().hex())
for failing, *arguments in ((4, n, 0), (0, n, -15), (6, 5, -4), (7, n, -4)):
    Z[:] = 0
    try:
        wrong(*arguments)
    except (IndexError, ValueError, ZeroDivisionError) as error:
        print(type(error).__name__, error)
    show(failing)
Z[:] = 0
for m in (0, 2, -1):
    try:
        negative(m)
    except ValueError as error:
        print(error)
try:
    huge(10**7)
except MemoryError as error:
    print(error)
huge(4)
shared(taken)
texts(taken)
print(taken)
kept(taken)
print(taken[-2:], last())
for d in (5, 20, -2):
    try:
        with np.errstate(all="ignore"):
            divided(d)
    except ZeroDivisionError as error:
        print(error)
    show(5)


def binom(S, K, N):
    v = [0.0] * (N + 1)
    for j in range(N + 1):
        v[j] = max(S * 1.1 ** (N - 2 * j) - K, 0.0)
    for m in range(N, 0, -1):
        for j in range(m):
            v[j] = 0.5 * v[j] + 0.49 * v[j + 1]
    return v[0]


def edit(a, b, n, m):
    d = [[0] * (m + 1) for _ in range(n + 1)]
    for i in range(n + 1):
        d[i][0] = i
    for j in range(m + 1):
        d[0][j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            c = 0 if a[i - 1] == b[j - 1] else 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + c)
    return d[n][m]


LETTERS = np.random.default_rng(2).integers(0, 4, (30, 12))


def lists():
    out = []
    # dlb: parallel, jit
    for i in range(30):
        out.append(binom(90.0 + i, 100.0, 40))
    print(out, type(out[0]))
    res = [0] * 30
    # dlb: parallel, jit
    for i in range(30):
        res[i] = edit(LETTERS[i], LETTERS[29 - i], 12, 12)
    print(res, type(res[0]))
    cnt = np.zeros((30, 4))
    # dlb: parallel, jit
    for i in range(30):
        c = [0] * 4
        for k in range(12):
            c[LETTERS[i, k]] += 1
        for k in range(4):
            cnt[i, k] = c[k]
    print(cnt.sum(0))
    f = np.zeros(30)
    x = np.random.default_rng(3).random((30, 3))
    # dlb: parallel, jit
    for i in range(30):
        s = 0.0
        for j in range(30):
            d = [x[i, 0] - x[j, 0], x[i, 1] - x[j, 1], x[i, 2] - x[j, 2]]
            r = 0.0
            for u in d:
                r += u * u
            s += math.sqrt(r)
        f[i] = s
    print(f)
    p = []
    # dlb: parallel, jit
    for i in range(30):
        perm = list(range(10))
        for k in range(9, 0, -1):
            j = (i * 7 + k * 3) % (k + 1)
            t = perm[k]
            perm[k] = perm[j]
            perm[j] = t
        p.append(perm[0] * 100 + perm[9] + len(perm))
    print(p)
    sieve = 0
    # dlb: parallel, jit
    for n in range(30):
        flags = [True] * (n + 2)
        flags[0] = False
        for q in range(2, n + 2):
            if flags[q]:
                for r in range(2 * q, n + 2, q):
                    flags[r] = False
        for q in range(2, n + 2):
            if flags[q]:
                sieve += 1
    print(sieve)
    big = []
    # dlb: parallel, jit
    for i in range(30):
        fib = [1] * (i * 4 + 2)
        for k in range(2, i * 4 + 2):
            fib[k] = fib[k - 1] + fib[k - 2]
        big.append(fib[-1])
    print(big)
    ends = []
    try:
        # dlb: parallel, jit
        for i in range(30):
            own = [0.5] * (i + 1)
            own[12 - i] = x[i, 0]
            own[0] += 1
            ends.append(own[-1])
    except IndexError as error:
        print(error, i, ends)
    mixed = []
    # dlb: parallel, jit
    for i in range(30):
        own = [0.0, i, 2.5]
        own[i % 3] += x[i, 1]
        mixed.append(own[1])
    print(mixed, sorted({type(each).__name__ for each in mixed}))


lists()
