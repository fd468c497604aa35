# Three elements at distance three belong to an iteration.
import numpy as np

n = 7
A = np.zeros(3 * n)
# dlb: parallel
for i in range(n):
    for j in range(3):
        A[3 * i + j] = i - j
print(A.tolist())
