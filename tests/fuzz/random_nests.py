"""Random nests: restructured, they compute the bytes that they compute as written.

    python -m tests.fuzz.random_nests --nests 2000 --seed 1

Rows ``[i]`` of the arrays that a nest stores to belong to one iteration, so that the parallel loop's
iterations are independent; everything else is up to the generator: inner loops with all sorts of bounds,
imperfect nests, private scalars, conditions, columns that are read again and again, roots and quotients. All
variants are run, whatever the cost model says of them, as plain Python with strips of a few iterations; each
``--compiled``-th nest is compiled by numba, too.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import math
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from unittest import mock

import numpy
from dlbrt import native

from dlbc.native.restructure import Nest, Restructured, Variant, restructure
from dlbc.native.restructure import sinking as sunk

searched_module = importlib.import_module("dlbc.native.restructure.restructure")
inner_module = importlib.import_module("dlbc.native.restructure.inner_loops")

LARGEST = 9  # value of an index
SIZE = 3 * LARGEST + 6
ARRAYS = {"U": 1, "V": 1, "W": 2, "Z": 2, "A": 1, "B": 1, "X": 2, "Y": 2, "P": 1, "T": 2, "H": 1}
STORED = ("U", "V", "W", "Z")
SHARED = ("T", "H")  # by iterations that run in order
NUMBERS = ("n", "m", "f", "g")


class Writer:
    """Writes one nest."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.loops = 0
        self.names = iter("jklpqrstuvwxyz")
        self.tie = rng.random() < 0.5  # whether subscripts of stored arrays are mostly alike

    def nest(self) -> str:
        """The text of the parallel loop."""
        kind = self.rng.random()
        if kind < 0.35:
            body = self.kernel()
        elif kind < 0.6:
            body = self.pairs() if kind < 0.5 else self.rows()
        else:
            body = self.block(["i"], [], 0)
        return "\n".join(["for i in range(first, last, step):", *("    " + line for line in body)])

    def kernel(self) -> list[str]:
        """Sums of products, over the columns of a row or for one element, with statements around them."""
        outer = ["i", "j"] if self.rng.random() < 0.7 else ["i"]
        place = self.rng.choice(["a", f"{self.rng.choice('ZW')}[i, {outer[-1]}]", "U[i]"])
        lines = [f"{place} = {self.rng.choice(['0.0', '0', 'f * 0.5', 'A[i]'])}"]
        inner = [*outer, "k"]
        body = [f"{place} {self.rng.choice(['+=', '-='])} {self.product(inner)}"]
        if self.rng.random() < 0.3:
            body = [f"{place} = {self.product(inner)} - {place} * 0.5"]
        if self.rng.random() < 0.2:
            body.append(f"V[i] += {self.product(inner)}")
        if self.rng.random() < 0.3:
            body = [f"for l in range({self.bounds(inner)}):", *("    " + line for line in body)]
        lines += [f"for k in range({self.bounds(outer)}):", *("    " + line for line in body)]
        if place == "a":
            lines.append(f"Z[i, {outer[-1]}] = a")
        if len(outer) > 1:
            lines = [f"for j in range({self.bounds(['i'])}):", *("    " + line for line in lines)]
        return lines

    def pairs(self) -> list[str]:
        """Something of an iteration and each j, by its distance or a sum over k, except where they meet."""
        inner = self.rng.random() < 0.5
        indices = ["i", "j", "k"] if inner else ["i", "j"]
        temporaries = [f"d = {self.difference(indices)}", f"e = {self.difference(indices)}"]
        last = self.rng.choice(["d * e", "d / (e * e + 0.5)", "math.sqrt(d * d + e * e + 0.25) * d"])
        body = [*temporaries, f"w = {last}", f"a += w * {self.rng.choice(['d', 'B[j]', 'f'])}"]
        if self.rng.random() < 0.3:
            body.append("b -= w * e")
        if self.rng.random() < 0.5:
            body = [
                f"a {self.rng.choice(['+=', '-='])} {self.difference(indices)} * {self.difference(indices)}"
            ]
        if self.rng.random() < 0.4:
            body = [f"if {self.meeting(indices)}:", *("    " + line for line in body)]
            if self.rng.random() < 0.3:
                body += ["else:", "    a = a * 0.5"]
        ending = [self.rng.choice(["U[i] = a", "Z[i, 1] = a", "V[i] += a * b"])]
        if inner:
            place = self.rng.choice(["Z[i, j] = math.sqrt(abs(a))", "W[i, j + 1] += a", "Z[i, j] = a + b"])
            body = [
                "a = 0.0",
                f"for k in range({self.bounds(['i', 'j'])}):",
                *("    " + line for line in body),
                place,
            ]
        body = [f"for j in range({self.bounds(['i'])}):", *("    " + line for line in body)]
        if self.rng.random() < 0.2:
            again = [line.replace(" += ", " -= ") for line in body[1:]]
            body += [f"for j in range({self.bounds(['i'])}):", *again]
        return ["a = 0.0", f"b = {self.rng.choice(['0.0', '0', 'A[i]'])}", *body, *ending]

    def rows(self) -> list[str]:
        """A row that changes by one of its own elements, by way of some others."""
        place, fixed = self.rng.choice(["Z[i, j]", "W[i, j + 1]"]), self.rng.choice(["m", "2", "n - 1", "i"])
        own = f"{place[:2]}i, {fixed}]"
        other = self.rng.choice(["B[j]", "Y[m, j]", "f", f"(B[j] if j < {fixed} else A[j])"])
        lines = [f"{place} = max({place}, {own} + {other})", f"{place} += {own} * {other}"]
        lines += [f"{place} = {other} - {own} * 0.5", f"U[i] += {own} * {other}\n{place} -= {own}"]
        body = self.rng.choice(lines).splitlines()
        if self.rng.random() < 0.3:
            body = [f"if {self.meeting(['i', 'j'])}:", *("    " + line for line in body)]
        body = [f"for j in range({self.bounds(['i'])}):", *("    " + line for line in body)]
        if self.rng.random() < 0.4:
            body = ["for l in range(m, n):", *("    " + line for line in body)]
        return body

    def difference(self, indices: list[str]) -> str:
        """A difference of two elements, mostly in columns of the iteration and of another one."""
        last = self.rng.choice([*indices[1:], "0", "1", "m"])
        first = self.rng.choice([f"X[i, {last}]", f"Y[i + 1, {last}]", f"A[2 * i + {last}]", "X[i, i]"])
        other = self.rng.choice([f"X[j, {last}]", f"Y[{last}, j]", "B[j]", "A[j + 1]", f"Z[i, {last}]"])
        return f"({first} - {other})" if self.rng.random() < 0.7 else f"({other} - {first})"

    def meeting(self, indices: list[str]) -> str:
        """A condition on an index of an inner loop."""
        point = self.rng.choice(["i", "i", "i + 1", "n - i", "m", "0", "n - 1", "2"])
        test = f"{indices[-1]} {self.rng.choice(['!=', '!=', '==', '<', '<=', '>', '>='])} {point}"
        if self.rng.random() < 0.2:
            test = f"{point} {self.rng.choice(['!=', '<', '>='])} {indices[-1]}"
        if self.rng.random() < 0.15:
            other = self.rng.choice(["j % 2 == 0", "A[j] > 0.0", "j < n - 2"])
            test += f" {self.rng.choice(['and', 'or'])} {other}"
        return test

    def product(self, indices: list[str]) -> str:
        """A product as in a kernel."""
        v, w, last = self.rng.choice(indices), self.rng.choice(indices), indices[-1]
        first = self.rng.choice(["f * ", "", f"A[{last}] * ", f"X[i, {last}] * ", f"X[{v}, {last}] * "])
        places = [f"Y[{last}, {v}]", f"Y[{v}, {last}]", f"B[{last} - {w} + {LARGEST}]", f"B[{last} + {w}]"]
        places += [f"Y[{w}, {last} - i + {LARGEST}]", f"X[{v}, {last}] * B[{w} + 1]", f"B[P[{last}]]"]
        return first + self.rng.choice(places)

    def block(self, indices: list[str], scalars: list[str], depth: int) -> list[str]:
        """Some statements; ``scalars`` are those that have a value."""
        lines: list[str] = []
        for _ in range(self.rng.choice([1, 1, 2, 2, 3])):
            lines += self.statement(indices, scalars, depth)
        if depth == 0 and not self.loops:
            lines += self.loop(indices, scalars, depth)
        if scalars and self.rng.random() < 0.6:
            lines.append(f"{self.place(indices)} = {self.rng.choice(scalars)}")
        return lines

    def statement(self, indices: list[str], scalars: list[str], depth: int) -> list[str]:
        """One statement, as lines."""
        kind = self.rng.random()
        if kind < 0.45 and depth < 3 and self.loops < 5:
            return self.loop(indices, scalars, depth)
        if kind < 0.52 and depth < 3:
            test = f"{self.value(indices, scalars, 1)} > {self.rng.choice(['0.0', 'f', '1'])}"
            if self.rng.random() < 0.4:
                test = f"{self.rng.choice(indices)} % 2 == 0"
            return [f"if {test}:", *self.indented(indices, scalars, depth)]
        if kind < 0.72:
            return self.scalar(indices, scalars)
        operator = self.rng.choice(["=", "+=", "+=", "+=", "-=", "*="])
        value = self.value(indices, scalars, 2)
        return [f"{self.place(indices)} {operator} {f'0.5 * ({value})' if operator == '*=' else value}"]

    def scalar(self, indices: list[str], scalars: list[str]) -> list[str]:
        """An assignment to a scalar."""
        if scalars and self.rng.random() < 0.6:
            return [f"{self.rng.choice(scalars)} += {self.value(indices, scalars, 1)}"]
        scalar = self.rng.choice(["a", "b", "c"])
        value = self.rng.choice(["0.0", "0", self.value(indices, scalars, 2)])
        if scalar not in scalars:
            scalars.append(scalar)
        return [f"{scalar} = {value}"]

    def loop(self, indices: list[str], scalars: list[str], depth: int) -> list[str]:
        """An inner loop."""
        self.loops += 1
        variable, bounds = next(self.names), self.bounds(indices)
        return [f"for {variable} in range({bounds}):", *self.indented([*indices, variable], scalars, depth)]

    def indented(self, indices: list[str], scalars: list[str], depth: int) -> list[str]:
        """A block below a loop or a conditional; scalars that it begins have no value after it."""
        return ["    " + line for line in self.block(indices, list(scalars), depth + 1)]

    def bounds(self, indices: list[str]) -> str:
        """Bounds of a loop, whose values are not negative and not larger than the largest one."""
        v = self.rng.choice(indices)
        plain = ["n", "n", "m, n", "3", "1, 4", "n + 1", "5", "2, n - 1", "n, m"]
        triangular = [f"{v}, n", f"{v} + 1, n", f"{v}", f"{v} + 1", f"n - {v}", f"2 * {v}, n"]
        triangular += [f"max(0, n - {v}), n", f"max(0, n - {v}), {v} + 1", f"max(0, {v} - 2), n"]
        triangular += [f"{v}, {self.rng.choice(indices)}"]
        other = ["0, n, 2", "n - 1, -1, -1", "m, n, 3", f"P[{v}] // 3", f"{v} // 2, n", "1, n, 2"]
        kind = self.rng.random()
        return self.rng.choice(plain if kind < 0.5 else triangular if kind < 0.85 else other)

    def index(self, indices: list[str]) -> str:
        """A subscript."""
        v, w = self.rng.choice(indices), self.rng.choice(indices)
        last = indices[-1]
        simple = [last, last, last, v, v, f"{v} + 1", f"{last} + 2", str(self.rng.randrange(4))]
        more = [f"{v} + {w}", f"{v} - {w} + {LARGEST}", f"{LARGEST} - {v} + 1", f"2 * {v} + 1", f"P[{v}]"]
        more += [f"n - {v} + {LARGEST}", f"{last} - i + {LARGEST}", f"{v} + m"]
        return self.rng.choice(simple if self.rng.random() < 0.7 else more)

    def place(self, indices: list[str]) -> str:
        """An element that the iteration owns."""
        array = self.rng.choice(STORED)
        if ARRAYS[array] == 1:
            return f"{array}[i]"
        column = self.rng.choice(indices[1:] or indices) if self.tie else self.index(indices)
        return self.rng.choice([f"{array}[i, {column}]", f"{array}[i][{column}]"])

    def value(self, indices: list[str], scalars: list[str], depth: int) -> str:
        """A float expression."""
        kind = self.rng.random()
        if depth and kind < 0.55:
            left, right = (self.value(indices, scalars, depth - 1) for _ in range(2))
            operator = self.rng.choice(["+", "-", "*", "*"])
            return self.rng.choice([f"{left} {operator} {right}", f"{left} {operator} ({right})"])
        if depth and kind < 0.62:
            parts = [self.value(indices, scalars, depth - 1) for _ in range(3)]
            return f"({parts[0]} if {parts[1]} > {self.rng.choice(['0.25', 'g', parts[2]])} else {parts[2]})"
        if depth and kind < 0.66:
            return f"-{self.value(indices, scalars, 0)}"
        if depth and kind < 0.69:
            return f"math.sqrt(abs({self.value(indices, scalars, 0)}))"
        leaves = [
            self.load(indices),
            self.load(indices),
            self.load(indices),
            self.place(indices),
            "0.5",
            "f",
            "g",
        ]
        leaves += [*scalars, *scalars, self.rng.choice(indices), "2", "-0.0"]
        return self.rng.choice(leaves)

    def load(self, indices: list[str]) -> str:
        """An element of an array that is not stored to."""
        array = self.rng.choice(["A", "B", "X", "Y", "X", "Y"])
        subscripts = [self.index(indices) for _ in range(ARRAYS[array])]
        return f"{array}[{', '.join(subscripts)}]"


