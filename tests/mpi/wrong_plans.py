"""Wrong plans to plant into generated programs, one at a time; `dlbc verify` has to find each.

A plan says of each array on which axis it is dealt, which rows an iteration reads and whether it stores, and
of each variable how its value travels. A wrong plan is one piece of a generated text, replaced by another.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PROGRAMS", "WRONG_PLANS", "WrongPlan"]

#: Loops of a module, and of functions, some of them in an iterative routine.
PROGRAMS = {
    "module": """import numpy as np

n, m = 48, 5
rng = np.random.default_rng(7)
A, B, C = rng.random((n, m)), np.zeros((n, m)), np.zeros((m, n))
D, weights = rng.random((n, m)), rng.random(n)
total, least, last, found, counts = 0.0, 9.0, None, [], np.zeros(7, int)

# dlb: parallel, BLOCK
for i in range(1, n - 1):
    B[i] = 0.5 * A[i - 1] + A[i] + 0.25 * A[i + 1]

# dlb: parallel, CYCLIC
for i in range(n):
    D[i] = D[i] * 2 + i

# dlb: parallel, BLOCK
for j in range(n):
    C[:, j] = weights[n - 1 - j] * j

# dlb: parallel, BLOCK
for i in range(n):
    total += weights[i] * 0.1
    least = min(least, weights[i])
    counts[i * i % 7] += 1

# dlb: parallel, BLOCK
for i in range(n):
    last = i * i
    if i % 3 == 1:
        found.append(weights[i])

print(last, len(found))
""",
    "functions": """import numpy as np


def scale(A, x):
    n = len(A)
    y = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        y[i] = (A[i] * x).sum()
    return y


def triangle(n):
    T = np.zeros((n, n))
    # dlb: parallel, BLOCK
    for i in range(n):
        for j in range(i + 1):
            T[i, j] = i * j + 1
    return T


def relax(u, passes):
    n = len(u)
    v = u.copy()
    change = 0.0
    # dlb: iterate
    for t in range(passes):
        change = 0.0
        # dlb: parallel, BLOCK
        for i in range(1, n - 1):
            v[i] = 0.5 * (u[i - 1] + u[i + 1])
            change = max(change, abs(v[i, 0] - u[i, 0]))
        u, v = v, u
    return u, change


rng = np.random.default_rng(3)
y = scale(rng.random((40, 40)), rng.random(40))
T = triangle(30)
u, change = relax(rng.random((40, 4)), 6)
print(len(u))
""",
}


@dataclass(frozen=True, slots=True)
class WrongPlan:
    """``new`` in place of ``old`` in what is generated of a program."""

    name: str
    program: str
    old: str
    new: str

    def planted(self, text: str) -> str:
        """The generated text with the wrong plan; ValueError unless the old piece occurs exactly once."""
        if (count := text.count(self.old)) != 1:
            raise ValueError(f"{self.name}: expected {self.old!r} once, found it {count} times")
        return text.replace(self.old, self.new)


# fmt: off
WRONG_PLANS = (
    # An axis.
    WrongPlan("columns dealt as rows", "module", 'C=BLOCK(1, "w")', 'C=BLOCK(0, "w")'),
    WrongPlan("rows dealt as columns", "module", 'B=BLOCK(0, "w")', 'B=BLOCK(1, "w")'),
    WrongPlan("rows of a sum dealt as columns", "functions",
              'A=BLOCK(0, "r")', 'A=BLOCK(1, "r")'),
    WrongPlan("rows of a triangle dealt as columns", "functions",
              'T=BLOCK(0, "rw")', 'T=BLOCK(1, "rw")'),
    # Rows that iterations read.
    WrongPlan("no halo", "module", ', rows=lambda i: (i - 1, i, i + 1)', ""),
    WrongPlan("no lower halo row", "module", "(i - 1, i, i + 1)", "(i, i + 1)"),
    WrongPlan("no upper halo row", "module", "(i - 1, i, i + 1)", "(i - 1, i)"),
    WrongPlan("mirrored rows taken as own rows", "module", "rows=lambda j: n - 1 - j", "rows=lambda j: j"),
    WrongPlan("mirrored rows off by one", "module", "rows=lambda j: n - 1 - j", "rows=lambda j: n - 2 - j"),
    WrongPlan("no lower halo row in a routine", "functions", "(i - 1, i + 1, i)", "(i + 1, i)"),
    WrongPlan("no upper halo row in a routine", "functions", "(i - 1, i + 1, i)", "(i - 1, i)"),
    # Reductions.
    WrongPlan("a sum put together as a maximum", "module", 'total=REDUCE("+")', 'total=REDUCE("max")'),
    WrongPlan("a minimum put together as a sum", "module", 'least=REDUCE("min")', 'least=REDUCE("+")'),
    WrongPlan("no reduction of a sum", "module",
              "total, least = dlb.run(_dlb_loop_4", "_, least = dlb.run(_dlb_loop_4"),
    WrongPlan("no reduction of elements", "module",
              ', counts=ELEMENTS("+", integer=True)', ""),
    WrongPlan("a maximum put together as a sum", "functions", 'change=REDUCE("max")', 'change=REDUCE("+")'),
    # Classes of variables.
    WrongPlan("an array that is stored to as one that is read", "module",
              'B=BLOCK(0, "w")', 'B=BLOCK(0, "r")'),
    WrongPlan("an array that is read first as one that is stored to", "module",
              'D=CYCLIC(0, "rw")', 'D=CYCLIC(0, "w")'),
    WrongPlan("a last value as a private one", "module", "dlb.keep(last=last)", "pass"),
    WrongPlan("a list in order as a private one", "module", 'dlb.ordered("found")', "pass"),
    WrongPlan("an array of all ranks dealt in blocks", "functions",
              'A=BLOCK(0, "r"))', 'A=BLOCK(0, "r"), x=BLOCK(0, "r"))'),
    WrongPlan("rows of a routine as read only", "functions", 'v=BLOCK(0, "w")', 'v=BLOCK(0, "r")'),
)
# fmt: on
