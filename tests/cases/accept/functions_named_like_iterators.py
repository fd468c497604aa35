import numpy as np


class Run:
    def __init__(self, n):
        self.A = np.ones(n)
        self.log = open("run.log", "w")

    def step(self, n):
        # dlb: parallel
        for i in range(n):
            self.A[i] = np.log(self.A[i] + 1.0)
