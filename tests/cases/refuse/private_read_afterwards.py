# expect: DLB426 6:18
import numpy as np

n = 8
A = np.zeros(n)
# dlb: parallel, private(t)
for i in range(n):
    t = i * i
    A[i] = t
print(t)
