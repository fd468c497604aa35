"""Functions of the program in compiled bodies: they are evaluated where Python evaluates them."""

import numpy as np

n = 12
scale = 2.0


def scaled(x):
    return x * scale


def last_of(x):
    last = x * 2.0
    first = last + 1.0
    results = first
    for step in range(3):
        results += step
    return results


def stored(A, i):
    A[i] = A[i] + 10.0
    return A[i]


def times(x, y=1.0):
    return x * y


def smoothed(A, scale):
    # dlb: parallel, jit
    for i in range(n):
        A[i] = scaled(A[i]) + scale


A, B = np.arange(float(n)), np.zeros(n)
smoothed(A, 10.0)
print(A)

# dlb: parallel, jit
for i in range(n):
    A[i] = last_of(i)
print(A)

# dlb: parallel, jit
for i in range(n):
    B[i] = A[i] + stored(A, i)
print(A, B)

# dlb: parallel, jit
for i in range(n):
    A[i] += stored(A, i)
    if i > 5 and stored(A, i) > 20.0:
        B[i] = 1.0
print(A, B)

# dlb: parallel, jit
for i in range(n):
    here = stored(A, i)
    B[i] = here
print(A, B)

try:
    # dlb: parallel, jit
    for i in range(n):
        A[i] = times(A[i], x=3.0)
except TypeError as error:
    print(error, i, A[:i])

A_before = first = last = step = low = high = 2.0
# dlb: parallel, jit
for i in range(n):
    value = A[i]
    A[i] = A[i] + A_before + first + last + step + low + high
    at = int(B[i])
    taken = at + 1
    A[i] += 3.0 / (B[i] + at)
    if taken > 60:
        A[i] = value
print(A)


def greatest_common(a, b):
    while b:
        a, b = b, a % b
    return a


def less(v):
    v -= 1
    return v


def at_most(x, bound):
    if x > bound:
        x = bound
    return x


Q = np.zeros((n, n), dtype=np.int64)
# dlb: parallel, jit
for i in range(n):
    for j in range(n):
        Q[i, j] = greatest_common(i, j) + less(10 * i)
    A[i] = at_most(A[i] * 0.1, bound=2.5)
print(Q.tolist(), A)
