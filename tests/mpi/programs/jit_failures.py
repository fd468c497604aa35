"""What iterations of compiled bodies leave to Python may fail there: later ones have not run then."""

import warnings

import numpy as np

n = 20
A, B, places, counts = np.zeros(n), np.arange(n) * 1.5, np.arange(n), [0] * n
places[13] = 50

try:
    # dlb: parallel, jit
    for i in range(n):
        doubled = B[i] * 2.0
        A[i] = doubled
        counts[places[i]] += 1
except IndexError as error:
    print(error, i, doubled, A[:i], counts)

try:
    # dlb: parallel, jit
    for i in range(n):
        A[i] = i + 1
        counts[places[i]] += 1
        A[i] = i + 2
except IndexError as error:
    print(error, i, A[:i], counts)

try:
    # dlb: parallel, jit
    for i in range(n):
        A[i] = B[i]
        if i > 5:
            print(f"{B[i]:d}")
except ValueError as error:
    print(error, i, A[:i])

text = "x"
try:
    # dlb: parallel, jit
    for i in range(n):
        A[i] = i + 3
        text += A[i]
except TypeError as error:
    print(error, i, A[:i], text)


def unnamed():
    # dlb: parallel, jit
    for i in range(4):
        never_bound[i] = 1.0  # noqa: F821


try:
    unnamed()
except NameError as error:
    print(error)


def logarithms(a, out):
    # dlb: parallel, jit
    for i in range(len(a)):
        out[i] = np.log(a[i])


positive, out = np.arange(1.0, 61), np.zeros(60)
for _ in range(3):
    logarithms(positive, out)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    logarithms(positive - 31, out)
    logarithms(positive - 31, out)
print(len(caught), out.tolist()[28:33])

heard = []
np.seterrcall(lambda error, flag: heard.append((error, flag)))
with np.errstate(all="call"):
    # dlb: parallel
    for i in range(60):
        out[i] = 1 / (positive[i] - 51)
print(heard)
