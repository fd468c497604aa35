"""`%%dlb` in IPython: cells run on ranks over the notebook's variables, and leave what plain cells leave."""

from __future__ import annotations

import os
import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

from tests.support import processes

pytestmark = pytest.mark.mpi


class Notebook:
    """A notebook, and what its last cell has printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell: Any = InteractiveShell.instance(config=Config(HistoryManager={"enabled": False}))
        self._capsys = capsys
        self.out = self.err = ""
        self.run("%load_ext dlbc", "import numpy as np")

    def cell(self, text: str) -> ExecutionResult:
        """Run a cell."""
        result: ExecutionResult = self.shell.run_cell(text)
        self.out, self.err = self._capsys.readouterr()
        return result

    def run(self, *cells: str) -> None:
        """Run cells that succeed."""
        for text in cells:
            assert self.cell(text).success, self.out + self.err

    def __getitem__(self, name: str) -> Any:
        return self.shell.user_ns[name]


@pytest.fixture
def notebook(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Notebook]:
    for name in [each for each in os.environ if each.startswith("DLB_")]:
        monkeypatch.delenv(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of IPython's own
        try:
            yield Notebook(capsys)
        finally:
            InteractiveShell.clear_instance()


FILL = """\
%%dlb -n 2 --strategy none --no-summary
# dlb: parallel
for i in range(n):
    A[i] = f(i)
"""


def test_arrays_change_in_place_and_functions_arrive(notebook: Notebook) -> None:
    notebook.run(
        "A, n, k = np.zeros(40), 40, 2\nkept = A",
        "def f(i):\n    return np.sqrt(i) * k",
        "k = 3",
        FILL + "print('sum', A.sum() > 0)",
    )
    assert (notebook.out, notebook.err) == ("sum True\n", "")
    assert notebook["kept"] is notebook["A"]
    assert notebook["A"].tolist() == (np_sqrt(40) * 3).tolist()
    assert notebook["i"] == 39


def test_a_dictionary_of_an_earlier_cell_is_stored_to_by_all_ranks(notebook: Notebook) -> None:
    notebook.run(
        "import os\nfrom collections import Counter\nnotes, tally, ranks = {}, Counter(), [0] * 8",
        "kept = notes",
        "%%dlb -n 2 --strategy none --no-summary\n# dlb: parallel\nfor i in range(8):\n"
        "    notes[i] = i * i\n    tally[i % 3] += 1\n    ranks[i] = os.getpid()\n",
    )
    assert notebook.err == ""
    assert notebook["kept"] is notebook["notes"]
    assert notebook["notes"] == {i: i * i for i in range(8)}
    assert [*notebook["tally"].items()] == [(0, 3), (1, 3), (2, 2)]
    assert len({*notebook["ranks"]}) == 2


def test_a_loop_of_rank_0_alone_is_said_with_the_cells_line_and_without_its_file(notebook: Notebook) -> None:
    notebook.run(
        "out = [0] * 4",
        "%%dlb -n 2 --strategy none\nlocked = __import__('threading').Lock()\n# dlb: parallel\n"
        "for i in range(4):\n    with locked:\n        out[i] = i\ndel locked\n",
    )
    assert notebook["out"] == [0, 1, 2, 3]
    assert "cell, line 4 ran on rank 0 alone: " in notebook.err
    assert "dlbc explain" not in notebook.err


def test_what_methods_of_earlier_cells_change_is_said_with_the_cells_line(notebook: Notebook) -> None:
    notebook.run(
        "class P:\n    x = 0.0\n    def move(self):\n        self.x += 1.0\nps = [P() for _ in range(20)]\n"
    )
    moved = "for p in ps:\n    p.move()\nprint(sum(p.x for p in ps))\n"
    notebook.run("%%dlb -n 2 --strategy none\n# dlb: parallel\n" + moved)
    assert notebook.out == "20.0\n"
    assert "the loop's items[" in notebook.err
    assert "what dlbc has not seen: p.move in line 4" in notebook.err


def test_a_cell_without_an_annotation_says_so_and_magics_are_refused_by_name(notebook: Notebook) -> None:
    notebook.run("%%dlb -n 2 --no-summary\nprint(2)\n")
    assert notebook.out == "2\n"
    assert notebook.err == "dlb: the cell has no `# dlb:` annotation, and runs on one rank\n"
    assert not notebook.cell("%%dlb -n 2\n%time 1 + 1\n").success
    assert "magics and shell commands are for cells without `%%dlb`" in notebook.out + notebook.err
    notebook.run("%%dlb --help\n1\n")
    assert "--report" in notebook.out


def test_sets_keep_their_order(notebook: Notebook) -> None:
    setup = """\
