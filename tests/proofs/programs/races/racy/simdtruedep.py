# races: the vector operation takes the slice before
import numpy as np

n = 6
a = np.arange(24.0)
# dlb: parallel
for i in range(1, n):
    a[4 * i : 4 * i + 4] = a[4 * i - 4 : 4 * i] + 1
print(a)
