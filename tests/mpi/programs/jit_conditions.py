"""Conditions of numbers, and sums of integers that may be large, in compiled bodies."""

import math

import numpy as np

n = 12
X = np.arange(12.0) - 5
X[2] = math.nan
X[3] = -0.0
B = X > 0
o = []
A = np.zeros(n)
flag = True
q = 3


def conditions():
    # dlb: parallel, jit
    for i in range(n):
        t = X[i] > 0 and X[i] < 3
        A[i] = 1.0 if t or i == 3 else 0.5
        if flag and not B[i]:
            A[i] += 1
        if B[i] == t:
            A[i] += 4
        if B[i] != (i > 3):
            A[i] += 8
        if 0 < X[i] <= 3 < i:
            A[i] += 16
        if not X[i]:
            A[i] += 32
        if q and X[i]:
            A[i] += 64
        v = t & (i > 3)
        w = t | (i > 7)
        if v or w:
            A[i] += 128
        if not (q and (X[i] or flag)):
            A[i] += 1024
        y = 2.0 if X[i] and q or i else 1.0
        A[i] += y
        while q and y < 50:
            y *= 3
        A[i] += y
        if i > 0 and X[i - 1] > 1 or i < n - 1 and X[i + 1] > 3:
            A[i] += 0.25


conditions()
print(A)
flag = 0
q = 0.0
conditions()
print(A)
flag = np.float64(2.0)
conditions()
print(A)

n = 12
X = np.arange(12.0) * 1.7
o = []
A = np.zeros(n)
m = 5
h = np.arange(100)


def sums(X, m):
    # dlb: parallel, jit
    for i in range(n):
        a = int(X[i]) + int(X[i] / 2) + int(X[i] / 3) - int(X[i] * 2) + i * m
        b = i + int(X[i])
        c = a * b + b - a * m
        d = (a + b + c) * (a - b) + c * c - i
        A[i] = d
        A[i] += h[int(X[i]) + i]
        A[i] += h[i + min(int(X[i]), 5) - 1]
        for k in range(i + int(X[i]) % 7):
            c = c + k * a - (b + k) + i
        o.append(c)
        o.append(a + b)


sums(X, m)
print(A.tolist(), o)
o.clear()
sums(X, 2**40)
print(A.tolist(), o)
o.clear()
sums(X, -(2**61))
print(A.tolist(), o)