s, t = set(range(2000)), {k * 1024 for k in range(40)}
for k in range(2000):
    if k not in (5, 77, 1000, 1029):
        s.discard(k)
f, rows = frozenset(t) - {1024}, [set(t) for _ in range(8)]
out, same = [None] * 8, s
"""
    loop = """\
# dlb: parallel
for i in range(8):
    rows[i].discard(i * 2048)
    rows[i].add(i * 512)
    out[i] = [*s], [*t], [*f], t | {i}
t.discard(2048)
u = f | s
"""
    plain: dict[str, Any] = {}
    exec(setup + loop, plain)
    notebook.run(setup, "%%dlb -n 2 --strategy none --no-summary\n" + loop)
    assert notebook["same"] is notebook["s"]
    for name in ("s", "t", "f", "u"):
        assert [*notebook[name]] == [*plain[name]], name
    for one, other in zip(notebook["out"] + notebook["rows"], plain["out"] + plain["rows"], strict=True):
        assert [*map(list, one)] == [*map(list, other)] if type(one) is tuple else [*one] == [*other]
    for each in (notebook["s"], plain["s"]):
        each.update(range(0, 900, 7))
    assert [*notebook["s"]] == [*plain["s"]]


def np_sqrt(n: int) -> Any:
    import numpy as np

    return np.sqrt(np.arange(n))


def test_a_cell_leaves_what_a_plain_cell_leaves(notebook: Notebook) -> None:
    body = """\
# dlb: parallel
for i in range(12):
    t = i * i
    total += t
    names.append(str(t))
table['last'] = [t, pair]
pair.x += 1
class Fresh:
    pass
def later(v):
    return v + total