class CheckingWriter(Writer):
    """Writes one nest whose iterations leave the loop where a number is not finite, or zero."""

    def nest(self) -> str:
        """The text of the parallel loop."""
        inner = ["i", "j"]
        checks = [self.check(inner) for _ in range(self.rng.choice([1, 1, 2]))]
        body = [line for check in checks for line in check]
        body.append(f"a {self.rng.choice(['+=', '-='])} v * {self.rng.choice(['B[j]', 'f', 'X[i, 1]'])}")
        if self.rng.random() < 0.4:
            body = [f"if {self.meeting(inner)}:", *("    " + line for line in body)]
        body = ["a = 0.0", f"for j in range({self.bounds(['i'])}):", *("    " + line for line in body)]
        if self.rng.random() < 0.3:
            body += ["b = a * A[i]", "if native.not_finite(b): return i"]
        if self.rng.random() < 0.1:
            body.insert(1, "V[i] = 0.5")
        body += [self.rng.choice(["U[i] = a", "Z[i, 1] = a", "for k in range(n): W[i, k] = a * X[k, 0]"])]
        return "\n".join(["for i in range(first, last, step):", *("    " + line for line in body)])

    def check(self, indices: list[str]) -> list[str]:
        """A number, its check, and what is computed with it."""
        value = self.difference(indices)
        kind = self.rng.random()
        if kind < 0.5:
            high = self.rng.choice(["1.0", "0.05", "3.0"])
            return [f"v = numpy.sqrt({high} + {value})", "if native.not_finite(v): return i"]
        divisor = self.rng.choice([value, "A[j]", "X[j, 2]", "B[j] - 0.5"])
        return [f"d = {divisor}", "if native.is_zero(d): return i", f"v = {value} / d"]


