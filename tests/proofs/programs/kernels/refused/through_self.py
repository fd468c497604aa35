# The array is an attribute, stored to and read one element before.
import numpy as np


class Rod:
    def __init__(self, n):
        self.A = np.arange(float(n))
        self.n = n

    def sweep(self):
        # dlb: parallel
        for i in range(1, self.n):
            self.A[i] = self.A[i - 1] + 1


rod = Rod(10)
rod.sweep()
print(rod.A)
