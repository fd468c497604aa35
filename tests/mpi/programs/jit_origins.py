"""Numbers that are numpy's in some iterations and Python's in others, after compiled bodies too."""

import math

import numpy as np

n = 23
X, L, A, found, total = np.arange(float(n)), [1.5] * n, np.zeros(n), [], 0.0
# dlb: parallel, jit
for i in range(n):
    s = 0.0
    for j in range(i % 4):
        s += X[j] / (j + 1)
    A[i] = s
    found.append(s)
    total += s
print(A, repr(s), found, repr(total))

for factor in (2.0, np.float64(2.0)):
    found = []
    # dlb: parallel, jit
    for i in range(n):
        s = 0.0
        if i % 3 == 0:
            s = L[i] * factor
        elif i % 3 == 1:
            s = X[i] + s
        found.append(s)
        found.append(s * 2 - 1)
        found.append(-s + math.sin(s))
        found.append(abs(s) ** 2)
        found.append(float(s) + L[i])
        q = s
        if i % 2:
            q = q + L[i]
        found.append(q)
    print(found, repr(s), repr(q))


def powers(x, k):
    s = 1.0
    for _ in range(k):
        s *= x
        if s > 4:
            return s
    return s


for values in (X, L, np.zeros(n)):
    # dlb: parallel, jit
    for i in range(n):
        y = powers(values[i], i % 3)
        found.append(y)
        if i % 5 == 0:
            print(i, repr(y))
    print(found[-n:])
