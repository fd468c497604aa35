import numpy as np

n = 8
A = np.zeros(n)


def note(x):
    return x + 1


# dlb: parallel
for i in range(n):
    A[i] = note(i)
