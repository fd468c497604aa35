"""Programs of random routines, for comparison with what they do sequentially.

A routine is a few passes over three arrays: parallel loops of the usual kinds (neighbours, in place,
mirrored, whole vectors, columns, strides, reductions) and sequential code of all kinds between them (names
exchanged, elements, rows, slices, whole arrays, views kept, functions that know the arrays, new arrays,
ends). Loops are independent by their text; where names have come to mean one array they are not, and rank 0
runs them alone. Values stay small. A routine that fails says how. The same seed gives the same text.
"""

from __future__ import annotations

import random

__all__ = ["program"]

_HEAD = '''"""Random routines, seed {seed}."""

import numpy as np


def bits(*arrays):
    return [float(x).hex() for a in arrays for x in (a.sum(), a.flat[0], a.flat[-1], a.flat[a.size // 2])]


def tried(routine, *sizes):
    try:
        routine(*sizes)
    except (ArithmeticError, IndexError, ValueError) as error:
        print(routine.__name__, type(error).__name__, error)


class Box:
    def __init__(self, a):
        self.a = a

    def first(self):
        return float(self.a[0, 0])

    def set(self, k, value):
        self.a[k] = value
'''

#: Of a parallel loop: its header and its body, in which X is stored to.
_LOOPS = (
    ("for i in range(1, n - 1):", "{X}[i] = 0.5 * {Y}[i] + 0.25 * ({Y}[i - 1] + {Y}[i + 1])"),
    ("for i in range(n):", "{X}[i] = {X}[i] * {c} + {Y}[i] * 0.25"),
    ("for i in range(n):", "{X}[i] = {Y}[n - 1 - i] * {c} + 0.01 * i"),
    ("for i in reversed(range(n)):", "{X}[i, :] = {X}[i, ::-1] * {c}"),
    ("for i in range({k}, n, 2):", "{X}[i] = {X}[i - 1] * {c} + 0.125"),
    ("for i in range(n):", "{X}[i] = {Y}.sum(axis=0) * 0.01 + {X}[i] * {c}"),
    ("for i in range(n // 2):", "{X}[2 * i] = {X}[2 * i] * {c} + {Y}[i]"),
    ("for i in range({k}, n):", "{X}[i, {q}] = {c} * i"),
    ("for j in range(m):", "{X}[:, j] = {X}[:, j] * {c} + 0.5 * j"),
    ("for j in range(1, m):", "{X}[:, j] = {Y}[:, j - 1] * {c}"),
    ("for i in range(n):", "{X}[i] = {X}[i] * {c} + steps(i * {k} % 7)"),
    ("for i in range(n - 1, {k}, -1):", "{X}[i] = {Y}[i - 1] * {c} + {Z}[i] * 0.25"),
    ("for i in range(n):", "total += {X}[i, {q}] * {c}"),
    ("for i in range(n):", "high = max(high, {X}[i].max())"),
    ("for i in range({k}, n - 1):", "{X}[i] = {X}[i] * 0.5; total += {Y}[i + 1].sum() * 0.125"),
)

#: The same for loops that are compiled; some are left to Python in some pass, or fail there.
_COLUMNS = "for j in range(m):"
_COMPILED = (
    (
        "for i in range(1, n - 1):",
        _COLUMNS,
        "{X}[i, j] = {Y}[i, j] * 0.5 + ({Y}[i - 1, j] + {Y}[i + 1, j]) * {c}",
    ),
    ("for i in range(n):", _COLUMNS, "{X}[i, j] = {X}[i, j] * {c} + 0.125 * t"),
    ("for i in range(n - 1, -1, -1):", _COLUMNS, "{X}[i, j] = {X}[i, j] * {c} + {Y}[n - 1 - i, j] * 0.25"),
    ("for i in range({k}, n, 2):", _COLUMNS, "{X}[i, j] = {X}[i - 1, j] * {c} + part_of[j] * 0.5"),
    ("for i in range(n):", _COLUMNS, "{X}[i, j] = {Y}[n // 2, j] * {c} + {X}[i, j] * 0.25"),
    ("for i in range(n):", _COLUMNS, "{X}[i, j] = {X}[i, j] * 0.5 + {Y}[i, places[j]] * {c}"),
    (_COLUMNS, "for i in range(n):", "{X}[i, j] = {X}[i, j] * {c} + 0.5 * j"),
    ("for i in range(n):", _COLUMNS, "{X}[i, j] = {X}[i, j] * {c} + 0.25 / (t - count)"),
    ("for i in range(n):", _COLUMNS, "{X}[i, j] = {X}[i, j] * 0.5 + {Y}[i, t // 5] * {c}"),
)