import math as m
fresh = [Fresh(), later]
del gone
kind = type(pair)
"""
    before = (
        "class Pair:\n    def __init__(self, x):\n        self.x = x\n"
        "total, names, table, pair, gone = 0, [], {}, Pair(1), 1\n"
        "views = [names, table, pair]\n"
    )
    found = []
    for magic in ("", "%%dlb -n 2 --strategy none --no-summary\n"):
        notebook.run(before, magic + body)
        a, b, c = notebook["views"]
        assert (a is notebook["names"], b is notebook["table"], c is notebook["pair"]) == (True,) * 3
        assert notebook["table"]["last"][1] is notebook["pair"]
        assert notebook["kind"] is notebook["Pair"]
        assert type(notebook["fresh"][0]) is notebook["Fresh"]
        assert notebook["fresh"][1] is notebook["later"]
        assert notebook["m"].pi > 3
        assert "gone" not in notebook.shell.user_ns
        found.append(
            (notebook["total"], notebook["names"], notebook["t"], notebook["pair"].x, notebook["later"](1))
        )
    assert found[0] == found[1]


#: What plain cells keep, by name: what comes before, the cell, and expressions whose values are to agree.
KEEPING = {
    "modules": (
        "import decimal, random\nnp.random.seed(0); random.seed(0); decimal.getcontext().prec = 5\n"
        "np.set_printoptions(precision=2)\nthird = decimal.Decimal(1)",
        "A = np.random.rand(4)\nshown, third = [str(A), random.random()], third / 3\n{loop}"
        "random.seed(5)\nnp.set_printoptions(precision=3)\ndecimal.getcontext().prec = 7\n",
        (
            "shown",
            "third",
            "A",
            "np.random.rand(2)",
            "random.random()",
            "decimal.getcontext().prec",
            "str(A / 3)",
        ),
    ),
    "functions and classes": (
        "def counting():\n    n = 0\n    def count():\n        nonlocal n\n        n += 1\n        return n\n"
        "    return count\ncount = counting()\n"
        "def memo(x, cache={}):\n    cache[x] = 1\n    return len(cache)\ndef plain():\n    pass\n"
        "class G:\n    made, total = [], 0\n"
        "    def __init__(self):\n        G.total += 1\n        self.made.append(self)\n"
        "class H:\n    many = 0\n    def more(self):\n        type(self).many += 1\nh = H()\n"
        "def gone():\n    pass\n",
        "count(); memo(3); g = G(); plain.n = 5; h.more(); gone = 3\n{loop}count()\n",
        (
            "count()",
            "memo(4)",
            "G.total, len(G.made), G.made[0] is g, type(g) is G",
            "plain.n",
            "H.many",
            "gone",
        ),
    ),
    "parts of arrays": (
        "arr, B = np.zeros(8), A[::-2]",
        "part, base, M = arr[2:5], np.zeros(8), np.zeros((3, 4), order='F')\n"
        "steps, back, T, column = base[::2], base[::-1], M.T, M[:, 1]\n{loop}base[:] = A[0]\n",
        (
            "base.fill(7), arr.fill(1), M.fill(2), B[1]",
            "part",
            "B",
            "steps",
            "back",
            "T",
            "column",
            "T.strides",
        ),
    ),
    "arrays that are only read": (
        "ro = np.arange(4.0)\nro.flags.writeable = False",
        "try:\n    ro[0] = 1\n    said = ''\nexcept ValueError as error:\n    said = str(error)\n{loop}",
        ("said", "ro", "ro.flags.writeable"),
    ),
    "parts of what the notebook has": (
        "d = {'x': A[1:3], 'y': [A, A[::3]]}\nB = A.reshape(2, 2)\n"
        "W = np.lib.stride_tricks.sliding_window_view(A, 3)\nE = np.zeros((0, 3))\nF = E[:, 1]",
        "{loop}A = A[::2]\nd['x'][0] = 50\nz = d['y'][1][1:]\nq = W.sum() + F.sum() + B[1].sum()\n",
        ("d['x'].fill(9), A.fill(4), z.fill(7)", "A", "B", "W", "d", "z", "q", "W.flags.writeable, F.shape"),
    ),
    "closures and wrappers": (
        "import functools\ndef outer():\n    total, seen = [0], {}\n    def add(x):\n"
        "        seen[x] = len(seen)\n        total[0] += x\n        return total[0]\n"
        "    return add, lambda: (total[0], seen)\nadd, get = outer()\n"
        "def counted(f):\n    @functools.wraps(f)\n    def w(*a):\n        w.calls += 1\n"
        "        return f(*a)\n"
        "    w.calls = 0\n    return w\n@counted\ndef square(x):\n    return x * x\n"
        "part = functools.partial(square, 3)",
        "{loop}add(4); add(5); square(2); part()\nhold = [add, square]\n",
        ("get()", "add(1)", "square.calls", "hold[0] is add, hold[1] is square, part.func is square"),
    ),
    "slots": (
        "class Slots:\n    __slots__ = ('x',)\n    def __init__(self):\n        self.x = 1\nsl = Slots()",
        "{loop}sl.x = 7\n",
        ("sl.x", "type(sl) is Slots", "hasattr(sl, '__dict__')"),
    ),
    "kept results": (
        "import functools\n@functools.lru_cache(None)\n"
        "def fib(n):\n    return n if n < 2 else fib(n - 1) + fib(n - 2)",
        "found = [0] * 9\n# dlb: parallel\nfor i in range(9):\n    found[i] = fib(i)\n",
        ("found", "fib(20)"),
    ),
    "names and imports": (
        "",
        "from __future__ import annotations\ndlb = 4\ndef later(a: nowhere):\n    return a\n"
        "# dlb: iterate\nfor t in range(3):\n    # dlb: parallel\n    for i in range(4):\n"
        "        A[i] = A[i] + t\n",
        ("dlb", "A", "t", "later.__annotations__", "[n for n in globals() if 'routine' in n]"),
    ),
}


@pytest.mark.parametrize("name", KEEPING)
def test_a_cell_keeps_what_a_plain_cell_keeps(notebook: Notebook, name: str) -> None:
    before, body, values = KEEPING[name]
    body = body.replace("{loop}", "# dlb: parallel\nfor i in range(4):\n    A[i] = A[i] * 2 + i\n")
    found = []
    for magic in ("", "%%dlb -n 2 --strategy none --no-summary\n"):
        notebook.run("A = np.arange(4.0)", before, magic + body)
        found.append([repr(eval(each, notebook.shell.user_ns)) for each in values])
    notebook.run("np.set_printoptions(precision=8)")
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("setting", "body", "said"),
    [
        (
            "handle = open('/dev/null')",
            "for i in range(4):\n    A[i] = len(handle.name)\n",
            "variable handle cannot",
        ),
        (
            "class Meta(type):\n    def __setattr__(cls, *_):\n        raise AttributeError('fixed')\n"
            "class F(metaclass=Meta):\n    z = 5\n",
            "for i in range(4):\n    A[i] = F.z\n",
            "AttributeError: fixed",
        ),
        (
            "O = np.empty(3, object)\nP = O[:2]",
            "for i in range(4):\n    A[i] = len(O) + len(P)\n",
            "of P share memory",
        ),
        (
            "",
            "for i in range(4):\n    A[i] = 1\ng = (k for k in 'ab')\n",
            "variable g of the cell cannot come back",
        ),
        ("", "for i in range(1, 4):\n    A[i] = A[i - 1]\n", r"cell, line 4:5: error\[DLB301\]"),
        ("", "for i in range(4):\n    A[i] = = 1\n", "cell, line 4: SyntaxError"),
        ("", "for i in range(4):\nA[i] = 1\n", "cell, line 4: SyntaxError.* on line 3"),
        (
            "",
            "for i in range(4):\n    A[i] = 1\nO = np.empty(3, object); P = O[:1]\n",
            "variable P .* shares memory",
        ),
        ("", "for i in range(4):\n    A[i] = 1\nimport sys\nsys.exit(3)\n", "ended with status 3"),
    ],
)
def test_what_cannot_be_is_said_by_name(notebook: Notebook, setting: str, body: str, said: str) -> None:
    notebook.run("A = np.zeros(4)", setting)
    result = notebook.cell("%%dlb -n 2 --strategy none --no-summary\n# dlb: parallel\n" + body)
    assert not result.success
    assert re.search(said, notebook.out + notebook.err), notebook.out + notebook.err
    if "handle" in setting:
        notebook["handle"].close()


def test_the_options_are_shown_where_the_magic_is_asked_about(notebook: Notebook) -> None:
    text = notebook.shell.magics_manager.magics["cell"]["dlb"].__doc__
    assert text.startswith("Run the annotated loops of the cell on local ranks.")
    assert all(option in text for option in ("-n P", "--strategy NAME", "--report"))


@pytest.mark.parametrize(
    ("line", "said"), [("-n 0", "at least 1"), ("", "required: -n"), ("-n 2 --loat 1", "loat")]
)
def test_wrong_options_are_said(notebook: Notebook, line: str, said: str) -> None:
    result = notebook.cell(f"%%dlb {line}\npass")
    assert not result.success
    assert "%%dlb: " in notebook.out
    assert said in notebook.out


def test_an_exception_is_that_of_the_cell_at_its_line(notebook: Notebook) -> None:
    notebook.run(
        "A = np.zeros(20)",
        "class Odd(Exception):\n    pass",
        "def f(i):\n    if i == 7:\n        raise Odd(i)\n    return i",
    )
    result = notebook.cell(FILL.replace("range(n)", "range(20)") + "after = 1\n")
    assert type(result.error_in_exec) is notebook["Odd"]
    assert result.error_in_exec.args == (7,)
    assert "  cell, line 4, in <module>\n    4 |     A[i] = f(i)\n      |            ^^^^\n" in notebook.out
    assert "in iteration i=7 of the loop at cell, line 3" in notebook.out
    assert "after" not in notebook.shell.user_ns
    assert notebook["A"][:7].tolist() == list(range(7))


class Stream:
    """What is written, and when; ``begun`` is called once the word is there."""

    def __init__(self, begun: Callable[[], object] = lambda: None) -> None:
        self.seen: list[tuple[float, str]] = []
        self._begun = begun

    def write(self, text: str) -> None:
        self.seen.append((time.monotonic(), text))
        if "begun" in text:
            self._begun()

    def flush(self) -> None:
        pass


def test_objects_of_other_kinds_are_replaced_where_they_have_changed(notebook: Notebook) -> None:
    before = (
        "from collections import Counter\n"
        "rng, counts, same = np.random.default_rng(5), Counter(a=1), Counter(b=2)"
    )
    body = "drawn = rng.random(3).tolist()\ncounts['a'] += 1\nbig = same['b']\n"
    found = []
    for magic in ("", "%%dlb -n 1 --no-summary\n"):
        notebook.run(before)
        same = notebook["same"]
        notebook.run(magic + body)
        assert notebook["same"] is same
        found.append((notebook["drawn"], notebook["rng"].random(), dict(notebook["counts"])))
    assert found[0] == found[1]


def test_what_a_cell_defines_is_seen_by_the_next(notebook: Notebook) -> None:
    notebook.run(
        "A, n = np.zeros(8), 8",
        "%%dlb -n 1 --no-summary\ndef f(i):\n    return i + offset\noffset = 5\n",
        "offset = 6",
        "%%dlb -n 2 --strategy none --no-summary --strict\n"
        "# dlb: parallel\nfor i in range(n):\n    A[i] = f(i)\n",
    )
    assert notebook["A"].tolist() == [float(i + 6) for i in range(8)]


def test_output_comes_while_the_cell_runs(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", stream := Stream())
    cell = "import time\nprint('begun')\ntime.sleep(1)\nprint('over')\n"
    notebook.shell.run_cell("%%dlb -n 1 --no-summary\n" + cell)
    at = {word: when for when, text in stream.seen for word in ("begun", "over") if word in text}
    assert at["over"] - at["begun"] > 0.5


def test_an_interrupt_of_the_kernel_ends_the_job(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    token = f"notebook-{os.getpid()}"
    monkeypatch.setenv(processes.TOKEN, token)
    notebook.run("A = np.zeros(1000)")
    interrupt = threading.Timer(1.5, os.kill, (os.getpid(), signal.SIGINT))
    monkeypatch.setattr("sys.stdout", Stream(interrupt.start))
    result = notebook.shell.run_cell(
        "%%dlb -n 2 --strategy none\nimport time\nprint('begun')\n# dlb: parallel\nfor i in range(1000):\n"
        "    time.sleep(0.05)\n    A[i] = 1\n"
    )
    assert isinstance(result.error_in_exec, KeyboardInterrupt)
    assert not processes.end_all(token, patience=5.0)
    assert 0 < notebook["A"].sum() < 1000


def test_a_report_stands_below_the_cell(notebook: Notebook) -> None:
    notebook.run("A, n = np.zeros(40), 40", "def f(i):\n    return float(i)")
    with notebook.shell.builtin_trap, warnings.catch_warnings():
        warnings.simplefilter("error")  # IPython warns of some pages
        notebook.run(FILL.replace("--no-summary", "--report"))
    assert "dlb: 2 ranks, " in notebook.err
    assert "IPython.core.display.HTML" in notebook.out
