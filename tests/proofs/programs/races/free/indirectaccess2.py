# free: stores go through a permutation, reads to another array
import numpy as np

one = np.array([3, 2, 0, 1])
a = np.zeros(4)
x = np.arange(4.0)
# dlb: parallel
for i in range(4):
    a[one[i]] = x[i] + 1
print(a)
