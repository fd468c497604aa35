"""Arguments and items that other ranks cannot read: rank 0 runs the loops alone but for the last one."""

from collections import OrderedDict

import numpy as np

N = 40


class Sealed(OrderedDict):
    """Can no longer be filled, so it cannot be read."""

    is_open = False

    def __setitem__(self, key, value):
        if not self.is_open:
            raise TypeError("sealed")
        super().__setitem__(key, value)


class Local:
    """Can be read by no other process."""

    def __init__(self, n):
        self.n = n

    def __setstate__(self, state):
        raise ValueError("of another process")


class Checked:
    """Read by code of its own, which finds nothing wrong."""

    def __init__(self, n):
        self.n = n

    def __setstate__(self, state):
        assert set(state) == {"n"}
        self.__dict__.update(state)


class Choosy(Checked):
    """Read by code of its own, which refuses some objects."""

    def __setstate__(self, state):
        if state["n"] % 17 == 11:
            raise ValueError("not this one")
        super().__setstate__(state)


sealed, local, checked = Sealed(), Local(3), Checked(4)
sealed.is_open = True
sealed["n"] = 2
sealed.is_open = False
items = [Local(k) if k % 7 == 3 else Checked(k) for k in range(N)]
readable = [Checked(k) for k in range(N)]
choosy = [Choosy(k) for k in range(N)]
nested = [[k, {"inside": Choosy(k)}] for k in range(N)]
a, b, c, d = np.zeros((4, N))

# dlb: parallel, BLOCK
for i in range(N):
    a[i] = i + sealed["n"]
# dlb: parallel, BLOCK
for i in range(N):
    b[i] = a[i] * local.n
# dlb: parallel, BLOCK
for i in range(N):
    c[i] = b[i] + items[i].n
for _ in range(2):
    # dlb: parallel, BLOCK
    for i in range(N):
        a[i] += choosy[i].n
    # dlb: parallel, BLOCK
    for i in range(N):
        b[i] += nested[i][1]["inside"].n
for _ in range(3):
    # dlb: parallel, BLOCK
    for i in range(N):
        d[i] += c[i] + checked.n + readable[i].n
print(a.tolist(), b.tolist(), c.tolist(), d.tolist())
print([p.n for p in readable])
