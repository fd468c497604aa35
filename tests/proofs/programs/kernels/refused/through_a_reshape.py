# flat is the same memory as A.
import numpy as np

n = 6
A = np.arange(36.0).reshape(n, n)
flat = A.reshape(-1)
# dlb: parallel
for i in range(1, n):
    A[i, 0] = flat[(i - 1) * n] + 1
print(A.sum())
