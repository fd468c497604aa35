# expect: DLB315 17:5
import functools
import numpy as np


@functools.cache
def grid(k):
    return np.zeros(3) + k


n = 8
out = np.zeros(n)
# later calls give the array that was changed
# dlb: parallel
for i in range(n):
    g = grid(i % 3)
    g += 1
    out[i] = g.sum()
print(out)
