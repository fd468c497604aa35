# races: the inner subscript alone is used
import numpy as np

n = 7
a = np.zeros((n, n))
# dlb: parallel
for i in range(n):
    for j in range(n):
        a[j, 0] = a[j, 0] * 2 + i
print(a)
