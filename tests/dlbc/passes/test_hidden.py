"""What runs, or is shared, without being named: refused where it has an effect, taken where it has none."""

from __future__ import annotations

import pytest

from dlbc.ir.loop import ProofStatus
from tests.dlbc.passes.planning import codes_of, plan_of, results_of, table


def program(before: str, body: str) -> str:
    head = "import numpy as np\nout = [0] * n\n"
    return f"{head}{before}# dlb: parallel\nfor i in range(n):\n    {body}\n"


NOTE = "seen = []\ndef note(x):\n    seen.append(x)\n    return x\n"
OBJECT = "class C:\n    def {}:\n        self.n += 1\n        return self.n\nc = C()\n"
CACHE = "import functools\n@functools.cache\ndef f(k):\n    {}\n"
PROPERTY = "class C:\n    @property\n    def p(self):\n        {}\nc = C()\n"
MISSING = "seen = []\nclass D(dict):\n    def __missing__(self, k):\n        seen.append(k)\nf = D()\n"
READS = "from collections import defaultdict\nd = defaultdict(int)\n"

REFUSED = [
    ("a mutable default", "def f(x, seen=[]):\n    seen.append(x)\n", "out[i] = f(i)", "DLB409"),
    ("a mutable keyword default", "def f(x, *, seen={}):\n    seen[x] = 1\n", "out[i] = f(i)", "DLB409"),
    ("a function in a list", NOTE + "fs = [note]\n", "out[i] = fs[0](i)", "DLB409"),
    ("a lambda in a list", "seen = []\nfs = [lambda x: seen.append(x)]\n", "out[i] = fs[0](i)", "DLB409"),
    ("a function out of a table", NOTE + "fs = {'a': note}\n", "f = fs.get('a'); out[i] = f(i)", "DLB409"),
    ("a function under another name", NOTE + "f, g = note, note\n", "out[i] = f(i)", "DLB409"),
    ("a function handed to map", NOTE, "out[i] = list(map(note, [i]))", "DLB409"),
    ("an identity", "k = {}\n", "out[i] = id(k)", "DLB428"),
    ("an identity from a function", "k = {}\ndef f(x):\n    return id(x)\n", "out[i] = f(k)", "DLB428"),
    ("a key that is missing in some dictionary", MISSING, "out[i] = f[i]", "DLB409"),
    ("a decorated function", NOTE + "def d(f):\n    def g(x):\n        return note(f(x))\n    return g\n"
     "@d\ndef f(x):\n    return x\n", "out[i] = f(i)", "DLB409"),
    ("a partial function", "import functools\nseen = []\ndef f(xs, x):\n    xs.append(x)\n"
     "p = functools.partial(f, seen)\n", "out[i] = p(i)", "DLB419"),
    ("a bound method in a list", "seen = []\nfs = [seen.append]\n", "out[i] = fs[0](i)", "DLB418"),
    ("a bound method of two names", "seen = []\nf, g = seen.append, 1\n", "out[i] = f(i)", "DLB418"),
    ("a method under the name print", "seen = []\nprint, g = seen.append, print\n", "print(i)", "DLB418"),
    ("a function under the name next", "seen = []\nnext, g = lambda x: seen.append(x), 1\n", "next(i)",
     "DLB409"),
    ("a library's function by its own name", "from random import shuffle\nfs = [shuffle]\n",
     "out[i] = fs[0](xs)", "DLB418"),
    ("a draw under another name", "f = np.random.default_rng(1).random\n", "out[i] = f()", "DLB405"),
    ("a method by text", OBJECT.format("f(self)"), "out[i] = getattr(c, 'f')()", "DLB419"),
    ("a property", PROPERTY.format("self.n += 1\n        return self.n"), "out[i] = c.p", "DLB324"),
    ("subscription", OBJECT.format("__getitem__(self, k)"), "out[i] = c[i]", "DLB419"),
    ("addition", OBJECT.format("__add__(self, k)"), "out[i] = c + i", "DLB419"),
    ("iteration", OBJECT.format("__iter__(self)"), "out[i] = [x for x in c]", "DLB410"),
    ("an object that is called", OBJECT.format("__call__(self, k)"), "out[i] = list(map(c, [i]))", "DLB419"),
    ("a context manager", OBJECT.format("__enter__(self)"), "with c: out[i] = 1", "DLB410"),
    ("a list of a class", "class C:\n    xs = []\n    def f(self, x):\n        self.xs.append(x)\n",
     "out[i] = C().f(i)", "DLB409"),
    ("a list that a function gives", "xs = []\ndef get():\n    return xs\ndef f(x):\n    get().append(x)\n",
     "out[i] = f(i)", "DLB409"),
    ("a counter of a closure", "def make():\n    k = 0\n    def f():\n        nonlocal k\n        k += 1\n"
     "    return f\nf = make()\n", "out[i] = f()", "DLB409"),
    ("an iterator", "it = iter(xs)\n", "out[i] = [x for x in it]", "DLB417"),
    ("a generator", "def g():\n    yield 1\nit = g()\n", "out[i] = sum(it)", "DLB417"),
    ("an iterator of itertools", "import itertools\nit = itertools.count()\n", "out[i] = next(it)", "DLB417"),
    ("an iterator in a callee", "it = iter(xs)\ndef f():\n    return list(it)\n", "out[i] = f()", "DLB409"),
    ("a module's attribute", "import sys\n", "sys.level += 1", "DLB408"),
    ("a module's list", "import sys\n", "sys.path.append(i)", "DLB422"),
    ("another module's list", "import settings\n", "settings.paths.append(i)", "DLB422"),
    ("a name by text in a callee", "def f():\n    globals()['k'] = 1\n", "out[i] = f()", "DLB209"),
    ("a dictionary that grows", READS, "out[i] = d[i]", "DLB420"),
    ("what a cache gives", CACHE.format("return [k]"), "t = f(i); t.append(1); out[i] = len(t)", "DLB406"),
    ("a number that may be an array", "x0 = 1.5\ndef f():\n    global x0\n    x0 = np.ones(3)\n",
     "x = x0; x *= 2", "DLB315"),
    ("a number, or what another loop leaves", "x0 = 1.5\nfor x0 in [[1]]:\n    pass\n", "x = x0; x += [2]",
     "DLB315"),
    ("an array of a cache", CACHE.format("t = np.ones(k)\n    return t"), "t = f(i); t += 1", "DLB315"),
    ("a cache in a callee", CACHE.format("return [k]") + "def g(k):\n    f(k).append(k)\n", "g(i)", "DLB409"),
    ("output of a cached function", CACHE.format("print(k)"), "out[i] = f(i)", "DLB409"),
    ("records of a cached function", "import logging\n" + CACHE.format("logging.info(k)"), "out[i] = f(i)",
     "DLB409"),
    ("the factory of a field", NOTE + "from dataclasses import dataclass, field\n@dataclass\nclass C:\n"
     "    x: int = field(default_factory=lambda: note(1))\n", "out[i] = C()", "DLB409"),
    ("a copy", "import copy\n" + OBJECT.format("__copy__(self)"), "out[i] = copy.copy(c)", "DLB419"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "body", "code"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_hidden_effects_are_refused(before: str, body: str, code: str) -> None:
    assert code in codes_of(program(before, body))


TAKEN = [
    ("a function in a list", "fs = [lambda x: x + 1, abs]\n", "out[i] = fs[i % 2](i)"),
    ("a library's function that a method is named like", "import operator\nfs = [operator.add]\n",
     "out[i] = fs[0](i, 1)"),
    ("a default that is only read", "def f(x, table=[1, 2]):\n    return table[x]\n", "out[i] = f(i)"),
    ("a function that fills its own list", "def f(s):\n    xs = []\n    def go(k):\n"
     "        if k:\n            go(k - 1)\n        xs.append(k)\n    go(s)\n    return xs\n",
     "out[i] = f(i)"),
    ("a dictionary of lists", "", "d = {}; d.setdefault(i, []).append(1); out[i] = d"),
    ("a recursive function whose result is changed", "def f(k):\n    return f(k - 1) if k else []\n",
     "t = f(i); t.append(1); out[i] = t"),
    ("a lambda for a function of the module", "def f(g, k):\n    return sum(g(x) for x in range(k))\n",
     "out[i] = f(lambda x: x * i, 3)"),
    ("numbers of a cache", CACHE.format("return k if k < 2 else f(k - 1) + f(k - 2)"),
     "t = f(i); t += 1; out[i] = t"),
    ("counted numbers of a cache", CACHE.format("s = 0.0\n    for j in range(k):\n        s += float(j)\n"
     "    return s, abs(s)"), "t, s = f(i); t += s; out[i] = t"),
    ("an array of a cache that is read", CACHE.format("return np.ones(3) * k"), "out[i] = f(i)[1]"),
    ("a property that only reads", PROPERTY.format("return self.n"), "out[i] = c.p"),
    ("a timer elsewhere", "class T:\n    def __enter__(self):\n        self.t = 1\n"
     "    def __exit__(self, *a):\n        print(self.t)\n", "out[i] = i"),
    ("a list of an object", "class C:\n    def __init__(self):\n        self.xs = []\n"
     "    def f(self, x):\n        self.xs.append(x)\n        return self.xs\n", "out[i] = C().f(i)"),
    ("a default dictionary of the iteration", "from collections import defaultdict\n",
     "d = defaultdict(list); d[i].append(1); out[i] = dict(d)"),
    ("numbers of the file", "x0, dx = 1.5, -2\n", "x = x0; x *= 2; x += dx; out[i] = x"),
    ("a number that only functions bind again", "x0 = 1\ndef f():\n    global x0\n    x0 = 2.5\n",
     "x = x0; x *= 2; out[i] = x"),
    ("identities that are compared", "k = {}\n", "out[i] = id(k) == id(out)"),
    ("identities in a set of the iteration", "k = {}\n", "s = set(); s.add(id(k)); out[i] = id(k) in s"),
    ("what stores do not run", MISSING, "out[i] = i"),
    ("a method that only the module copy runs", OBJECT.format("__copy__(self)"), "out[i] = c.n + i"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "body"), [c[1:] for c in TAKEN], ids=[c[0] for c in TAKEN])
def test_what_has_no_effect_is_taken(before: str, body: str) -> None:
    assert table(plan_of(program(before, body)))[0] == "out BLOCK 0 w"


CHANGES_A_LIST = "def total(xs):\n    xs.append(1)\n    return xs\n"


def in_function(first: str) -> str:
    lines = ["out = [0] * n", "# dlb: parallel", "for i in range(n):"]
    body = ["total = i", "for j in range(i):", "    total += j", "out[i] = total"]
    inner = [f"    {line}" for line in (first, *lines, *(f"    {line}" for line in body)) if line]
    return "\n".join([CHANGES_A_LIST, "def count(n):", *inner, "    return out", ""])


def test_a_local_name_hides_the_function_of_that_name() -> None:
    assert table(plan_of(in_function("")))[0] == "out BLOCK 0 w"
    assert "DLB206" in codes_of(in_function("global total"))


DOUBTED = "class C:\n    def f(self, x):\n        e = self.g(x)\n        e.shape = x\n        return e\n"
DOUBTED += "class D:\n    def f(self, x):\n        return x\ncells = [D()] * n\n"


def test_by_the_users_word_a_doubtful_function_is_watched() -> None:
    text = program(DOUBTED, "out[i] = cells[i].f(i)")
    assert "DLB409" in codes_of(text)
    plan = plan_of(text.replace("parallel", "parallel, assume_independent"))
    assert plan.status is ProofStatus.ASSERTED
    assert "f" in dict(plan.watched)


def test_the_users_word_does_not_cover_what_is_surely_changed() -> None:
    text = program("seen = []\ndef f(x):\n    seen.append(x)\n    return x\n", "out[i] = f(i)")
    assert "DLB409" in codes_of(text.replace("parallel", "parallel, assume_independent"))


def test_an_element_updated_directly_changes_in_place() -> None:
    assert table(plan_of(program("", "out[i] += 1"))) == ["out BLOCK 0 rw in_place"]


SAVES = [
    ("a figure of a module", "import lib.plot as plt\n", "plt.savefig('a.png')"),
    ("a figure of the iteration", "import lib\n", "lib.figure().savefig('a.png')"),
    ("a table", "import lib\n", "lib.table(i).to_csv('a.csv')"),
    ("a row", "", "out[i].tofile('a.bin')"),
    ("text of a path", "from pathlib import Path\n", "Path('a').write_text('b')"),
]


@pytest.mark.parametrize(("before", "body"), [c[1:] for c in SAVES], ids=[c[0] for c in SAVES])
def test_what_saves_by_its_name_writes_files(before: str, body: str) -> None:
    assert "DLB402" in codes_of(program(before, body))


def test_a_table_as_text_is_no_file() -> None:
    assert "DLB402" not in codes_of(program("import lib\n", "out[i] = lib.table(i).to_csv()"))


def test_an_open_file_that_is_written_to_is_no_iterator() -> None:
    assert codes_of(program("f = open('a', 'w')\n", "f.write('b')")) == ["DLB402"]
    assert codes_of(program("f = open('a', 'w')\n", "print(i, file=f)")) == ["DLB402"]
    assert "DLB417" in codes_of(program("f = open('a')\n", "out[i] = f.readline()"))


def test_another_use_of_a_container_is_shown() -> None:
    [(_, [finding])] = results_of(program("found = []\n", "found.append(i); out[i] = found[-1]"))
    assert finding.code == "DLB406"
    assert [note.label for note in finding.notes] == ["used here in another way"]


MAKERS = [
    ("np.random.default_rng(i)", False),
    ("np.random.default_rng([7, i])", False),
    ("np.random.default_rng(np.random.SeedSequence([7, i]))", False),
    ("np.random.default_rng(seeds[i])", True),  # it may be a generator, and come back as it is
    ("np.random.default_rng(shared if i else 0)", True),
    ("np.random.default_rng(*[shared])", True),
    ("np.random.default_rng(**options)", True),
    ("np.random.default_rng((g := shared))", True),
    ("np.random.default_rng(settings.rng)", True),
    ("random.Random(seeds[i])", False),  # takes numbers and texts alone
]


@pytest.mark.parametrize(("maker", "watched"), MAKERS, ids=[maker for maker, _ in MAKERS])
def test_a_generator_is_watched_where_it_may_be_one_of_the_programs(maker: str, watched: bool) -> None:
    before = "import random, settings\nshared = np.random.default_rng(1)\nseeds, options = [shared] * n, {}\n"
    assert bool(plan_of(program(before, f"out[i] = {maker}.random()")).watched) == watched


SEEDS = [
    ("rng = np.random.default_rng(seeds[i]); out[i] = rng.random()", ("seeds",)),
    ("s = seeds[i]; out[i] = np.random.Generator(np.random.PCG64(s)).random()", ("seeds",)),
    ("out[i] = np.random.default_rng(seeds[i] if i else shared).random()", ("seeds", "shared")),
    ("out[i] = np.random.default_rng(settings.rng).random()", ()),
    ("out[i] = f(np.random.default_rng(seeds[i]))", ()),
    ("rng = np.random.default_rng(seeds[i]); rng.spawn(1); out[i] = rng.random()", ()),
    ("rng = np.random.default_rng(seeds[i]); rng.bit_generator.seed_seq.spawn(1); out[i] = rng.random()", ()),
    ("rng = np.random.default_rng(seeds[i]); out[i] = rng.random() + settings.f(i)", ()),
]


@pytest.mark.parametrize(("body", "seeds"), SEEDS, ids=[body for body, _ in SEEDS])
def test_nothing_needs_to_be_watched_where_generators_are_made_of_seeds(
    body: str, seeds: tuple[str, ...]
) -> None:
    before = "import settings\nshared, seeds = len('a'), [1] * n\ndef f(rng):\n    return rng.spawn(1)\n"
    plan = plan_of(program(before, body))
    assert plan.watched
    assert plan.seeds == seeds


def test_so_it_is_where_the_loop_runs_over_the_seeds() -> None:
    head = "import numpy as np\nout, seeds = [0] * n, [1] * n\n# dlb: parallel\n"
    loop = "for i, (x, s) in enumerate(zip(xs, seeds)):\n    out[i] = np.random.default_rng(s).random()\n"
    assert plan_of(head + loop).seeds == (1,)


SEARCHES = [
    ("re.findall('[a-z]+', texts[i])", False),
    ("re.split(' ', texts[i])", False),
    ("re.sub('a', change, texts[i])", True),
]


@pytest.mark.parametrize(("call", "watched"), SEARCHES, ids=[call for call, _ in SEARCHES])
def test_searches_in_texts_change_nothing(call: str, watched: bool) -> None:
    before = "import re\ntexts = ['a b'] * n\n"
    assert bool(plan_of(program(before, f"out[i] = len({call})")).watched) == watched
