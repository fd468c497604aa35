# The local function reads the element before.
import numpy as np

n = 10
A = np.arange(float(n))


def before(k):
    return A[k - 1]


# dlb: parallel
for i in range(1, n):
    A[i] = before(i) + 1
print(A)
