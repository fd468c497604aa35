"""Inner loops of compiled bodies over the elements of vectors."""

import numpy as np

n = 9
xs, A = np.arange(float(n)), np.zeros(n)


def weighted(weights):
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for v in weights:
            s += v * xs[i]
        A[i] = s


def counted(weights, others):
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        for k, v in enumerate(weights):
            s += v * k * others[k]
            if k == 1:
                continue
            v = 3.0
            s += v
            if s > 40.0:
                break
        A[i] += s


def divided(weights):
    # dlb: parallel, jit
    for i in range(n):
        for v in weights:
            if v > 2:
                A[i] += 1 / (v - 3.0)
            else:
                A[i] += 1


for weights in ([0.5, 1.5], np.array([0.5, 1.5]), [], np.zeros(0), [1, 2], np.array([1, 2**62]), {1.0: 2.0}):
    weighted(weights)
    print(A.tolist())
for wrong in (np.array(3.0), "ab"):
    try:
        weighted(wrong)
    except TypeError as error:
        print(error)
counted(np.array([0.5, 1.5, 2.5]), np.array([2.0, 4.0, 8.0]))
print(A.tolist())
try:
    counted(np.array([0.5, 1.5, 2.5]), np.array([2.0, 4.0]))
except IndexError as error:
    print(error)
divided(np.arange(2.0))
divided([1.0, 2.0, 5.0])
print(A.tolist())
try:
    divided([1.0, 2.0, 3.0])
except ZeroDivisionError as error:
    print(error)


def primes(found):
    total = 0
    # dlb: parallel, jit
    for i in range(2, len(found)):
        for d in range(2, i):
            if d * d > i:
                found[i] = 1
                total += 1
                break
            if i % d == 0:
                break
        else:
            found[i] = 2
            total += 10
    return total


def left_early(a, n, m):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(m):
            k = 0
            while k < 5:
                if a[i, j] > 3.0:
                    break
                a[i, j] += k
                k += 1
            else:
                a[i, j] += 0.5
                continue
            a[i, j] -= 0.25
            for k in range(3):
                if a[i, k] < 1.0:
                    break
            else:
                if j > 5:
                    break
        else:
            a[i, 0] = -1.0


def never_left(a, n):
    # dlb: parallel, jit
    for i in range(n):
        for j in range(3):
            a[i, j] += 1.0
        else:
            a[i, 0] *= 2.0


flags = np.zeros(120, dtype=np.int64)
print(primes(flags), flags.tolist())
table = np.arange(200.0).reshape(20, 10) % 7
left_early(table, 20, 10)
never_left(table, 20)
print(table.tolist())


def composite(n):
    total, kept = 0, []
    # dlb: parallel, jit
    for i in range(2, n):
        for d in range(2, i):
            if i % d == 0:
                break
        else:
            continue
        total += i
        kept.append(i)
    return total, kept


def is_prime(n):
    for d in range(2, n):
        if n % d == 0:
            break
    else:
        return True
    return False


def root(n):
    k = 0
    while k < n:
        if k * k == n:
            return 1
        k += 1
    else:
        if n > 50:
            return 2
    return 3


def called(out):
    # dlb: parallel, jit
    for i in range(2, len(out)):
        if is_prime(i):
            out[i] += 1
        out[i] += root(i)


def found_first(x, out):
    # dlb: parallel, jit
    for i in range(len(x)):
        for k in range(6):
            if x[i, k] > 0.95:
                first = float(k)
                break
        else:
            first = -1.0
        out[i] = first


print(composite(60))
flags[:] = 0
called(flags)
print(flags.tolist())
found = np.zeros(50)
found_first(np.random.default_rng(3).random((50, 6)), found)
print(found.tolist())
