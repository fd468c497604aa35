# Two neighbours share A[i // 2].
import numpy as np

n = 12
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    A[i // 2] = i
print(A)