#: Sequential statements among these, in passes that can be foreseen.
_BETWEEN_FORESEEN = (
    "{X}, {Y} = {Y}, {X}",
    "{X}, {Y}, {Z} = {Y}, {Z}, {X}",
    "part_of = {X}[{p}].copy()",
    "part_of = {X}[t % 5].copy()",
    "part_of = {X}[t % len({Y})].copy()",
    "count = t * 0.75 + {k}",
    "count += 0.5",
)

#: Sequential statements among these, in other passes.
_BETWEEN_COMPILED = (
    "{X}, {Y} = {Y}, {X}",
    "{X}, {Y} = {Y}, {X}",
    "{X}, {Y}, {Z} = {Y}, {Z}, {X}",
    "part_of = {X}[{p}].copy()",
    "part_of = {X}[t % 5].copy()",
    "part_of = {X}[{p}]",
    "{X}[{p}, {q}] = t * 0.125",
    "{X}[0] = {Y}[-1]",
    "{X}[{p}] *= 0.5",
    "print(t, {X}[{p}, {q}].hex())",
    "print(t, bits({X}))",
    "places[{q}] = (t + {p}) % m",
    "if t == 11: places[{q}] = -1",
    "if t == 13 + {p}: places[{q}] = m",
    "if t == 9: {X} = {Y}.copy()",
    "if t == 7: count = {k} * 0.5",
    "if t == 8: kept.append({X})",
    "if t == 12 + {k}: break",
)

_BETWEEN = (
    "{X}, {Y} = {Y}, {X}",
    "{X}, {Y}, {Z} = {Y}, {Z}, {X}",
    "{X} = {X}[::-1]",
    "{X} = {Y}.copy()",
    "{X} = {Y} * 0.5 + {Z} * 0.25",
    "{X} = np.zeros_like({Y})",
    "{X}[{p}] = {Y}[{r}]",
    "{X}[{p}] *= 0.5",
    "{X}[{p}, {q}] = t",
    "{X}[{p}:{p} + 3] = {Y}[-3:] * 0.5",
    "{X}[:, {q}] += 0.125",
    "{X} *= 0.75",
    "np.copyto({X}, {Y})",
    "np.add({X}, 0.25, out={Y})",
    "{X}[{X} > 4.0] = 4.0",
    "{X}[[{p}, {r}]] = {X}[[{r}, {p}]]",
    "{X}.fill(0.125)",
    "{X}[-{k}].sort()",
    "row = {X}[{p}]",
    "row = row * 0.5; row[0] = t",
    "row[{q}] = 0.5",
    "print(t, row.tolist()[0].hex())",
    "print(t, {X}[{p}, {q}].hex(), {Y}[-1, 0].hex())",
    "print(t, bits({X}))",
    "print(t, float({X}[{p}:, {q}].max()).hex(), len({Y}), {Z}.shape)",
    "print(t, total.hex(), float(high).hex())",
    "print(t, look().hex())",
    "change({p})",
    "box.set({p}, 0.5); print(box.first().hex())",
    "box = Box({X})",
    "kept.append({X}); print(len(kept), float(kept[0][{p}, {q}]).hex())",
    "total = float({X}[{p}].sum())",
    "if {X}[{p}, {q}] > {c}: {X}, {Z} = {Z}, {X}",
    "if t == 2 and {Y}[{p}, 0] < 0.5: continue",
    "if total > 50.0 or t == {k} + 3: break",
    "part = {X}[1:-1]; part[0] = 0.25",
    "{X} = {X}[1:] if len({X}) > 9 else {X}",
)


_CLAUSES = ("", ", tolerance=0.5", ", model=akima", ", model=constant, every=2")


