# Counting down changes nothing.
import numpy as np

n = 12
A = np.zeros(n)
x = np.arange(float(n))
# dlb: parallel
for i in range(n - 1, 0, -1):
    A[i] = x[i] - x[i - 1]
print(A.tolist())
