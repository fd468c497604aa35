# Iterations i and i + 1 both store to x[i + 1].
import numpy as np

n = 9
x = np.zeros(n)
# dlb: parallel
for i in range(n):
    for j in range(i, n):
        x[j] = i
print(x)
