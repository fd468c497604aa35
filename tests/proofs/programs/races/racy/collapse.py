# races: a cell of the plane by one number, written at half of it
import numpy as np

a = np.zeros(30)
# dlb: parallel
for k in range(30):
    a[k // 5] = k % 5
print(a)