class InOrderWriter(Writer):
    """Writes one nest whose iterations must not overlap, with statements that are not understood."""

    def nest(self) -> str:
        """The text of the parallel loop."""
        before = ["T[:, :] = 0.5", "H[:] = f", "s0 = 0", "while s0 < i % 3:", "    s0 += 1"]
        blocks = [self.block(["i"], [], 0), self.block(["i"], [], 0)]
        if self.rng.random() < 0.5:
            blocks.append(self.product_of_matrices())
        self.rng.shuffle(blocks)
        rest = [line for block in blocks[1:] for line in block]
        body = [*before, *blocks[0], "if A[i] > 0.8:", "    return", *rest]
        return "\n".join(["for i in range(first, last, step):", *("    " + line for line in body)])

    def statement(self, indices: list[str], scalars: list[str], depth: int) -> list[str]:
        """One statement, as lines."""
        if self.rng.random() < 0.06:
            return [f"H[:] = {self.value(indices, scalars, 1)}"]
        return super().statement(indices, scalars, depth)

    def product_of_matrices(self) -> list[str]:
        """Sums over an array of the iteration, as in transformations of matrices."""
        place = self.rng.choice(["Z[i, y]", "T[x, y]", "W[i, x * (x + 1) // 2 + y]"])
        return [
            "for x in range(s0, 5):",
            f"    for y in range({self.rng.choice(['x + 1', 'n', 'x, n'])}):",
            "        d = 0.0",
            f"        for z in range({self.rng.choice(['n', 's0, n', 'm, n'])}):",
            f"            d += {self.rng.choice(['T[z, x]', 'H[z]', 'X[i, z]'])} * Y[z, y]",
            f"        {place} = d",
        ]

    def place(self, indices: list[str]) -> str:
        """An element that the iteration owns, for itself or for a time."""
        array = self.rng.choice([*STORED, *SHARED, *SHARED])
        if array not in SHARED:
            return super().place(indices)
        return f"{array}[{', '.join(self.index(indices) for _ in range(ARRAYS[array]))}]"

    def bounds(self, indices: list[str]) -> str:
        """Bounds of a loop, some of them numbers that the iteration computes."""
        return self.rng.choice(["s0, n", "s0"]) if self.rng.random() < 0.2 else super().bounds(indices)


