"""Calls of the program's own functions, in the file and in other modules, seen as what they do."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.ir.loop import ProofStatus
from dlbc.pipeline import TransformResult, explain
from dlbc.source import Source
from tests.dlbc.passes.planning import codes_of, plan_of, results_of, table

HEAD = "import numpy as np\nn, m = 9, 4\nA = np.zeros((n, m))\nu = np.zeros(n + 1)\nv = np.zeros(n)\n"


def program(functions: str, body: str, space: str = "range(n)") -> str:
    inner = "".join(f"    {line}\n" for line in body.split("\n"))
    return f"{HEAD}{functions}\n# dlb: parallel\nfor i in {space}:\n{inner}"


SEEN = [
    ("an element", "def f(a, k):\n    a[k] = k\n", "f(u, i)", ["u BLOCK 0 rw"]),
    ("a view of a row", "def f(a):\n    a[0] = 1\n", "f(A[i])", ["A BLOCK 0 rw in_place"]),
    ("a local name of the argument", "def f(a, k):\n    b = a\n    b[k] = 1\n", "f(u, i)", ["u BLOCK 0 rw"]),
    ("a local name of a row", "def f(a, k):\n    row = a[k]\n    row[0] = row[1]\n", "f(A, i)",
     ["A BLOCK 0 rw in_place"]),
    ("a row named before its index changes", "def f(a, k):\n    row = a[k]\n    k += 1\n    row[0] = k\n",
     "f(A, i)", ["A BLOCK 0 rw in_place"]),
    ("arithmetic of the callee", "def f(a, k):\n    at = 2 * k\n    a[at + 1] = a[at]\n",
     "f(u, i)", ["u BLOCK 0 rw rows=2*i,2*i + 1 writes=2*i + 1"]),
    ("a bound of the module", "def f(a, k):\n    for j in range(m):\n        a[k, j] = 1\n", "f(A, i)",
     ["A BLOCK 0 rw"]),
    ("two levels", "def g(b, at):\n    b[at] += 1\ndef f(a, k):\n    g(a, k + 1)\n", "f(u, i)",
     ["u BLOCK 0 rw rows=i + 1 in_place"]),
    ("the same array twice", "def f(a, b, k):\n    a[k] = b[k] + 1\n", "f(u, u, i)", ["u BLOCK 0 rw"]),
    ("a halo", "def f(a, b, k):\n    a[k] = b[k - 1] + b[k + 1]\n", "f(v, u, i)",
     ["u BLOCK 0 r rows=i - 1,i + 1", "v BLOCK 0 rw"]),
    ("what is read of a stored array", "def f(a, k):\n    return a[k] + 1\n", "u[i] = f(u, i)",
     ["u BLOCK 0 rw"]),
    ("a subscript that a function gives", "def at(k):\n    return k + 1\n", "u[at(i)] = u[at(i)] * 2",
     ["u BLOCK 0 rw rows=i + 1"]),
    ("keywords and defaults", "def f(k, a, s=2):\n    a[k] = s\n", "f(a=u, k=i)", ["u BLOCK 0 rw"]),
    ("a return that leaves early", "def f(a, k):\n    if k == 0:\n        return\n    a[k] = a[k] + 1\n",
     "f(u, i)", ["u BLOCK 0 rw"]),
    ("names of comprehensions", "def f(a, k):\n    a[k] = sum([u * 2 for u in range(k)])\n", "f(u, i)",
     ["u BLOCK 0 rw"]),
]  # fmt: skip

GRID = """
class Grid:
    def __init__(self):
        self.A, self.k = np.zeros((n, m)), 3
    def __len__(self):
        return len(self.A)
    @property
    def rows(self):
        return self.A.shape[0]
    def cell(self, i):
        for j in range(m):
            self.put(i, j)
    def put(self, i, j):
        self.A[i, j] = self.k
    @staticmethod
    def fill(a, k):
        a[k] = 1
