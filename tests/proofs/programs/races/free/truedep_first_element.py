# free: iteration 0 is left out
import numpy as np

n = 10
a = np.full(n, 2.0)
# dlb: parallel
for i in range(1, n):
    a[i] = a[i] + a[0]
print(a)