def nest_of(text: str, in_order: bool = False, may_defer: bool = False) -> Nest:
    """The nest with the text of its loop."""
    loop = ast.parse(text).body[0]
    assert isinstance(loop, ast.For)
    calls = frozenset(("math.sqrt", "abs", "max"))
    taken = frozenset(("math", "numpy", "native"))
    arrays = tuple(ARRAYS)
    return Nest(loop, "first", "last", "step", arrays, NUMBERS, calls, taken, in_order, may_defer=may_defer)


@dataclass(frozen=True)
class Run:
    """Bounds and numbers of one execution."""

    first: int
    last: int
    step: int
    n: int
    m: int
    f: float
    g: float

    @property
    def values(self) -> tuple[float, ...]:
        """The arguments behind the arrays."""
        return self.first, self.last, self.step, self.n, self.m, self.f, self.g


def random_run(rng: random.Random, step: int) -> Run:
    """Bounds for all indices from 0 to the largest; some runs have no iterations."""
    ends = rng.randrange(0, 4), rng.randrange(0, LARGEST + 1)
    first, last = ends if step > 0 else (ends[1], ends[0] - 1)
    return Run(
        first, last, step, rng.randrange(0, LARGEST), rng.randrange(0, 4), rng.choice([0.75, -1, 2]), 0.1
    )


