# expect: DLB419 20:5
import numpy as np

n = 8
A = np.zeros(n)


class Counter:
    def __init__(self):
        self.read = 0

    def __getitem__(self, key):
        self.read += 1
        return self.read


c = Counter()
# dlb: parallel
for i in range(n):
    A[i] = c[i]
