# All store to one element.
import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel
for i in range(n):
    A[3] = i
print(A)
