"""Powers of floats that come from arguments: Python's where all of these are numbers of Python."""

import hashlib

import numpy as np


def cubed(x):
    return x**3 + x**0.5


def powers(n, h, a):
    # dlb: parallel, jit
    for i in range(len(a)):
        x = 2.0 + 2.6 * i / n
        if i % 2:
            x = x * h
        a[i] = (h * i) ** 2 + x**1.7 + (x * x) ** 0.5 + cubed(x) + (x + h) ** -3
    return a.tobytes()


def of_elements(n, b, a):
    # dlb: parallel, jit
    for i in range(len(a)):
        x = b[i] / n if i % 3 else 1.5 / n
        a[i] = cubed(x) + cubed(1.25 / n)
    return a.tobytes()


def digest(data):
    return hashlib.sha256(data).hexdigest()[:12]


out, b = np.zeros(97), np.random.default_rng(8).random(97)
cases = (
    (100, 0.1),
    (7.5, 3),
    (np.int64(9), 0.3),
    (100, np.float64(0.1)),
    (3, 10**9),
    (0.7, 2.5),
    (1e-3, 1e60),
)
for n, h in cases:
    print(
        n,
        h,
        digest(powers(n, h, out)),
        digest(of_elements(n, b, out)),
        digest(of_elements(n, b.tolist(), out)),
    )
try:
    powers(1.0, 1e200, out)
except OverflowError as error:
    print(error)
try:
    powers(0, 0.5, out)
except ZeroDivisionError as error:
    print(error, out.tolist())
