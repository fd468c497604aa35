# expect: DLB409 15:12
import numpy as np

n = 8
A = np.zeros(n)


def note(x, seen=[]):
    seen.append(x)
    return len(seen)


# dlb: parallel
for i in range(n):
    A[i] = note(i)
