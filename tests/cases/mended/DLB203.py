import numpy as np

n = 8
B = np.ones(n)


def f():
    found = []
    # dlb: parallel
    for i in range(n):
        if B[i] > 1:
            found.append(i)
    return found[0] if found else None
