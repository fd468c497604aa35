# expect: DLB209 16:5
import numpy as np

n = 8
A = np.zeros(n)
count = 0


def bump():
    exec("global count; count += 1")
    return count


# dlb: parallel
for i in range(n):
    A[i] = bump()
