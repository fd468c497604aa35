# p is a permutation, which is seen at run time.
import numpy as np

n = 9
p = np.array([4, 2, 7, 0, 8, 1, 3, 6, 5])
x = np.arange(float(n))
y = np.zeros(n)
# dlb: parallel
for i in range(n):
    y[p[i]] = x[i] + 1
print(y.tolist())