g = Grid()
"""


@pytest.mark.parametrize(("functions", "body", "rows"), [c[1:] for c in SEEN], ids=[c[0] for c in SEEN])
def test_stores_and_reads_of_a_callee(functions: str, body: str, rows: list[str]) -> None:
    assert sorted(table(plan_of(program(functions, body)))) == rows


@pytest.mark.parametrize("space", ["range(n)", "range(len(g))", "range(g.rows)"])
def test_methods_are_followed_under_a_guard(space: str) -> None:
    plan = plan_of(program(GRID, "g.cell(i)", space))
    assert table(plan) == ["g.A BLOCK 0 rw"]
    assert 'g.cell.__qualname__ == "Grid.cell"' in plan.guards
    assert plan.status is ProofStatus.GUARDED


TALLY = """class Tally:
    def add(self, k):
        self.total += k
        self.seen.append(k)
    def twice(self, k):
        self.add(k)
        self.add(k)
        return k
    def back(self, k):
        self.add(k)
        return self.total
class Owner:
    def __init__(self):
        self.t, self.k = Tally(), 0
t, o = Tally(), Owner()
"""


@pytest.mark.parametrize(
    ("body", "several"),
    [("t.add(i)", False), ("if i: t.add(i)\nelse: t.add(1)", False), ("u[i] = t.twice(i)", True)],
)
def test_contributions_of_a_callee(body: str, several: bool) -> None:
    plan = plan_of(program(TALLY, body))
    assert [(r.name, r.multiple_updates) for r in plan.reductions] == [("t.total", several)]
    assert [o.name for o in plan.ordered] == ["t.seen"]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("u[i] = t.back(i)", "DLB324"),
        ("u[i] = o.t.back(i)", "DLB324"),
        ("t.add(i)\nu[i] = t.total", "DLB324"),
        ("t.add(i)\nprint(len(t.seen))", "DLB406"),
        ("try:\n    t.add(i)\nexcept TypeError:\n    pass", "DLB408"),
    ],
)
def test_what_a_callee_contributes_may_be_used_in_no_other_way(body: str, code: str) -> None:
    assert code in codes_of(program(TALLY, body))


@pytest.mark.parametrize(("method", "taken"), [("hit", True), ("add", False)])
def test_what_may_be_a_containers_own_method_contributes_where_the_class_is_seen(
    method: str, taken: bool
) -> None:
    functions = TALLY.replace("add", method) + "def run(t):\n@@\n"
    loop = f"    # dlb: parallel\n    for i in range(n):\n        t.{method}(i)"
    [(plan, _)] = results_of("n = 9\n" + functions.replace("@@", loop))
    assert (plan is not None) is taken
    assert codes_of(program(TALLY.replace("add", method), f"t.{method}(i)")) == []


def test_a_function_of_a_class_needs_no_guard() -> None:
    plan = plan_of(program(GRID, "Grid.fill(u, i)"))
    assert (table(plan), plan.guards) == (["u BLOCK 0 rw"], ())


REFUSED = [
    ("the next element", "def f(a, k):\n    a[k + 1] = a[k]\n", "f(u, i)", "DLB301"),
    ("a row that a lambda names first", "def f(a, k):\n    g = lambda: row.fill(k)\n    row = a[0]\n",
     "f(A, i)", "DLB410"),
    ("one element", "def f(a, k):\n    a[0] = k\n", "f(u, i)", "DLB303"),
    ("two names of one array", "def f(a, b, k):\n    a[k] = b[k - 1]\n", "f(u, u, i)", "DLB301"),
    ("recursion", "def f(a, k):\n    a[k] = 1\n    f(a, k - 1) if k else None\n", "f(u, i)", "DLB410"),
    ("a function that is replaced", "def f(a, k):\n    a[k] = 1\ndef h():\n    global f\n    f = h\n",
     "f(u, i)", "DLB410"),
    ("a decorator of the program", "def w(f):\n    return f\n@w\ndef f(a, k):\n    a[k] = 1\n", "f(u, i)",
     "DLB410"),
    ("a global array", "def f(k):\n    u[k] = 1\n", "f(i)", "DLB409"),
    ("a global array that is read", "def f(a, k):\n    a[k] = u[k - 1]\n", "f(u, i)", "DLB413"),
    ("a sum that is read", "s = 0\ndef f(a, k):\n    a[k] = s * 2\n", "s += i\nf(u, i)", "DLB313"),
    ("a temporary that is read", "t = 0\ndef f(a, k):\n    a[k] = t * 2\n", "t = i\nf(u, i)", "DLB313"),
    ("any number of arguments", "def f(*a):\n    a[0][0] = 1\n", "f(A)", "DLB410"),
    ("an attribute", "class C:\n    def f(self, k):\n        self.n = k - self.n\nc = C()\n", "c.f(i)",
     "DLB408"),
    ("two classes of one method", GRID + "class Other:\n    def put(self, i, j):\n        self.A[0] = 1\n"
     "gs = [Grid(), Other()]\nh = gs[0]\n", "h.put(i, 0)", "DLB410"),
    ("a method set from outside", GRID + "g.put = print\n", "g.put(i, 0)", "DLB410"),
    ("a default that calls share", "def f(a, k, s=[]):\n    s.append(k)\n    a[k] = len(s)\n", "f(u, i)",
     "DLB409"),
]  # fmt: skip


@pytest.mark.parametrize(("functions", "body", "code"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED])
def test_what_is_no_store_of_the_iterations_own(functions: str, body: str, code: str) -> None:
    assert code in codes_of(program(functions, body))


def reported(folder: Path, text: str, **modules: str) -> TransformResult:
    """The report of a file beside these modules; ``__`` in a name stands for a folder."""
    for name, code in modules.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(exist_ok=True)
        path.write_text(code)
    return explain(Source(str(folder / "main.py"), text.encode(), text))


FILL = "def fill(a, k):\n    a[k] = k\n"
IMPORTS = [
    ("import helpers\n", "helpers.fill(u, i)", {"helpers": FILL}),
    ("from helpers import fill as f\n", "f(u, i)", {"helpers": FILL}),
    ("import pkg.sub as s\n", "s.fill(u, i)", {"pkg__sub": FILL}),
    ("from pkg import fill\n", "fill(u, i)", {"pkg__init": "", "pkg__sub": FILL, "pkg/__init__": ""}),
    ("import first\n", "first.f(u, i)", {"first": "import second\ndef f(a, k):\n    second.fill(a, k)\n",
                                         "second": FILL}),
    ("from first import fill\n", "fill(u, i)", {"first": "from second import fill\n", "second": FILL}),
    ("import helpers\n", "helpers.f(u, i)",
     {"helpers": "from math import sqrt as root\nW = 1\nT = [1]\ndef f(a, k):\n"
                 "    for _ in range(W):\n        a[k] = root(k) + T[0]\n"}),
]  # fmt: skip


@pytest.mark.parametrize(("head", "body", "modules"), IMPORTS)
def test_functions_of_other_modules(tmp_path: Path, head: str, body: str, modules: dict[str, str]) -> None:
    modules = {name: code for name, code in modules.items() if name != "pkg__init"}
    if "pkg/__init__" in modules:
        (tmp_path / "pkg").mkdir()
        (tmp_path / "pkg" / "__init__.py").write_text("from .sub import fill\n")
        del modules["pkg/__init__"]
    [report] = reported(tmp_path, program(head, body), **modules).reports
    assert report.plan is not None, report.findings
    assert (table(report.plan), report.plan.status) == (["u BLOCK 0 rw"], ProofStatus.PROVEN)


CACHED = "import functools\n@functools.cache\ndef cell(k):\n    return [k]\n"
CACHED += "def count(k):\n    found = cell(k)\n    found.append(k)\n    return len(found)\n"
CACHED += "@functools.cache\ndef show(k):\n    print(k)\n    return k\n"
CACHED += "class Table:\n    def cells(self, k):\n        return count(k)\n"


@pytest.mark.parametrize("call", ["helpers.count(i)", "helpers.show(i)", "table.cells(i)"])
def test_what_caches_of_other_modules_give_and_write(tmp_path: Path, call: str) -> None:
    text = program("import helpers\ntable = helpers.Table()\n", f"u[i] = {call}")
    [report] = reported(tmp_path, text, helpers=CACHED).reports
    assert "DLB409" in {finding.code for finding in report.findings}


def test_a_method_of_a_class_of_another_module(tmp_path: Path) -> None:
    text = program("from grids import Grid\ng = Grid()\n", "g.cell(i)", "range(g.rows)")
    grids = f"import numpy as np\nn, m = 9, 4\n{GRID}"
    [report] = reported(tmp_path, text, grids=grids).reports
    assert report.plan is not None, report.findings
    assert table(report.plan) == ["g.A BLOCK 0 rw"]


def test_the_statement_of_another_module_is_shown(tmp_path: Path) -> None:
    text = program("import helpers\n", "helpers.fixed(u, i)")
    [finding] = reported(tmp_path, text, helpers="\ndef fixed(a, k):\n    a[0] = k\n").diagnostics
    assert (finding.code, text.splitlines()[finding.place.line - 1]) == ("DLB303", "    helpers.fixed(u, i)")
    [note] = finding.notes
    assert note.source is not None
    assert (note.label, note.place.line, Path(note.source.path).name) == ("in `fixed`", 3, "helpers.py")


ACCESSORS = [
    "    @property\n    def total(self):\n        return self._total\n",
    "    def __setattr__(self, name, value):\n        self.__dict__[name] = value\n",
    "class Kept:\n    def __set__(self, owner, value):\n        owner.__dict__['total'] = value\n",
]


@pytest.mark.parametrize("accessor", ACCESSORS)
def test_no_reduction_where_a_method_of_another_module_sets_the_attribute(
    tmp_path: Path, accessor: str
) -> None:
    text = program("import meters\nmeter = meters.Meter()\n", "meter.total += i")
    [finding] = reported(tmp_path, text, meters=f"class Meter:\n    total = 0\n{accessor}").diagnostics
    assert finding.code == "DLB408"


@pytest.mark.parametrize(("space", "body"), [("walkers", "i.step(2)"), ("range(n)", "walkers[i].step(2)")])
def test_what_a_method_of_another_module_changes_belongs_to_the_iteration(
    tmp_path: Path, space: str, body: str
) -> None:
    text = program("import walks\nwalkers = walks.made(n)\n", body, space)
    walks = "class Walker:\n    def step(self, dt):\n        self.x += dt\n"
    [report] = reported(tmp_path, text, walks=walks).reports
    assert report.plan is not None, report.findings
    stored = [name for name, _ in report.plan.items] or table(report.plan)
    assert stored == (["walkers"] if space == "walkers" else ["walkers BLOCK 0 rw in_place"])
    assert report.plan.status is ProofStatus.CHECKED


UNSEEN = [
    ("a module that the file changes", "import helpers\nhelpers.fill = print\n", "helpers.fill(u, i)"),
    ("no module of the program", "import elsewhere as helpers\n", "helpers.fill(u, i)"),
]


@pytest.mark.parametrize(("head", "body"), [c[1:] for c in UNSEEN], ids=[c[0] for c in UNSEEN])
def test_what_is_not_followed_stays_unseen(tmp_path: Path, head: str, body: str) -> None:
    assert "DLB412" in [d.code for d in reported(tmp_path, program(head, body), helpers=FILL).diagnostics]


def test_a_broken_module_is_not_seen(tmp_path: Path) -> None:
    text = program("import helpers\n", "helpers.fill(u, i)")
    assert [d.code for d in reported(tmp_path, text, helpers="def fill(:\n").diagnostics] == ["DLB412"]
