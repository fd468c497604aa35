# races: all read a[0], which iteration 0 stores to
import numpy as np

n = 10
a = np.full(n, 2.0)
# dlb: parallel
for i in range(n):
    a[i] = a[i] + a[0]
print(a)