def program(seed: int, routines: int = 10, *, compiled: bool = False) -> str:
    """The text of a program with so many routines; ``compiled``: of compiled loops, in more passes."""
    draw = random.Random(seed)
    make = _compiled_routine if compiled else _routine
    parts = [_HEAD.format(seed=seed), _STEPS, *(make(draw, k) for k in range(routines))]
    calls = [f"tried(routine_{k}, {draw.choice((5, 8, 17))}, {draw.choice((2, 4))})" for k in range(routines)]
    return "\n\n".join(parts) + "\n\n" + "\n".join(calls) + "\n"


_STEPS = """def steps(count):
    s = 0.0
    for k in range(40 * count):
        s += k * 1e-6
    return s
"""


def _routine(draw: random.Random, number: int) -> str:
    lines = [
        f"def routine_{number}(n, m):",
        f"    rng = np.random.default_rng({number})",
        "    u, v, w = rng.random((n, m)), rng.random((n, m)), rng.random((n, m))",
        "    total, high, kept, row, box = 0.0, 0.0, [], v[1], Box(u)",
        "",
        "    def look():",
        f"        return float({draw.choice('uvw')}[1, 0])",
        "",
        "    def change(k):",
        f"        {draw.choice('uvw')}[k, 0] = 0.25",
        "",
        f"    # dlb: iterate{draw.choice(_CLAUSES)}",
        f"    for t in range({draw.choice((0, 1, 4, 6))}):",
        *_body(draw, "        ", draw.randint(3, 7)),
    ]
    if draw.random() < 0.3:
        inner = ["        # dlb: iterate", f"        for s in range({draw.randint(0, 3)}):"]
        lines += [*inner, *_body(draw, "            ", 2, ends=False)]
    return "\n".join([*lines, "    print(bits(u, v, w), total.hex(), float(high).hex())", ""])


def _compiled_routine(draw: random.Random, number: int) -> str:
    foreseen = draw.random() < 0.5
    lines = [
        f"def routine_{number}(n, m):",
        f"    rng = np.random.default_rng({number})",
        "    u, v, w = rng.random((n, m)), rng.random((n, m)), rng.random((n, m))",
        "    places, part_of, count, kept = np.arange(m), u[1].copy(), 0.5, []",
        f"    # dlb: iterate{draw.choice(_CLAUSES)}",
        f"    for t in range({draw.choice((40, 90) if foreseen else (9, 17, 24))}):",
    ]
    between = _BETWEEN_FORESEEN if foreseen else _BETWEEN_COMPILED
    parts = [[_filled(draw, draw.choice(between))] for _ in range(draw.randint(0, 3))]
    for _ in range(draw.randint(1, 3)):
        header, inner, store = draw.choice(_COMPILED)
        text = _filled(draw, f"{header}\n    {inner}\n        {store}").split("\n")
        clause = draw.choice(("jit", "jit, CYCLIC", "jit(as_written)"))
        parts.insert(draw.randint(0, len(parts)), [f"# dlb: parallel, {clause}", *text])
    lines += [" " * 8 + line for part in parts for line in part]
    return "\n".join([*lines, "    print(bits(u, v, w), len(kept), [bits(each) for each in kept])", ""])


def _body(draw: random.Random, indent: str, between: int, *, ends: bool = True) -> list[str]:
    """Sequential statements with one to three parallel loops among them."""
    code = [choice for choice in _BETWEEN if ends or not choice.endswith(("continue", "break"))]
    parts = [[_filled(draw, draw.choice(code))] for _ in range(between)]
    for _ in range(draw.randint(1, 3)):
        header, body = draw.choice(_LOOPS)
        text = _filled(draw, f"{header}\n    {body}").split("\n")
        parts.insert(draw.randint(0, len(parts)), [f"# dlb: parallel{draw.choice(('', ', CYCLIC'))}", *text])
    return [
        indent + line.replace("; ", f"\n{indent}{line[: len(line) - len(line.lstrip())]}")
        for part in parts
        for line in part
    ]


def _filled(draw: random.Random, text: str) -> str:
    X, Y, Z = draw.sample("uvw", 3)
    rows = draw.randint(0, 4), draw.randint(0, 4)
    numbers = {"p": rows[0], "r": rows[1], "q": draw.randint(0, 1), "k": draw.randint(1, 3)}
    return text.format(X=X, Y=Y, Z=Z, c=draw.choice(("0.5", "0.75", "-0.25")), **numbers)