def random_arrays(rng: random.Random) -> dict[str, numpy.ndarray]:
    """Arrays of float64, and P of indices."""
    source = numpy.random.default_rng(rng.randrange(2**30))
    made = {name: source.uniform(-1, 1, (SIZE,) * dimensions) for name, dimensions in ARRAYS.items()}
    for array in made.values():
        array[source.random(array.shape) < 0.1] = -0.0
    made["P"] = source.integers(0, 2 * LARGEST, SIZE)
    return made


def function(statements: Sequence[ast.stmt]) -> Callable[..., None]:
    """A function of the arrays, the bounds and the numbers."""
    body = "\n".join("    " + line for each in statements for line in ast.unparse(each).splitlines())
    made: dict[str, Callable[..., None]] = {"numpy": numpy, "math": math, "native": native}  # type: ignore[dict-item]
    exec(f"def chunk({', '.join(ARRAYS)}, first, last, step, {', '.join(NUMBERS)}):\n{body}", made)
    return made["chunk"]


def outcome(run: Callable[..., object], arrays: dict[str, numpy.ndarray], values: Run) -> dict[str, bytes]:
    """The bytes of all arrays after the execution, and what it returns."""
    own = {name: array.copy() for name, array in arrays.items()}
    with numpy.errstate(all="ignore"):
        returned = run(*own.values(), *values.values)
    return {name: array.tobytes() for name, array in own.items()} | {"": repr(returned).encode()}


