"""Arrays under keys, in fields and as parts of others: rows of their own, and what else may lead to them."""

import numpy as np

n = 17
state = {"u": np.arange(n) * 1.0, "v": np.zeros(n), "deep": {"w": np.zeros((n, 3))}, "names": [""] * n}
kept = state["v"]
# dlb: parallel
for i in range(1, n - 1):
    state["v"][i] = state["u"][i - 1] + state["u"][i + 1]
    state["deep"]["w"][i] += i
    state["deep"]["w"][i, 0] = 7
    state["names"][i] = f"row {i}"
print(kept.tolist(), kept is state["v"], state["deep"]["w"].tolist(), state["names"])
for key in ("u", "v"):
    # dlb: parallel, CYCLIC
    for i in range(n):
        state[key][i] *= 2
print(state["u"].tolist(), state["v"].tolist())

layers = [np.zeros((n, 3)) for _ in range(3)]
pair = (np.zeros(n), np.arange(n) * 1.0)
# dlb: parallel
for i in range(n):
    layers[1][i, :] = i
    pair[0][i] = pair[1][i] * 2
print([layer.tolist() for layer in layers], [p.tolist() for p in pair])


class Simulation:
    def __init__(self):
        self.buffers, self.fields, self.now = [np.arange(n) * 1.0, np.zeros(n)], {"f": np.ones(n)}, 0

    def step(self):
        # dlb: parallel
        for i in range(1, n - 1):
            self.buffers[1 - self.now][i] = 0.5 * (
                self.buffers[self.now][i - 1] + self.buffers[self.now][i + 1]
            )
            self.fields["f"][i] += i
        self.now = 1 - self.now


simulation = Simulation()
for _ in range(3):
    simulation.step()
print([b.tolist() for b in simulation.buffers], simulation.fields["f"].tolist())

rec = np.zeros(n, dtype=[("x", float), ("v", float)])
rec["v"] = np.arange(n)
z = np.zeros(n, complex)
A = np.zeros((3, n))
# dlb: parallel
for i in range(1, n - 1):
    rec["x"][i] += rec["v"][i - 1] + rec["v"][i + 1]
    z.real[i] = i
    z.imag[i] = -i
    A[1][i] = A[0][i - 1] + i
print(rec.tolist(), z.tolist(), A.tolist())

E, F = np.arange(2.0 * 3 * n).reshape(2, 3, n), np.zeros((n, 4))
# dlb: parallel
for i in range(n):
    F[..., i, :] += i
    F[..., i, 2] = E[..., 0, i].sum()
print(F.tolist())
# dlb: parallel
for i in range(n):
    v = E[..., i]
    v[1, 2] += i
    E[..., i] *= 2
print(E.tolist())

u = {"a": np.zeros(n), "b": np.arange(n) * 1.0}
# dlb: iterate
for t in range(5):
    # dlb: parallel
    for i in range(1, n - 1):
        u["a"][i] = 0.5 * (u["b"][i - 1] + u["b"][i + 1]) + t
    u["a"][0] = u["a"][5]
    u["a"], u["b"] = u["b"], u["a"]
    print(u["a"][3], u["b"].sum())
    # dlb: parallel
    for i in range(n):
        rec["x"][i] += 1
    # dlb: parallel
    for row in layers[1]:
        row *= 0.5
print(u["a"].tolist(), u["b"].tolist(), rec.tolist(), layers[1].tolist())


# What leads to one array in two ways is found before the loop, which rank 0 then runs alone.
def copied(target, source, t):
    # dlb: parallel
    for i in range(1, n):
        target["v"][i] = source["v"][i - 1] + t
    return [float(x) for x in target["v"]]


a, b = {"v": np.arange(n) * 1.0}, {"v": np.arange(n) * 2.0}
print(copied(a, b, 1), copied(a, a, 1), copied(a, {"v": a["v"]}, 1), copied(a, {"v": a["v"][:]}, 2))
print(copied({"v": [0] * n}, b, 3), copied(a, {"v": range(n)}, 2))
other, flat = rec, rec.view(float)
# dlb: parallel
for i in range(1, n):
    rec["x"][i] = other["x"][i - 1] + rec["v"][i]
# dlb: parallel
for i in range(1, n):
    rec["x"][i] += flat[2 * (i - 1)] + 1
print(rec.tolist(), z.tolist())
k = 1
# dlb: parallel
for i in range(1, n):
    A[k][i] = A[k - 1][i - 1] + i
    A[2][i] = A[1][i]
print(A.tolist())


class Gas:
    """Its arrays lie under keys, reached by a property, a method and a function as well."""

    def __init__(self):
        self.state = {"v": np.zeros((n, 3)), "w": np.ones(n)}

    @property
    def velocity(self):
        return self.state["v"]

    def put(self, i, x):
        self.state["w"][i] = x

    def advance(self):
        # dlb: parallel
        for i in range(n):
            self.velocity[i, 1] = i + 0.5
            self.state["w"][i] += 1
        # dlb: parallel
        for i in range(n):
            self.state["v"][i, 0] = i * 2.0
            self.put(i, i * 3.0)


def fill(state, i):
    state["v"][i, 2] = i * 5.0
    state["w"][i] -= 1


gas = Gas()
gas.advance()
parts = gas.state
# dlb: parallel
for i in range(n):
    fill(parts, i)
print({key: value.tolist() for key, value in gas.state.items()})


def both(k):
    if k == 17:
        raise KeyError(k)
    return k / 3, f"k{k}"


low, high, at = {}, {}, np.zeros(20)
# dlb: parallel
for k in range(12):
    low[k % 5], (high[-k], at[k]) = k, (str(k), k / 7)
print(low, high, at)
try:
    # dlb: parallel
    for k in range(20):
        low[k], high[k] = both(k)
except KeyError as error:
    print(error, [k in high for k in range(17)], low[16])
