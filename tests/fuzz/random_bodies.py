"""Random bodies: what a chunk function does in some iterations is what Python does in them.

    python -m tests.fuzz.random_bodies --bodies 2000 --seed 1

Bodies have subscripts, bounds and slices of all kinds, arrays of their own, and numbers that they compute;
the arguments put many of them out of range. A chunk function runs as plain Python, where a subscript out of
range and a division by zero raise: no form of it may raise. It returns the first iteration that it leaves to
Python, which then does this one, whatever the function has stored of it; after that all arrays are as if
Python had done all iterations so far.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import indent
from typing import Any

import dlbrt
import dlbrt.native
import numpy as np

from dlbc.emit.build_chunk import chunk_text
from dlbc.ir.chunk import CHUNK, RUNTIME, ChunkPlan
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import explain

FUNCTIONS = """
def lessened(x):
    x -= 0.5
    return x


def bounded(x, y):
    if x > y:
        x = y
    return x


def halved(x, y):
    count = 0
    while count < 3:
        x = x / 2 + y
        count += 1
    return x


def first_beyond(x, y):
    for k in range(3):
        y -= k * 0.25
        if x > y:
            return x
    return y
"""
NAMES = ("A", "Z", "B", "P", "n", "m")
STORED = ("Z",)
Arguments = dict[str, Any]


class Writer:
    """Writes one body over the index i."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.loops = iter("jlpqrvw")
        self.arrays: dict[str, int] = {}
        self.numbers = ["i"]

    def body(self) -> list[str]:
        """Its lines."""
        lines: list[str] = []
        for _ in range(self.rng.randrange(1, 4)):
            lines += self.rng.choice([self.computed, self.array])()
        for _ in range(self.rng.randrange(1, 4)):
            lines += self.statement(["i"], 0)
        return [*lines, f"Z[i, 0] {self.rng.choice(['=', '+='])} {self.value(['i'])}"]

    def computed(self) -> list[str]:
        """A number that the iteration computes."""
        if "k" in self.numbers:
            return []
        self.numbers.append("k")
        growing = ["k = 0", "while k * (k + 1) // 2 < i:", "    k += 1"]
        return self.rng.choice([["k = P[i]"], ["k = int(P[i])"], growing, [f"k = {self.form(['i'])}"]])

    def array(self) -> list[str]:
        """An array of the iteration."""
        if len(self.arrays) == 2:
            return []
        name, axes = ("t", 1) if "t" not in self.arrays else ("u", self.rng.choice([1, 2]))
        lengths = [self.length() for _ in range(axes)]
        shape = lengths[0] if axes == 1 else f"({', '.join(lengths)})"
        made = [f"np.zeros({shape})", f"np.full({shape}, 0.5)", f"np.ones({shape}, dtype=float)"]
        if axes == 1 and self.arrays:
            made.append("np.zeros_like(t)")
        if axes == 2:
            made.append("np.ones_like(A)")
        self.arrays[name] = axes
        return [f"{name} = {self.rng.choice(made)}"]

    def length(self) -> str:
        """The length of an axis."""
        return self.rng.choice(
            ["n", "n", "m", "i + 1", "n - i", "3", "2 * n", "m + 1", self.rng.choice(self.numbers)]
        )

    def statement(self, indices: list[str], depth: int) -> list[str]:
        """One statement."""
        kind = self.rng.random()
        if kind < 0.45 and depth < 3:
            variable = next(self.loops, None)
            if variable is not None:
                inner = [
                    line
                    for _ in range(self.rng.choice([1, 1, 2]))
                    for line in self.statement([*indices, variable], depth + 1)
                ]
                return [
                    f"for {variable} in range({self.bounds(indices)}):",
                    *("    " + line for line in inner),
                ]
        if kind < 0.55 and depth < 3:
            test = self.rng.choice([f"{self.form(indices)} > 1", f"{self.value(indices)} > 0.3"])
            return [f"if {test}:", *("    " + line for line in self.statement(indices, depth + 1))]
        if kind < 0.7:
            return self.part(indices)
        return [f"{self.place(indices)} {self.rng.choice(['=', '+=', '-=', '*='])} {self.value(indices)}"]

    def part(self, indices: list[str]) -> list[str]:
        """A store to a part of an array."""
        cut = self.rng.choice(
            [":", "1:", ":-1", "1:-1", f"{self.form(indices)}:", f":{self.form(indices)}", "m:n", "2:m"]
        )
        target = self.rng.choice(
            [f"Z[i, {cut}]", *(f"{a}[{cut}]" for a, axes in self.arrays.items() if axes == 1)]
        )
        values = [
            self.value(indices),
            f"A[i, {cut}] * 0.5",
            f"{target} + B[{cut}]",
            f"{target} / 2 - {target}",
        ]
        values += [f"{a}" for a, axes in self.arrays.items() if axes == 1]
        return [f"{target} {self.rng.choice(['=', '+=', '-='])} {self.rng.choice(values)}"]

    def bounds(self, indices: list[str]) -> str:
        """The bounds of a loop."""
        plain = ["n", "m", "n - 1", "1, n", "n - 1, -1, -1", "0, n, 2", "m, n", "len(B)", "A.shape[1]"]
        plain += [f"len({a})" for a in self.arrays] + [f"{a}.shape[0]" for a in self.arrays]
        form = self.form(indices)
        return self.rng.choice([*plain, form, form, f"{form}, n", f"max(0, {form}), m", f"min({form}, n)"])

    def form(self, indices: list[str]) -> str:
        """An integer."""
        v, w = self.rng.choice([*indices, *self.numbers]), self.rng.choice(indices)
        forms = [
            v,
            v,
            v,
            v,
            f"{v} + 1",
            f"{v} - 1",
            f"n - 1 - {v}",
            f"{v} + {w}",
            f"{v} - {w}",
            f"2 * {v}",
            "0",
            "1",
            "m",
        ]
        forms += [
            f"{v} * ({v} + 1) // 2",
            f"{v} * ({v} - 1) // 2 + {w}",
            f"{v} // 2",
            f"({v} + {w}) % n",
            f"{v} % m",
        ]
        forms += [f"{v} - {v} // 2", f"({v} + {w}) // 3", f"{v} % 3 + {w}", f"{v} * {w}"]
        forms += [
            f"{v} << 1",
            f"{v} >> {w}",
            f"(1 << {v}) % 5",
            f"({v} ^ {w}) & 3",
            f"~{v} + 3",
            f"{v} | {w}",
        ]
        return self.rng.choice(forms)

    def subscript(self, indices: list[str]) -> str:
        """A subscript."""
        if self.rng.random() < 0.1:
            return self.rng.choice(["-1", "P[i]", f"P[{self.rng.choice(indices)}]"])
        return self.rng.choice(indices) if self.rng.random() < 0.5 else self.form(indices)

    def place(self, indices: list[str]) -> str:
        """An element that may be stored to."""
        places = [f"Z[i, {self.subscript(indices)}]"]
        for array, axes in self.arrays.items():
            places.append(f"{array}[{', '.join(self.subscript(indices) for _ in range(axes))}]")
        return self.rng.choice(places)

    def value(self, indices: list[str]) -> str:
        """A float."""
        one = [self.place(indices), f"A[{self.subscript(indices)}, {self.subscript(indices)}]", "0.25"]
        one += [f"B[{self.subscript(indices)}]", self.rng.choice(indices)]
        left, right = self.rng.choice(one), self.rng.choice(one)
        whole = self.rng.choice(
            [left, f"{left} * {right}", f"{left} + {right}", f"{left} - 1 / (1.5 + {right})"]
        )
        if self.rng.random() < 0.1:
            function = self.rng.choice(["bounded", "halved", "first_beyond"])
            whole = self.rng.choice([f"lessened({left})", f"{function}({left}, {right})"])
        if self.rng.random() < 0.05:  # longer than a line
            more = [
                f"({self.rng.choice(one)} {self.rng.choice('+-*')} {self.rng.choice(one)})" for _ in range(6)
            ]
            whole = " + ".join([whole, *more])
        return f"({whole})"


