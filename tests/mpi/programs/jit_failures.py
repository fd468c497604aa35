"""What iterations of compiled bodies leave to Python may fail there: later ones have not run then."""

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
