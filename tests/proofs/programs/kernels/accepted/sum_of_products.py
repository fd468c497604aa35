# A scalar reduction.
import numpy as np

n = 50
x = np.arange(float(n)) / 7
y = np.arange(float(n)) / 3
s = 0.0
# dlb: parallel, reduction(s)
for i in range(n):
    s += x[i] * y[i]
print(repr(s))
