"""Compiled iterations that end early, and what they leave."""

import numpy as np

n = 23
X, A, total, found, name = np.arange(float(n)), np.zeros(n), 0, [], "here"
# dlb: parallel, jit
for i in range(n):
    double = X[i] * 2
    if i % 3 == 0:
        continue
    total += i
    if i % 3 == 1:
        found.append(X[i])
        if i > 9:
            continue
        else:
            A[i] = 5
            continue
    A[i] = X[i]
    total += 1
    if i > 15:
        print(name, i, X[i], X)
print(A, total, found, double)

# dlb: parallel, jit
for i in range(n):
    if i % 3 == 0:
        if i > 9:
            continue
        total += 5
    total += i
    A[i] = X[i]
print(A, total)

longest = 0
# dlb: parallel, jit
for i in range(1, 60):
    length = 0
    x = i
    while x != 1:
        x = x // 2 if x % 2 == 0 else 3 * x + 1
        length += 1
    if length > longest:
        longest = length
print(longest)

# dlb: parallel, jit
for i in range(n):
    seed = i
    for _ in range(60):
        seed = (seed * 1103515245 + 12345) % 2147483648
    for _ in range(i):
        seed = seed * 30011 % 998244353998244353
    A[i] = seed
    found.append(seed)
print(A, found)

# What inner loops have counted is there after the loop.
B, ends = np.zeros((n, n)), np.arange(n) % 3
# dlb: parallel, jit
for i in range(n):
    for j in range(n):
        B[i, j] = X[j] * 2
        for k in range(j):
            B[i, j] += X[k]
    for m in range(ends[i], 2):
        B[i, m] = 1.0
print(B.sum(), i, j, k, m)
# dlb: parallel, jit
for i in range(n):
    for none in range(n - 23):
        B[i, none] = 2.0
    for j in range(i % 3, 3):
        B[i, j] = X[j]
    for j in range(5, i % 7):
        B[i, j] = 3.0
print(B.sum(), i, j, "none" in globals())
