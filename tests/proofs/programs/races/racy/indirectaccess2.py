# races: two tables lead to the same element
import numpy as np

one = np.array([0, 2, 4, 6])
other = np.array([1, 0, 5, 7])
a = np.zeros(8)
# dlb: parallel
for i in range(4):
    a[one[i]] = a[other[i]] + 1
print(a)
