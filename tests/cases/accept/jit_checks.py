import math

import numpy as np


def decay(x, rate):
    if x < 0:
        return 0.0
    return math.exp(-rate * x)


class Model:
    def __init__(self, n):
        self.rates = np.ones(n)
        self.order = np.arange(n)
        self.values = np.zeros(n)

    def step(self, n, scale):
        # dlb: parallel, jit
        for i in range(1, n - 1):
            k = self.order[i]
            count = 0
            while count < 10 and self.rates[k] > count / scale:
                count += 1
            self.values[i] += decay(self.rates[k], scale) / count ** 2 + self.rates[i - 1]
