# The same, in place, each row from itself.
import numpy as np

n = 10
x = np.arange(float(n * (n + 1) // 2))
# dlb: parallel
for i in range(n):
    for j in range(1, i + 1):
        x[i * (i + 1) // 2 + j] = x[i * (i + 1) // 2 + j - 1] + 1.0
print(x.tolist())