@dataclass(frozen=True)
class Case:
    """A body, and the chunk functions that it becomes."""

    text: str
    chunk: ChunkPlan


def case(rng: random.Random) -> Case | None:
    """A random body; None if it is not compiled."""
    body = Writer(rng).body()
    loop = "\n\ndef f(A, Z, B, P, n, m):\n    # dlb: parallel, jit\n    for i in range(n):\n"
    head = f"import numpy as np\n\n{FUNCTIONS}{loop}"
    source, _ = decode_source("case.py", (head + indent("\n".join(body), 8 * " ") + "\n").encode())
    reports = explain(source).reports
    plan = reports[0].plan if reports else None
    return None if plan is None or plan.chunk is None else Case("\n".join(body), plan.chunk)


def arguments(rng: random.Random) -> Arguments:
    """Arrays and numbers; columns suffice for many subscripts, or for few."""
    n, m = rng.randrange(1, 7), rng.randrange(-1, 6)
    columns = rng.choice([n, n + 3, 2 * n + 8, 40])
    source = np.random.default_rng(rng.randrange(2**30))
    made: Arguments = {
        "A": source.uniform(-1, 1, (columns, columns)),
        "Z": source.uniform(-1, 1, (n, columns)),
    }
    made |= {"B": source.uniform(-1, 1, columns), "P": source.integers(-1, 5, columns), "n": n, "m": m}
    return made


