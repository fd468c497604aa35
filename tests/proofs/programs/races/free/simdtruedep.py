# free: the vector operation stays in its slice
import numpy as np

n = 6
a = np.arange(24.0)
# dlb: parallel
for i in range(n):
    a[4 * i : 4 * i + 4] = a[4 * i : 4 * i + 4] + 1
print(a)
