# Each row's values are divided by their sum.
import numpy as np

n = 6
ptr = np.array([0, 2, 3, 5, 9, 10, 12])
val = np.arange(12.0) + 1
# dlb: parallel
for i in range(n):
    total = 0.0
    for p in range(ptr[i], ptr[i + 1]):
        total += val[p]
    for p in range(ptr[i], ptr[i + 1]):
        val[p] = val[p] / total
print(val.tolist())
