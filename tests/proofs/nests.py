"""Random loop nests, as programs for the compiler and as enumerations of what they touch.

A nest is one function with one annotated loop over `i`: up to two inner loops, guards, stores into `A` and
reads of `A` and `B`, with subscripts that are affine, strided, triangular, halved (`//`), folded (`%`), or
products with a size. The sizes `n` and `m` are parameters, or literals. Everything is drawn from one seeded
generator: the same seed gives the same nest.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cache, cached_property

__all__ = ["SIZES", "Nest", "Touch", "nest_of"]

#: Values of (n, m) for which nests are enumerated.
SIZES = ((1, 1), (2, 3), (3, 9), (5, 4), (8, 3), (6, 6), (9, 7))


@dataclass(frozen=True, slots=True)
class Touch:
    """One access of the iteration with this value of `i`."""

    i: int
    array: str
    at: tuple[int, ...]
    stores: bool


@dataclass(frozen=True)
class Nest:
    """``text`` is the function's, named ``f<number>``; ``lines`` are its body with accesses as calls of
    `touch`.

    ``affine``: no subscript, bound or guard needs more than affine arithmetic. ``updates``: each store adds
    to the element stored to, and there is no other access to `A`.
    """

    number: int
    text: str
    lines: str
    affine: bool
    updates: bool

    @cache  # noqa: B019  # as many as there are nests
    def touches(self, n: int, m: int) -> tuple[Touch, ...]:
        """What the nest touches with these sizes, in order."""
        found: list[Touch] = []

        def touch(i: int, array: str, at: tuple[int, ...], stores: bool) -> None:
            found.append(Touch(i, array, at, stores))

        exec(self._code, {"n": n, "m": m, "touch": touch})
        return tuple(found)

    @cached_property
    def _code(self) -> object:
        return compile(self.lines, f"nest{self.number}", "exec")


class _Draw:
    """Draws the parts of one nest."""

    def __init__(self, seed: int) -> None:
        self.rng = rng = random.Random(seed)
        self.affine = True
        self.n, self.m = rng.choice((("n", "m"), ("n", "m"), ("n", "n"), ("8", "5"), ("n", "6")))
        self.two = rng.random() < 0.5
        self.nested = self.two and rng.random() < 0.25
        self.plain = rng.random() < 0.6  # affine parts only

    def pick(self, *choices: str) -> str:
        """One of the texts; those after `|` are not affine."""
        affine = [c for c in choices if not c.startswith("|")]
        text = self.rng.choice(affine if self.plain else choices)
        self.affine = self.affine and not text.startswith("|")
        return text.removeprefix("|").replace("N", self.n).replace("M", self.m)

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def outer(self) -> str:
        return self.pick(
            "range(N)", "range(N)", "range(N)", "range(1, N)", "range(1, N - 1)", "range(0, N, 2)",
            "range(1, N, 3)", "range(N - 1, -1, -1)", "range(N - 1, 0, -2)", "reversed(range(N))",
            "reversed(range(1, N, 2))", "range(M)", "range(min(N, M))", "|range(N // 2)",
        )  # fmt: skip

    def inner(self, name: str) -> str:
        return self.pick(
            "range(M)", "range(M)", "range(N)", "range(3)", "range(i)", "range(i + 1)", "range(i, N)",
            "range(i + 1, N)", "range(max(0, i - 1), min(N, i + 2))", "range(2 * i, 2 * i + 2)",
            "range(0, M, 2)", "range(M - 1, -1, -1)", "|range(i % 3)", "|range(i // 2, N)",
            *(("range(j)", "range(j, M)", "range(i, j + 1)") if name == "k" else ()),
        )  # fmt: skip

    def guard(self, inner: str) -> str:
        return self.pick(
            "i > 0", "i != 3", "i < M", f"{inner} < i", f"{inner} != i", f"{inner} >= i", "i + 1 < N",
            "|i % 2 == 0", f"|(i + {inner}) % 2 == 0", "|i // 2 > 0", f"|{inner} % 3 != 1", "not i > 4",
            f"0 < {inner} < M - 1", "i > 1 and i < 6", f"i == {inner}",
        )  # fmt: skip

    def subscript(self, inner: str, own: bool) -> str:
        """One subscript; ``own``: one that depends on `i`, most of the time."""
        if not own and self.chance(0.7):
            return self.pick(inner, inner, f"{inner} + 1", "0", f"M - 1 - {inner}", "2", f"|{inner} // 2")
        return self.pick(
            "i", "i", "i", "i", "i + 1", "i - 1", "2 * i", "2 * i + 1", "3 * i + 2", "N - 1 - i", "i + N",
            "i + M", "2 * N - i", f"2 * i + {inner}", f"3 * i + {inner}", f"i + {inner}", f"{inner} - i",
            f"{inner}", "|i // 2", "|(i + 1) // 2", "|i % 3", "|i % 4 + i", f"|i * M + {inner}",
            "|i * (i + 1) // 2", f"|i * (i + 1) // 2 + {inner}", "|(2 * i + 1) // 2", "|-(-i // 2)", "|i * i",
            f"|(i + {inner}) % 5",
        )  # fmt: skip

    def element(self, array: str, inner: str) -> tuple[str, str]:
        """An element as the program writes it, and its subscripts as a tuple."""
        if not self.two:
            text = self.subscript(inner, own=True)
            return f"{array}[{text}]", f"({text},)"
        own = self.chance(0.85)
        one, other = self.subscript(inner, own), self.subscript(inner, not own)
        element = f"{array}[{one}][{other}]" if self.nested else f"{array}[{one}, {other}]"
        return element, f"({one}, {other})"


def nest_of(seed: int) -> Nest:
    """The nest of this seed."""
    draw = _Draw(seed)
    depth = 2 if draw.chance(0.15) else 1 if draw.chance(0.6) else 0
    heads = [f"for {v} in {draw.inner(v)}:" for v in "jk"[:depth]]
    inner = "ijk"[depth]
    if draw.chance(0.3):
        heads.insert(draw.rng.randint(0, depth), f"if {draw.guard('i')}:")
        if depth and draw.chance(0.5):
            heads.append(f"if {draw.guard(inner)}:")
    program, trace, updates = _statements(draw, inner, draw.chance(0.08))
    outer = f"for i in {draw.outer()}:"
    text = _assemble(f"def f{seed}(A, B, n, m):\n    # dlb: parallel\n", [outer, *heads], program, 4)
    lines = _assemble("", [outer, *heads], trace, 0)
    return Nest(seed, text, lines, draw.affine, updates)


def _statements(draw: _Draw, inner: str, augmented: bool) -> tuple[list[str], list[str], bool]:
    """The statements, their trace, and whether they only update."""
    program: list[str] = []
    trace: list[str] = []
    updates = True
    for _ in range(2 if draw.chance(0.3) else 1):
        stored, at = draw.element("A", inner)
        reads = [draw.element("B", inner)]
        reads += [_read(draw, inner, stored, at)] if not augmented and draw.chance(0.55) else []
        updates = updates and (augmented or reads[1:] == [(stored, at)])
        sign = "+=" if augmented else "="
        program.append(f"{stored} {sign} " + " + ".join(text for text, _ in reads))
        trace += [f"touch(i, {text[0]!r}, {tuple_}, False)" for text, tuple_ in reads]
        trace.append(f"touch(i, 'A', {at}, True)")
    return program, trace, updates


def _read(draw: _Draw, inner: str, stored: str, at: str) -> tuple[str, str]:
    """A read of `A`: of the element stored to, or of another."""
    return (stored, at) if draw.chance(0.35) else draw.element("A", inner)


def _assemble(begin: str, heads: list[str], body: list[str], indent: int) -> str:
    lines = [" " * (indent + 4 * depth) + head for depth, head in enumerate(heads)]
    lines += [" " * (indent + 4 * len(heads)) + line for line in body]
    return begin + "\n".join(lines) + "\n"
