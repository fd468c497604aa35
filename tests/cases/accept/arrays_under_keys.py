import numpy as np


class Simulation:
    def __init__(self, n):
        self.now, self.buffers = 0, [np.ones(n), np.zeros(n)]
        self.__fields = {"f": np.zeros(n)}

    def step(self, n):
        # dlb: parallel
        for i in range(1, n - 1):
            self.buffers[1 - self.now][i] = self.buffers[self.now][i - 1] + self.buffers[self.now][i + 1]
            self.__fields["f"][i] += i


def filled(state, rec, z, n):
    # dlb: parallel
    for i in range(n):
        state["v"][i] = state["u"][i] * 2
        state["deep"]["w"][i, :] = i
        rec["x"][i] += rec["v"][i]
        z.real[i] = i
        z.imag[i] = -i


def scaled(A, out):
    # dlb: parallel
    for i in range(len(out)):
        A[..., i] *= 2
        out[..., i] = A[..., 0, i].sum()


n = 6
simulation = Simulation(n)
simulation.step(n)
print(simulation.buffers)
state = {"u": np.ones(n), "v": np.zeros(n), "deep": {"w": np.zeros((n, 2))}}
rec = np.ones(n, dtype=[("x", float), ("v", float)])
z = np.zeros(n, complex)
filled(state, rec, z, n)
print(state, rec, z)
A, out = np.ones((2, 3, n)), np.zeros(n)
scaled(A, out)
print(A, out)
