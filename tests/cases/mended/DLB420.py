from collections import defaultdict
import numpy as np

n = 8
A = np.zeros(n)
d = defaultdict(int)
# dlb: parallel
for i in range(n):
    A[i] = d.get(i, 0)
