import numpy as np

n = 8
A = np.zeros(n)


class Squares:
    def __getitem__(self, key):
        return key * key


c = Squares()
# dlb: parallel
for i in range(n):
    A[i] = c[i]
