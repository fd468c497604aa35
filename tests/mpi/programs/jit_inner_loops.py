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
