# Each sum needs the one before.
import numpy as np

n = 16
x = np.arange(float(n))
total = np.zeros(n)
total[0] = x[0]
# dlb: parallel
for i in range(1, n):
    total[i] = total[i - 1] + x[i]
print(total[-1])