@contextmanager
def eager(width: int, unroll: int) -> Iterator[None]:
    """All variants are taken, with strips of this width and this number of statements put into each other."""
    with (
        mock.patch.multiple(searched_module, GAIN=math.inf, _MOST=9, _UNROLL_STRIPS=unroll),
        mock.patch.multiple(inner_module, GAIN=math.inf, _UNROLL=unroll),
        mock.patch.multiple(sunk, WIDTH=width, NARROW=max(width - 1, 2), _WIDE=width + 1),
    ):
        yield


def all_variants(nest: Nest, width: int, unroll: int) -> Restructured:
    """All variants of a nest, with strips of this width."""
    with eager(width, unroll):
        return restructure(nest)


def differences(
    rng: random.Random, nest: Nest, variant: Variant, compile_: Callable[..., object]
) -> Iterator[str]:
    """Executions of the variant that differ from the nest as written."""
    written, other = (compile_(function(each)) for each in ([nest.loop], variant.body))
    arrays = random_arrays(rng)
    for step in (1, 1, 1) if variant.strip > 1 else (1, 2, -1, 3, -2):
        run = random_run(rng, step)
        expected = outcome(written, arrays, run)
        try:
            found = outcome(other, arrays, run)
        except Exception as error:
            yield f"{run}: {error!r}"
            continue
        if expected != found:
            wrong = [name or "result" for name in expected if expected[name] != found[name]]
            yield f"{run}: {', '.join(wrong)}"


def failures(
    seed: int, number: int, compile_: Callable[..., object] = lambda f: f
) -> Iterator[tuple[int, str]]:
    """The variants of the nest with this number, each with a report that is empty if it is right."""
    rng = random.Random(f"{seed} {number}")
    in_order, may_defer = number % 4 == 3 or number % 8 == 1, number % 8 == 1
    text = (CheckingWriter if may_defer else InOrderWriter if in_order else Writer)(rng).nest()
    nest = nest_of(text, in_order, may_defer)
    for variant in all_variants(nest, rng.choice([2, 3, 4, 256]), rng.choice([2, 2, 3, 4])).variants:
        report = [*differences(rng, nest, variant, compile_)]
        made = "\n".join(map(ast.unparse, variant.body))
        yield number, "\n".join([f"nest {number}", text, *variant.what, made, *report]) if report else ""


def main() -> None:
    """Run many nests, and print how many variants there were and which ones differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--nests", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--compiled", type=int, default=40, help="compile each nest whose number this divides"
    )
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for number in range(options.nests):
        compilers = [("plain", lambda f: f)]
        if number % options.compiled == 0:
            compilers.append(("compiled", _compiled))
        for kind, compile_ in compilers:
            reports = [report for _, report in failures(options.seed, number, compile_)]
            counts[f"{kind} nests with variants"] += bool(reports)
            counts[f"{kind} variants"] += len(reports)
            for report in filter(None, reports):
                counts[f"{kind} variants that differ"] += 1
                print(report, end="\n\n", flush=True)
    print(f"{options.nests} nests, seed {options.seed}: {dict(counts)}")


def _compiled(run: Callable[..., None]) -> object:
    from dlbrt.native.compiler import load_numba

    numba = load_numba()
    return numba.njit(nogil=True, error_model="numpy")(run)


if __name__ == "__main__":
    main()
