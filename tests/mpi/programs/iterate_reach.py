"""Routines whose arrays are reached otherwise: functions, closures, objects, views, containers, leaks."""

import functools
import operator
import sys
import weakref

import numpy as np
import side_module

n, m = 18, 3
field = np.ones((n, m))
LOG = []


def shown(*arrays):
    print([float(x).hex() for a in arrays for x in np.ravel(a)[:: max(1, np.size(a) // 5)]])


def total():
    return float(field.sum())


def row_total(k, source=field):
    return float(source[k].sum())


def reset(rows, value):
    for k in rows:
        field[k] = value


def by_globals():
    global field
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            field[i] = field[i] * 1.5 + i
        print(total().hex(), row_total(t).hex())
        reset(range(t, t + 2), -1.0)
        print(float(eval("field[3, 1]")).hex(), float(globals()["field"][4, 0]).hex())
        exec("field[5] += 0.25")
        if t == 2:
            field = field[::-1].copy()
    shown(field)


def by_closures(u):
    v, seen = np.zeros((n, m)), []

    def middle():
        return float(u[n // 2, 0])

    def change(k):
        v[k] = 1.0
        return v

    def rename():
        nonlocal u, v
        u, v = v, u

    watch = [middle, lambda k: seen.append(float(v[k].sum()))]
    later = functools.partial(np.sum, v, axis=0)
    lazy = (float(row[1]) for row in u)
    # dlb: iterate
    for t in range(5):
        # dlb: parallel
        for i in range(n):
            v[i] = v[i] + u[i] * (t + 1)
        print(middle().hex(), watch[0]().hex(), later().tolist(), next(lazy).hex())
        watch[1](t)
        float(change(t)[0, 0])
        if t % 2:
            rename()
        keep = map(lambda k: float(u[k, 2]), range(t, t + 2))  # noqa: C417
        print(sum(keep).hex())
    print([x.hex() for x in seen])
    return u, v


class Grid:
    names = ("u",)
    made = []

    def __init__(self, u):
        self.u, self.mean = u, 0.0
        self.parts = {"first": u[: n // 2], "last": [u[n // 2 :]]}
        Grid.made.append(self)

    @property
    def norm(self):
        return float(abs(self.u).max())

    def __len__(self):
        return int(self.u[0, 0] > -100.0)

    def __getitem__(self, k):
        return self.u[k]

    def __array__(self, dtype=None, copy=None):
        return np.array(self.u, dtype=dtype)

    def __enter__(self):
        self.u[1] = 0.5
        return self

    def __exit__(self, *_):
        self.mean = float(self.u.mean())

    def __str__(self):
        return f"grid {self.u[2, 2]:.6f}"

    def step(self):
        u = self.u
        # dlb: iterate
        for t in range(5):
            # dlb: parallel
            for i in range(n):
                u[i] += 0.5 * i
            self.damp(0.5)
            self.parts["first"][t] = t
            print(self.norm.hex(), len(self), self[3].tolist(), f"{self}", bool(self))
            with self as grid:
                grid.parts["last"][0][0] -= 1.0
            print(self.mean.hex(), np.asarray(self)[4].tolist(), getattr(self, "u")[5].tolist())

    def damp(self, by):
        self.u *= by


def keeping_views(u):
    row, column, block = u[3], u[:, 1], u[5:9, :2]
    flat, memory, reference = u.reshape(-1), memoryview(u), weakref.ref(u)
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            u[i] = u[i] * 0.75 + 1.0
        print(row.tolist(), float(column[t]).hex(), float(block[1, 1]).hex(), memory[2, 0].hex())
        row += 0.25
        flat[4 + t] = 8.0
        reference()[9] = t
        other = row
        other[0] = column[-1]
        column = column[::-1]
    shown(u, row, block)


def in_containers(u, v):
    state = {"fields": [u, v], "step": 0}
    nest = (state, [{"deep": (u[2:4],)}])
    # dlb: iterate
    for t in range(4):
        u, v = state["fields"]
        # dlb: parallel
        for i in range(n):
            v[i] += u[i] * 0.5
        state["fields"].reverse()
        state["step"] += 1
        state.setdefault("sums", []).append(float(sum(a[t, 0] for a in state["fields"])))
        nest[1][0]["deep"][0][1, 1] = state["step"]
        print([float(a.max()).hex() for a in state["fields"]], [a[1, 1] for a in nest[1][0]["deep"]])
    print(state["step"], state["sums"])
    shown(*state["fields"])


def through_modules(u):
    side_module.table = u
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            u[i] += i * 0.5
        # dlb: parallel
        for i in range(n):
            field[i] = field[i] * 0.5 + 1.0
        side_module.table[2] = 0.25
        print(side_module.sum_of_table().hex(), float(getattr(side_module, "table")[3, 0]).hex())
        print(float(sys.modules[__name__].field[4, 1]).hex(), float(vars(side_module)["table"][5, 1]).hex())
        operator.setitem(side_module.table, 6, float(t))
        operator.attrgetter("table")(side_module)[7] *= 2.0
    shown(u, field)


class Recorder:
    def __init__(self):
        self.arrays = []

    def keep(self, a):
        self.arrays.append(a)

    def report(self):
        return [float(a[0, -1]) for a in self.arrays]


def leaking(u):
    recorder, v = Recorder(), np.zeros((n, m))
    # dlb: iterate
    for t in range(5):
        if t == 1:
            recorder.keep(u)
            LOG.append(v)
        # dlb: parallel
        for i in range(n):
            v[i] = u[i] + i + t
        if t == 2:
            LOG[-1][0] = 7.0
        print(recorder.report(), looked_at())
        u, v = v, u
    shown(u, v)


def looked_at():
    return [float(a[1, 1]) for a in LOG]


by_globals()
shown(*by_closures(np.arange(float(n * m)).reshape(n, m)))
grid = Grid(np.ones((n, m)))
grid.step()
shown(grid.u)
keeping_views(np.ones((n, m)))
in_containers(np.ones((n, m)), np.zeros((n, m)))
through_modules(np.ones((n, m)))
leaking(np.ones((n, m)))
