# Iterations 0 and 4 share A[0].
import numpy as np

n = 12
A = np.zeros(4)
# dlb: parallel
for i in range(n):
    A[i % 4] = i
print(A)
