"""Random legal programs over the constructs of the language page, section 2.

    python -m tests.fuzz.legal_programs

A program is a function with one loop, whose body is made of some constructs with names of their own, so that
it is legal if each of them is. `tests.fuzz.differential` runs programs that dlbc accepts. The command prints
how many programs with one construct alone, one for each iteration space, are accepted.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dlbc.diagnostics.diagnostic import has_errors
from dlbc.parse.read_source import read_source
from dlbc.pipeline import check

HEAD = """import numpy as np
from collections import Counter, defaultdict


class Body:
    def __init__(self, x):
        self.x, self.n = x, 0

    def move(self, dt):
        self.x += dt
        self.n += 1


class Grid:
    def __init__(self, n):
        self.A, self.n, self.total, self.items = np.arange(1.0 * n), n, 0.5, []

    def cell(self, i):
        self.A[i] = self.A[i] * 0.5 + i


def update(u, i):
    u[i] = u[i] + 2 * i


def shown(value):
    if isinstance(value, np.ndarray):
        held = value.strides if value.size else (), value.flags.writeable
        return value.dtype.str, value.shape, held, value.tobytes().hex()
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    if isinstance(value, dict):
        return [(key, shown(each)) for key, each in value.items()]
    if isinstance(value, set):
        return list(value)
    return vars(value) if isinstance(value, Body) else value
