# B is A by another name.
import numpy as np


def sweep(A, n):
    B = A
    # dlb: parallel
    for i in range(1, n):
        A[i] = B[i - 1] + 1


values = np.arange(10.0)
sweep(values, 10)
print(values)