def python(case: Case) -> Callable[..., None]:
    """One iteration, by Python."""
    names: dict[str, Any] = {"np": np}
    exec(FUNCTIONS, names)
    exec(f"def one(i, {', '.join(NAMES)}):\n{indent(case.text, '    ')}", names)
    return names["one"]  # type: ignore[no-any-return]


def chunk_functions(case: Case) -> list[tuple[str, Callable[..., int]]]:
    """The chunk functions, as plain Python."""
    made = []
    for form in case.chunk.forms:
        names: dict[str, Any] = {"np": np, "dlbrt": dlbrt}
        text = chunk_text(form).replace(RUNTIME, "dlbrt")
        exec(text, names)
        made.append((text, names[CHUNK]))
    return made


def fits(case: Case, values: Arguments) -> bool:
    """Whether all subscripts of all iterations are in range."""
    low, high = case.chunk.bounds
    known = {"dlbrt": dlbrt, **values, low: 0, high: values["n"] - 1}
    return all(eval(test.replace(RUNTIME, "dlbrt"), known) for test in case.chunk.fits)


def _copied(values: Arguments) -> Arguments:
    return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def _outcome(one: Callable[..., None], values: Arguments, iterations: Sequence[int]) -> str:
    """Has Python do iterations; returns the exception with which they end."""
    try:
        for i in iterations:
            one(i, *values.values())
    except Exception as error:
        return f"{i}: {type(error).__name__}: {error}"
    return ""


def wrong(case: Case, values: Arguments) -> tuple[str, int]:
    """What is wrong with the chunk functions for some arguments, and how many iterations they have done."""
    one, done = python(case), 0
    for text, function in chunk_functions(case):
        own = _copied(values)
        given = [own[name] for _, name in case.chunk.parameters]
        try:
            stop = function(0, own["n"], 1, None, *given)
        except Exception as error:
            return f"{text}\nraises {type(error).__name__}: {error}", done
        done += stop
        expected = _copied(values)
        problem = _outcome(one, expected, range(min(stop + 1, own["n"])))
        found = _outcome(one, own, range(stop, min(stop + 1, own["n"])))
        if problem != found:
            return f"{text}\nends with {found or 'nothing'}, Python with {problem or 'nothing'}", done
        rows = stop if problem else own["n"]
        if any(own[a][:rows].tobytes() != expected[a][:rows].tobytes() for a in STORED):
            return f"{text}\nstores something else by iteration {stop}", done
    return "", done


def failure(seed: int, number: int, counts: Counter[str]) -> str:
    """What is wrong with the body of this number; empty if nothing is."""
    rng = random.Random(f"{seed} {number}")
    made = case(rng)
    counts["bodies"] += 1
    if made is None:
        return ""
    counts["compiled"] += 1
    counts["restructured"] += len(made.chunk.forms) > 1
    with np.errstate(all="ignore"):
        for _ in range(12):
            values = arguments(rng)
            counts["runs"] += 1
            if not fits(made, values):
                continue
            problem, done = wrong(made, values)
            counts["runs in range"] += 1
            counts["iterations done"] += done
            if problem:
                numbers = {name: values[name] for name in ("n", "m", "P")}
                return f"body {number}, {numbers}:\n{made.text}\n\n{problem}"
    return ""


def main() -> None:
    """Run many bodies, and print those whose chunk functions are wrong."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--bodies", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for number in range(options.bodies):
        problem = failure(options.seed, number, counts)
        counts["wrong"] += bool(problem)
        if problem:
            print(problem, end="\n\n", flush=True)
    print(f"seed {options.seed}: {dict(counts)}")


if __name__ == "__main__":
    main()