"""


@dataclass(frozen=True)
class Construct:
    """Statements before the loop and in it, and the values to show afterwards; ``@`` stands for a number.

    ``n`` is the number of iterations, ``i`` counts them from 0 and is the loop's own index. ``given`` is a
    sequence of another kind in each call.
    """

    name: str
    before: Sequence[str]
    body: Sequence[str]
    after: Sequence[str]


def _construct(name: str, before: str, body: str, after: str) -> Construct:
    return Construct(name, before.splitlines(), body.splitlines(), after.split(";"))


CONSTRUCTS = [
    _construct("A[i]", "A@ = np.arange(1.0 * n)", "A@[i] = A@[i] * 3 + i", "A@"),
    _construct("A[i, :]", "A@ = np.ones((n, 3))", "A@[i, :] *= i + 1", "A@"),
    _construct("A[:, i]", "A@ = np.ones((3, n))", "A@[:, i] += i", "A@"),
    _construct("A[..., i]", "A@ = np.ones((2, 3, n))", "A@[..., i] += i", "A@"),
    _construct("list[i]", "L@ = [0] * n", "L@[i] = (i, str(i))", "L@"),
    _construct("strided rows", "L@ = [0] * n", "L@[i] = (np.arange(9.0) + i)[::2]", "L@"),
    _construct("turned rows", "d@ = {}", "d@[i] = np.full((3, 4), i * 0.5).T[1:]", "d@"),
    _construct("list[i][j]", "L@ = [[0, 0] for _ in range(n)]", "L@[i][1] = i", "L@"),
    _construct("A[2*i+1]", "A@ = np.zeros(2 * n + 2)", "A@[2 * i + 1] = i\nA@[2 * i] = -i", "A@"),
    _construct("A[n-1-i]", "A@ = np.zeros(n)", "A@[n - 1 - i] = i", "A@"),
    _construct("halo", "A@ = np.arange(n + 2.0); B@ = np.zeros(n)", "B@[i] = A@[i] + A@[i + 2]", "B@"),
    _construct("self.A[i]", "g@ = Grid(n)", "g@.A[i] = i * 0.25", "g@.A"),
    _construct("method store", "g@ = Grid(n)", "g@.cell(i)", "g@.A"),
    _construct("function store", "u@ = np.ones(n)", "update(u@, i)", "u@"),
    _construct("key store", "s@ = {'v': np.zeros(n)}", "s@['v'][i] = i + 0.5", "s@"),
    _construct("layers[1][i]", "y@ = [np.zeros(n), np.zeros(n)]", "y@[1][i] = i + 0.5", "y@"),
    _construct("field store", "r@ = np.zeros(n, [('x', 'f8'), ('k', 'i4')])", "r@['x'][i] = i", "r@"),
    _construct("z.real[i]", "z@ = np.zeros(n, complex)", "z@.real[i] = i\nz@.imag[i] = -i", "z@"),
    _construct("flat", "f@ = np.zeros(n * 5)", "for x@ in range(5):\n    f@[i * 5 + x@] = i - x@", "f@"),
    _construct("segment", "f@ = np.arange(n * 4.0)", "f@[i * 4:(i + 1) * 4] *= 2", "f@"),
    _construct("A[k//m, k%m]", "q@ = np.zeros((n, 4))", "q@[i // 4, i % 4] = i", "q@"),
    _construct("rows by data", "p@ = sorted(range(n), key=str)\nA@ = np.zeros(n)", "A@[p@[i]] = i", "A@"),
    _construct("item attribute", "b@ = [Body(k) for k in range(n)]", "b@[i].x += 2", "b@"),
    _construct("item method", "b@ = [Body(k) for k in range(n)]", "b@[i].move(0.5)", "b@"),
    _construct("item list", "b@ = [[] for _ in range(n)]", "b@[i].append(i)", "b@"),
    _construct("item dict", "b@ = [{'n': 0} for _ in range(n)]", "b@[i]['n'] += i", "b@"),
    _construct("row view", "A@ = np.ones((n, 4))", "row@ = A@[i]\nrow@ /= row@.sum() + i", "A@"),
    _construct("sum", "t@ = 0.1", "t@ += i * 0.3", "t@"),
    _construct("several updates", "t@ = 0.1", "for k@ in range(i % 3):\n    t@ += i * 0.3", ""),
    _construct("several differences", "t@ = 0.1", "for k@ in range(i % 3):\n    t@ -= i * 0.3", "t@"),
    _construct("several maxima", "t@ = 0.1", "for k@ in 3, 7:\n    t@ = max(t@, i * k@ % 11 / 2)", "t@"),
    _construct("product", "t@ = 1.0", "t@ *= 1.0 + i / 100", "t@"),
    _construct("max", "t@ = -1.0", "t@ = max(t@, (i * 37) % 11)", "t@"),
    _construct("min by if", "t@, w@ = 99, 0", "e@ = i * 37 % 11\nif e@ < t@:\n    t@, w@ = e@, i", "t@;w@"),
    _construct("or", "t@ = False", "t@ = t@ or i == 7", "t@"),
    _construct("histogram", "h@ = np.zeros(5, int)", "h@[i * i % 5] += 1", "h@"),
    _construct("dict counts", "h@ = {}", "h@[i % 3] = h@.get(i % 3, 0) + 1", "h@"),
    _construct("text sum", "t@ = ''", "t@ += str(i)", "t@"),
    _construct("self.total", "g@ = Grid(n)", "g@.total += i * 0.3", "g@.total"),
    _construct("self.items", "g@ = Grid(n)", "g@.items.append(i)", "g@.items"),
    _construct("append", "c@ = []", "c@.append(i * 2)", "c@"),
    _construct("append if", "c@ = []", "if i % 3 == 1:\n    c@.append((i, [i]))", "c@"),
    _construct("extend", "c@ = []", "c@.extend([i] * (i % 3))", "c@"),
    _construct("d[k] =", "d@ = {}", "d@[i % 7] = i", "d@"),
    _construct("d.update", "d@ = {}", "d@.update({str(i): i})", "d@"),
    _construct("set.add", "c@ = set()", "c@.add(i % 5)", "c@"),
    _construct("set.update", "c@ = {7}", "c@.update({i * 33, i * 8})", "c@"),
    _construct("set |=", "c@ = {7}", "c@ |= {i * 33, i * 8} - {i}", "c@"),
    _construct("item set", "b@ = [{k * j for j in range(k)} for k in range(n)]", "b@[i] ^= {i, 7}", "b@"),
    _construct("order of a set", "s@ = set(range(n)) - set(range(5))\nL@ = [0] * n", "L@[i] = [*s@]", "L@"),
    _construct("groups", "d@ = defaultdict(list)", "d@[i % 3].append(i)", "d@"),
    _construct("made groups", "d@ = {}", "d@.setdefault(i % 3, [])\nd@[i % 3].append(i)", "d@"),
    _construct("stored groups", "d@ = {}", "d@[i % 4] = [i]\nd@[i % 4].append(-i)", "d@"),
    _construct("colours", "A@ = np.arange(n + 2.0)\nk@ = len(given) % 3",
               "if (i + k@) % 2 == k@:\n    A@[i + 1] = A@[i] - A@[i + 2]", "A@"),
    _construct("colour of any kind", "A@ = np.arange(n + 1.0)\nk@ = given[0] if len(given) else 1",
               "if i % 2 != k@ or A@[i] > 900:\n    pass\nelse:\n    A@[i] = A@[i + 1]", "A@"),
    _construct("for else", "A@ = np.zeros(n)",
               "for x@ in range(2, i):\n    if i % x@ == 0:\n        break\nelse:\n    A@[i] = i", "A@"),
    _construct("given", "L@ = [0] * n", "L@[i] = given[i % len(given)]", "L@"),
    _construct("given numbers", "A@ = np.zeros(n)", "A@[i] = float(given[i % len(given)]) * n", "A@"),
    _construct("fixed parts", "R@ = np.arange(n + 2.0)\nR@.flags.writeable = False\nc@ = []",
               "c@.append(R@[i : i + 2])", "c@"),
    _construct("setdefault", "d@ = {}", "d@.setdefault(i % 3, []).append(i)", "d@"),
    _construct("Counter.update", "c@ = Counter()", "c@.update([i % 3])", "c@"),
    _construct("print", "", "print('at', i)", ""),
    _construct("temporary", "", "v@ = i * i", "v@ if n else None"),
    _construct("some temporary", "v@ = None", "if i % 4 == 2:\n    v@ = i", "v@"),
    _construct("while", "A@ = np.zeros(n)", "k@ = i\nwhile k@ > 2:\n    k@ //= 2\nA@[i] = k@", "A@"),
    _construct("try", "A@ = np.ones(n)", "try:\n    A@[i] = 1 // (i % 3)\nexcept Exception:\n    pass", "A@"),
    _construct("comprehension", "A@ = np.zeros(n)", "A@[i] = sum(k * i for k in range(i % 5))", "A@"),
    _construct("local function", "A@ = np.zeros(n)", "f@ = lambda x: x * i\nA@[i] = f@(2)", "A@"),
]  # fmt: skip

#: How the loop runs over 0..n-1, with what stands before it.
SPACES = [
    *("range(n)", "range(0, n, 1)", "range(n)", "reversed(range(n))", "range(n - 1, -1, -1)"),
    *("numbers", "numbers[:]"),
]
CLAUSES = ["", ", BLOCK", ", CYCLIC", ", nofold", ", schedule(none)", ", cost(i + 1)"]
AROUND = [
    *("", "", "", "if n >= 0:", "with np.errstate(all='ignore'):", "for again in range(2):", "try:"),
    *("# dlb: iterate\nfor again in range(3):", "# dlb: iterate\nfor again in range(4):"),
]

#: What calls give, of which a loop so gets other kinds from run to run.
GIVEN = [
    "np.arange(5.0)",
    "np.arange(4)",
    "[1.5, 2, 3]",
    "(7, 2.5)",
    "[2.0] * 3",
    "np.array([1, 2.5], object)",
]


STRATEGIES = [
    *("none", "GCDLB", "GDDLB", "LCDLB", "LDDLB", "diffusion", "auto"),
    *("SS", "GSS", "FAC2", "AF", "steal"),
]


@dataclass(frozen=True)
class Program:
    """The text of one function, and the statements that call it."""

    text: str
    calls: str


def program(number: int, chosen: Sequence[Construct], space: str, rng: random.Random) -> Program:
    """The function ``p<number>``, whose loop has these constructs; the rest is random."""
    lines, body, values = ["numbers = list(range(n))"], [], []
    for place, construct in enumerate(chosen):
        mark = f"{number}_{place}"
        lines += [line.replace("@", mark) for line in construct.before]
        body += [line.replace("@", mark) for line in construct.body]
        values += [value.replace("@", mark) for value in construct.after if value]
    if rng.random() < 0.2:
        body.insert(0, "if i == bad:\n    raise ValueError(f'bad {i}')")
    around = rng.choice(AROUND)
    if "again" in around and rng.random() < 0.4:
        space = "range(again, n)"
    loop = [f"# dlb: parallel{rng.choice(CLAUSES)}", f"for i in {space}:"]
    loop += [f"    {line}" for text in body for line in text.splitlines()]
    if around:
        loop = [*around.splitlines(), *(f"    {line}" for line in loop)]
    if around == "try:":
        loop += ["except ArithmeticError:", "    pass"]
    text = "\n".join(f"    {line}" for line in (*lines, *loop, f"return shown([{', '.join(values)}])"))
    calls = "".join(called(number, rng) for _ in range(rng.randint(2, 4)))
    return Program(f"def p{number}(n, bad, given):\n{text}\n", calls)


def called(number: int, rng: random.Random) -> str:
    """The statements that run a program, some of them with an iteration that fails."""
    n, bad = rng.choice([0, 1, 2, 5, 13, 40]), rng.choice([-1, -1, 3, 17])
    return (
        f"try:\n    print({number}, p{number}({n}, {bad}, {rng.choice(GIVEN)}))\n"
        f"except Exception as error:\n    print({number}, type(error).__name__, error)\n"
    )


def is_accepted(text: str, directory: Path) -> bool:
    """Whether dlbc takes the loops of a file."""
    path = directory / "one.py"
    path.write_text(text)
    source, problems = read_source(str(path))
    return not (problems or has_errors(check(source)))


def accepted(count: int, seed: int, directory: Path) -> Iterator[Program]:
    """The accepted ones of so many programs."""
    rng = random.Random(seed)
    for number in range(count):
        found = program(number, rng.sample(CONSTRUCTS, rng.randint(1, 3)), rng.choice(SPACES), rng)
        if is_accepted(f"{HEAD}\n\n{found.text}", directory):
            yield found


def files(programs: Sequence[Program], directory: Path) -> Iterator[str]:
    """Texts of files that hold the programs; one whose programs are only accepted apart is cut in halves."""
    texts = [part for found in programs for part in ("\n\n", found.text)]
    text = "".join([HEAD, *texts, "\n\n", *(found.calls for found in programs)])
    if len(programs) == 1 or is_accepted(text, directory):
        yield text
        return
    half = len(programs) // 2
    yield from files(programs[:half], directory)
    yield from files(programs[half:], directory)


def show_recall(directory: Path) -> None:
    """Print for each construct alone how many iteration spaces it is accepted with."""
    print("| construct | iteration spaces | accepted |\n| --- | --- | --- |")
    for construct in CONSTRUCTS:
        programs = [program(0, [construct], space, random.Random(5)) for space in dict.fromkeys(SPACES)]
        taken = sum(is_accepted(f"{HEAD}\n\n{found.text}", directory) for found in programs)
        print(f"| `{construct.name}` | {len(programs)} | {taken} |", flush=True)


def main() -> None:
    """Print how much of the language page is accepted."""
    argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    ).parse_args()
    with tempfile.TemporaryDirectory() as name:
        show_recall(Path(name))


if __name__ == "__main__":
    main()
