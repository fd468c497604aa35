# i // 2 is another element for each even i.
import numpy as np

n = 16
A = np.zeros(n // 2)
# dlb: parallel
for i in range(0, n, 2):
    A[i // 2] = i
print(A.tolist())
