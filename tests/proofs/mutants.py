"""Legal programs from a grid of templates, and each with one dependence planted in it.

A family is a template of a program with holes, the values that fill them, and the plants: replacements of one
piece of text by another that makes iterations meet. Every filling of a family gives one original and one
mutant; the plants are dealt to the fillings in turn, so that all are used. No randomness: the same order on
every run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

__all__ = ["Mutation", "mutations"]

#: Begins of programs: what the arrays are.
VECTORS = {
    "array": "import numpy as np\n\nn = {n}\nA = np.arange({size}.0)\nB = np.arange({size}.0) + 1\n",
    "list": "n = {n}\nA = [float(k) for k in range({size})]\nB = [float(k) + 1 for k in range({size})]\n",
}
MATRIX = (
    "import numpy as np\n\nn, m = {n}, {m}\n"
    "A = np.arange(float({rows} * {columns})).reshape({rows}, {columns})\nB = A.copy()\n"
)
LISTS = (
    "n, m = {n}, {m}\nA = [[float(i + j) for j in range({columns})] for i in range({rows})]\n"
    "B = [row[:] for row in A]\n"
)
CUBE = (
    "import numpy as np\n\nn, m = {n}, {m}\n"
    "A = np.arange(float({rows} * {columns} * 3)).reshape({rows}, {columns}, 3)\nB = A.copy()\n"
)


@dataclass(frozen=True, slots=True)
class Mutation:
    """An original program, and the same with ``plant`` put in."""

    name: str
    original: str
    plant: tuple[str, str]

    @property
    def mutant(self) -> str:
        old, new = self.plant
        assert self.original.count(old) >= 1, (self.name, old)
        head, _, tail = self.original.rpartition(old)
        return head + new + tail


@dataclass(frozen=True, slots=True)
class _Family:
    """``bodies`` are the loop (with its annotation) by form; plants apply to the text after filling."""

    name: str
    heads: tuple[str, ...]
    loops: tuple[str, ...]
    plants: tuple[tuple[str, str], ...]
    sizes: tuple[dict[str, int], ...]

    def fillings(self) -> Iterator[Mutation]:
        fillings = product(self.heads, self.loops, self.sizes)
        for count, (head, loop, size) in enumerate(fillings):
            fields = {
                "size": 3 * size["n"] + 4,
                "rows": 2 * size["n"] + 3,
                "columns": size.get("m", 0) + 3,
            } | size
            text = head.format(**fields) + loop + "print(A)\n"
            fitting = [p for p in self.plants if p[0] in text]
            assert fitting, (self.name, loop)
            yield Mutation(f"{self.name}-{count}", text, fitting[count % len(fitting)])


def _loop(space: str, *body: str) -> str:
    lines = "".join(f"    {line}\n" for line in body)
    return f"# dlb: parallel\nfor i in {space}:\n{lines}"


_VECTOR_SIZES = ({"n": 7}, {"n": 12}, {"n": 16}, {"n": 20})
_MATRIX_SIZES = ({"n": 6, "m": 5}, {"n": 8, "m": 8}, {"n": 9, "m": 4}, {"n": 7, "m": 6})

#: Iterations of one element each, in every spelling of the space.
_SPACES = ("range(1, n)", "range(n - 1, 0, -1)", "reversed(range(1, n))", "range(1, n - 1)")
_STORE = (
    ("A[i] =", "A[i + 1] = A[i] +"),
    ("B[i]", "A[i - 1]"),
    ("B[i]", "B[i] + A[i + 1]"),
    ("A[i] =", "A[2] ="),
)
_CARRIED = (("t = B[i]", "t = t + B[i]"), ("t = B[i]", "if i > 4:\n        t = B[i]"))

FAMILIES = (
    _Family(
        "map",
        tuple(VECTORS.values()),
        tuple(_loop(s, "A[i] = B[i] * 2") for s in _SPACES),
        _STORE,
        _VECTOR_SIZES,
    ),
    _Family(
        "stencil",
        tuple(VECTORS.values()),
        tuple(_loop(s, "A[i] = B[i - 1] + B[i + 1] - 2 * B[i]") for s in _SPACES),
        (("B[i - 1]", "A[i - 1]"), ("B[i + 1]", "A[i + 1]"), ("A[i] =", "A[i // 2] =")),
        _VECTOR_SIZES,
    ),
    _Family(
        "step two",
        tuple(VECTORS.values()),
        tuple(
            _loop(s, "A[i] = A[i + 1] + B[i]")
            for s in ("range(0, n, 2)", "range(1, n, 2)", "range(n, 0, -2)")
        ),
        ((", 2)", ", 1)"), ("A[i + 1]", "A[i + 2]"), (", -2)", ", -1)")),
        _VECTOR_SIZES,
    ),
    _Family(
        "pairs",
        tuple(VECTORS.values()),
        (
            _loop("range(n)", "A[2 * i] = B[i]", "A[2 * i + 1] = -B[i]"),
            _loop("reversed(range(n))", "A[2 * i] = B[i]", "A[2 * i + 1] = A[2 * i]"),
        ),
        (("A[2 * i + 1] =", "A[2 * i + 2] ="), ("A[2 * i] =", "A[i] ="), ("2 * i + 1] =", "i + 1] =")),
        _VECTOR_SIZES,
    ),
    _Family(
        "temporary",
        tuple(v + "t = 0.0\n" for v in VECTORS.values()),
        tuple(_loop(s, "t = B[i] + 1", "A[i] = t * t") for s in _SPACES),
        _CARRIED,
        _VECTOR_SIZES,
    ),
    _Family(
        "guard",
        tuple(VECTORS.values()),
        tuple(_loop(s, "if i % 2 == 0:", "    A[i] = A[i + 1] + B[i]") for s in _SPACES),
        (("A[i + 1]", "A[i + 2]"), ("i % 2 == 0", "i % 2 >= 0"), ("A[i] =", "A[i - i % 4] =")),
        ({"n": 9}, {"n": 12}, {"n": 16}),
    ),
    _Family(
        "reversal",
        tuple(VECTORS.values()),
        (_loop("range(n // 2)", "A[n - 1 - i] = A[i] + 1"), _loop("range(n // 2)", "A[i] = A[n - 1 - i]")),
        (("n // 2", "n - 1"), ("n - 1 - i", "n - 4 - i")),
        ({"n": 10}, {"n": 12}, {"n": 16}),
    ),
    _Family(
        "slices",
        (VECTORS["array"],),
        (
            _loop("range(n)", "A[3 * i : 3 * i + 3] = B[3 * i : 3 * i + 3] * 2"),
            _loop("range(0, 3 * n, 3)", "A[i : i + 3] = B[i : i + 3]"),
            _loop("range(n)", "A[2 * i : 2 * i + 2] = i"),
        ),
        (
            ("A[3 * i : 3 * i + 3] =", "A[2 * i : 2 * i + 3] ="),
            ("i + 2] =", "i + 3] ="),
            ("A[i : i + 3] = B[i : i + 3]", "A[i : i + 3] = A[i + 1 : i + 4]"),
        ),
        ({"n": 5}, {"n": 7}, {"n": 8}),
    ),
    _Family(
        "blocks",
        tuple(VECTORS.values()),
        (
            _loop("range(0, n, 4)", "for j in range(i, min(i + 4, n)):", "    A[j] = B[j] + i"),
            _loop("range(n // 2)", "for j in range(2):", "    A[2 * i + j] = B[j]"),
            _loop("range(n // 3)", "for j in range(3 * i, 3 * i + 3):", "    A[j] = B[j]"),
        ),
        (("i + 4", "i + 6"), ("2 * i + j", "i + j"), ("3 * i + 3", "3 * i + 5"), ("B[j] + i", "A[j + 1]")),
        ({"n": 9}, {"n": 12}, {"n": 16}),
    ),
    _Family(
        "packed",
        tuple(VECTORS.values()),
        (_loop("range(5)", "for j in range(i + 1):", "    A[i * (i + 1) // 2 + j] = B[j] * i"),),
        (("i * (i + 1) // 2 + j", "i * (i + 1) // 2 + j - i"), ("range(i + 1)", "range(i + 3)")),
        ({"n": 9}, {"n": 12}, {"n": 16}),
    ),
    _Family(
        "enumerate",
        (VECTORS["list"],),
        (
            "# dlb: parallel\nfor i, x in enumerate(B):\n    A[i] = x * i\n",
            "# dlb: parallel\nfor i, x in enumerate(B[1:], 1):\n    A[i] = x + A[i]\n",
        ),
        (("A[i] = x", "A[i] = A[i - 1] + x"), ("A[i] =", "A[i // 2] ="), ("A[i] =", "A[0] =")),
        ({"n": 5}, {"n": 8}, {"n": 10}),
    ),
    _Family(
        "rows",
        (MATRIX, LISTS),
        (
            _loop("range(1, n)", "for j in range(1, m):", "    A[i][j] = B[i][j] + A[i][j - 1]"),
            _loop("range(n - 1, 0, -1)", "for j in range(1, i):", "    A[i][j % m] = B[i][j % m]"),
            _loop("range(1, n)", "for j in range(1, m):", "    if j < i:", "        A[i][j] = B[i - 1][j]"),
        ),
        (
            ("B[i][j]", "A[i - 1][j]"),
            ("A[i][j] =", "A[2][j] ="),
            ("A[i][j", "A[i // 2][j"),
            ("B[i - 1]", "A[i - 1]"),
            ("B[i][j % m]", "A[i + 1][j % m]"),
        ),
        _MATRIX_SIZES,
    ),
    _Family(
        "matrix",
        (MATRIX,),
        (
            _loop("range(1, n)", "A[i, :] = B[i, :] * 2"),
            _loop("range(1, n)", "A[i, 1:] = A[i, :-1] + B[i - 1, 1:]"),
            _loop("range(1, n)", "row = B[i] + 1", "A[i] = row / 2"),
            _loop("range(1, n)", "for j in range(i, m):", "    A[i, j] = B[j, i % m]"),
            _loop("range(1, n, 2)", "for j in range(m):", "    A[i, j] = A[i - 1, j] + B[i, j]"),
        ),
        (
            ("B[i, :]", "A[i - 1, :]"),
            ("A[i, 1:] =", "A[i - 1 : i + 1, 1:] ="),
            ("A[i] =", "A[i] = A[i - 1] +"),
            ("B[j, i % m]", "A[i + 1, j]"),
            ("n, 2", "n, 1"),
            ("A[i, j] =", "A[1, j] ="),
            ("B[i - 1, 1:]", "A[i - 1, 1:]"),
        ),
        _MATRIX_SIZES,
    ),
    _Family(
        "columns",
        (MATRIX,),
        (
            _loop("range(1, m)", "for j in range(n):", "    A[j, i] = B[j, i] + A[j, 0]"),
            _loop("range(1, m)", "A[:, i] = B[:, i - 1]"),
            _loop("range(m - 1, 0, -1)", "A[:, i] = A[:, i] - A[:, 0]"),
        ),
        (
            ("A[j, 0]", "A[j, i - 1]"),
            ("B[:, i - 1]", "A[:, i - 1]"),
            ("A[:, 0]", "A[:, 1]"),
            ("A[j, i] =", "A[j, 1] ="),
        ),
        _MATRIX_SIZES,
    ),
    _Family(
        "cube",
        (CUBE,),
        (
            _loop(
                "range(1, n)",
                "for j in range(1, m):",
                "    for k in range(3):",
                "        A[i, j, k] = B[i - 1, j, k] + A[i, j, k]",
            ),
            _loop("range(1, n)", "A[i, :, 0] = B[i, :, 1] + A[i, :, 2]"),
        ),
        (
            ("B[i - 1, j, k]", "A[i - 1, j, k]"),
            ("A[i, j, k] =", "A[i // 2, j, k] ="),
            ("B[i, :, 1]", "A[i - 1, :, 0]"),
            ("A[i, :, 0] =", "A[1, :, 0] ="),
        ),
        _MATRIX_SIZES,
    ),
    _Family(
        "function",
        tuple(v + "\n\ndef at(k):\n    return B[k] * 2\n\n\n" for v in VECTORS.values()),
        (_loop("range(1, n)", "A[i] = at(i)"), _loop("range(n, 0, -1)", "A[i] = at(i) + at(i - 1)")),
        (("return B[k]", "return A[k - 1]"), ("return B[k]", "return A[k + 1]"), ("A[i] =", "A[1] =")),
        _VECTOR_SIZES,
    ),
    _Family(
        "argument",
        tuple(v + "\n\ndef put(row, k, x):\n    row[k] = x\n\n\n" for v in (MATRIX, LISTS)),
        (
            _loop("range(1, n)", "put(A[i], 0, B[i][1])"),
            _loop("range(1, n)", "for j in range(m):", "    put(A[i], j, B[i - 1][j])"),
        ),
        (("put(A[i],", "put(A[i // 2],"), ("B[i - 1][j]", "A[i - 1][j]"), ("B[i][1]", "A[i - 1][0]")),
        _MATRIX_SIZES,
    ),
)


def mutations() -> list[Mutation]:
    """All of them, in a fixed order."""
    return [mutation for family in FAMILIES for mutation in family.fillings()]
