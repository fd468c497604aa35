# expect: DLB303 11:9
import numpy as np

W = 16
H = 9
a = np.zeros(W * H + 1)
xs = [[0]]
# dlb: parallel
for y in range(H):
    for x in range(W + 1):
        a[y * W + x] = a[y * W] + x
