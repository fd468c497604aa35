"""Programs of several modules: loops in any of them, run by file, by ``-m`` and from elsewhere."""

from __future__ import annotations

import json
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from dlbc.cli import main
from tests.support.mpi import Completed, run_mpi, run_sequential
from tests.support.settings import RUNS, each_under_some

ORBITS = Path(__file__).resolve().parent.parent / "packages" / "orbits"

#: How the program is named, and from where, in terms of its directory.
WAYS = {
    "file": (["main.py"], "."),
    "module": (["-m", "orbits", "24"], "."),
    "elsewhere": (["{home}/main.py"], "/"),
}

SIM = """\
import numpy as np

W = 4
table = np.ones(12)

def fill(n):
    out = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        out[i] = shifted(i) + table[i]
    return out

def shifted(i):
    return i * W
"""


#: Loops over arrays that are names of the module, and what reads such an array behind their back.
GLOBAL = """\
import numpy as np

A = np.zeros(40)
B = np.arange(40.0)

def fill(k):
    # dlb: parallel
    for i in range(40):
        A[i] = B[i] * k + scale(i)

def scale(i):
    return B[39 - i]

def hooked(k, hook):
    # dlb: parallel
    for i in range(40):
        A[i] = hook(i) + k
"""

HOOKS = """\
import sim

def near(i):
    return sim.A[(i + 7) % 40] * 0.5

def plain(i):
    return i

class Hook:
    def call(self, i):
        return near(i) + 1
"""


@pytest.fixture(scope="module", name="home")
def copy_of_the_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(ORBITS, tmp_path_factory.mktemp("packages") / "orbits"))


@pytest.fixture(scope="module", name="expected")
def sequential_output(home: Path) -> bytes:
    done = run_sequential([sys.executable, str(home / "main.py")])
    assert done.status == 0, done.stderr
    return done.stdout


def run(home: Path, words: Sequence[str], ranks: int = 2, env: Mapping[str, str] | None = None) -> Completed:
    """The program under `dlbc run`; loops run on all ranks."""
    command = [sys.executable, "-m", "dlbc", "run", "-n", str(ranks), *words]
    return run_sequential(command, env=env or {"DLB_STRATEGY": "none"}, cwd=home)


def write(home: Path, **files: str) -> None:
    for name, text in files.items():
        (home / f"{name}.py").write_text(text)


@pytest.mark.mpi
@pytest.mark.parametrize(("way", "number"), each_under_some(WAYS, 2))
def test_a_package_as_in_one_process(home: Path, expected: bytes, way: str, number: int) -> None:
    ranks, env = RUNS[number]
    words, directory = WAYS[way]
    done = run(home / directory, [word.format(home=home) for word in words], ranks, env)
    assert (done.status, done.stdout) == (0, expected), done.stderr


@pytest.mark.mpi
def test_the_status_of_a_module_is_its_own(home: Path) -> None:
    assert run(home, ["-m", "orbits", "7"]).status == 3


@pytest.mark.mpi
def test_what_the_program_sets_in_a_module_counts(tmp_path: Path) -> None:
    write(tmp_path, sim=SIM, main="import sim\nsim.W = 7\nsim.table[3] = 5.5\nprint(sim.fill(12).tolist())\n")
    done = run(tmp_path, ["main.py"], 3)
    assert done.stdout.decode() == f"{[i * 7 + (5.5 if i == 3 else 1.0) for i in range(12)]}\n", done.stderr


#: Functions with loops that their module knows by objects around them alone.
REGISTERED = """\
import numpy as np

class registered:
    def __init__(self, f):
        self.f = f

    def __call__(self, *args):
        return self.f(*args)

@registered
def halves(data):
    out = np.zeros(len(data))
    # dlb: parallel
    for i in range(len(data)):
        out[i] = data[i] / 2
    return out

@registered
def scaled(data, f):
    out = np.zeros(len(data))
    # dlb: parallel
    for i in range(len(data)):
        out[i] = f(data[i]) + halves(data[:3])[1]
    return out
"""


KINDS_OF_CLASSES = """\
from abc import ABC, abstractmethod
from collections import namedtuple
from dataclasses import dataclass
from functools import cached_property
from typing import Generic, NamedTuple, TypedDict, TypeVar
T = TypeVar("T")
class Seen(NamedTuple):
    a: int
    value: float = 2.0
    def twice(self):
        return self.value * 2
class Box(Generic[T]):
    def __init__(self, x: T):
        self.x = x
class Table(TypedDict):
    a: int
class Base(ABC):
    @abstractmethod
    def of(self): ...
class Derived(Base, Generic[T]):
    def of(self):
        return 3
@dataclass(slots=True)
class Slim(Generic[T]):
    x: T
Point = namedtuple("Point", "x y")
class Lazy:
    def __init__(self, n):
        self.n = n
    @cached_property
    def square(self):
        return self.n**2
class Sub(Seen):
    __slots__ = ()
seen = [Seen(k) for k in range(12)]
out = [None] * 12
# dlb: parallel
for k in range(12):
    out[k] = (seen[k].twice(), Box(k).x, Table(a=k), Derived().of(), Slim(k), Point(k, 1),
              Sub(1, 2.0), seen[k]._replace(a=9), Lazy(k).square)
print(out)
"""


@pytest.mark.mpi
def test_objects_of_classes_of_all_kinds(tmp_path: Path) -> None:
    write(tmp_path, main=KINDS_OF_CLASSES)
    done = run(tmp_path, ["--strategy", "none", "main.py"])
    expected = run_sequential([sys.executable, str(tmp_path / "main.py")]).stdout
    assert (done.status, done.stdout) == (0, expected), done.stderr
    assert "run by rank 0 alone" not in done.stderr


@pytest.mark.mpi
def test_loops_of_functions_that_a_decorator_hides(tmp_path: Path) -> None:
    main = "import lib, numpy as np\nd = np.arange(20.0)\nprint(lib.scaled(d, np.sqrt).sum(), lib.halves(d))"
    write(tmp_path, lib=REGISTERED, main=main)
    done = run(tmp_path, ["--strategy", "none", "main.py"])
    expected = run_sequential([sys.executable, str(tmp_path / "main.py")]).stdout
    assert (done.status, done.stdout) == (0, expected), done.stderr
    assert "run by rank 0 alone" not in done.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("link", ["links/main.py", "links"], ids=["to the file", "to its directory"])
@pytest.mark.parametrize("transformed", [False, True], ids=["run", "transformed"])
def test_modules_of_a_program_behind_a_link_are_its_own(tmp_path: Path, link: str, transformed: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    loop = "# dlb: parallel\nfor i in range(12):\n    A[i] = sim.shifted(i)\n"
    write(home, sim=SIM, main=f"import sim\nsim.W = 7\nA = [0] * 12\n{loop}print(sum(A))\n")
    place = tmp_path / link
    place.parent.mkdir(exist_ok=True)
    env = {"DLB_STRATEGY": "none"}
    if transformed:
        assert main(["transform", str(home / "main.py")]) == 0
        (home / "main_dlb.py").replace(home / "main.py")
    place.symlink_to(home / "main.py" if place.suffix else home)
    program = place if place.suffix else place / "main.py"
    if transformed:
        done = run_mpi(2, [sys.executable, str(program)], env=env, cwd=tmp_path)
    else:
        done = run(tmp_path, [str(program)], env=env)
    assert done.stdout == b"462\n", done.stderr


@pytest.mark.mpi
def test_star_imports_bring_nothing_along(tmp_path: Path) -> None:
    main = "BLOCK = dlb = MPI = 3\nfrom sim import *\nprint(BLOCK, dlb, MPI, fill(3).sum())\n"
    write(tmp_path, sim=SIM, main=main)
    done = run(tmp_path, ["main.py"])
    assert done.stdout == b"3 3 3 15.0\n", done.stderr


@pytest.mark.mpi
def test_names_that_a_module_leaves_can_be_read(tmp_path: Path) -> None:
    loop = "# dlb: parallel\nfor k in range(5):\n    t = k * 2\n    A[k] = t\n"
    sim = f"import numpy as np\nA = np.zeros(5)\n{loop}"
    write(tmp_path, sim=sim, main="import sim\nprint(sim.k, sim.t, sim.A.tolist())\n")
    done = run(tmp_path, ["main.py"])
    assert done.stdout == b"4 8 [0.0, 2.0, 4.0, 6.0, 8.0]\n", done.stderr


@pytest.mark.mpi
@pytest.mark.parametrize("strategy", ["none", "steal"])
def test_arrays_that_are_names_of_a_module(tmp_path: Path, strategy: str) -> None:
    calls = [
        "fill(2)",
        "fill(3)",
        "hooked(2, hooks.plain)",
        "hooked(2, hooks.near)",
        "hooked(2, hooks.Hook().call)",
    ]
    lines = [f"sim.{call}\nprint(sim.A.tolist())\n" for call in calls]
    write(tmp_path, sim=GLOBAL, hooks=HOOKS, main="import sim, hooks\n" + "".join(lines))
    stats = tmp_path / "stats.json"
    done = run(tmp_path, ["main.py"], 3, {"DLB_STRATEGY": strategy, "DLB_STATS": str(stats)})
    expected = run_sequential([sys.executable, "main.py"], cwd=tmp_path)
    assert done.stdout == expected.stdout, done.stderr
    of_fill, of_hooked = json.loads(stats.read_text())["loops"]
    assert of_fill["strategy"] == strategy
    assert of_hooked["strategy"] == "local"
    assert "sim.py:16: run by rank 0 alone: A is also reached under another name" in done.stderr


#: Loops that make objects with finalizers, of their own module and of another one, and one that makes none.
FINALIZED = """\
import parts

made = []


class Own:
    def __init__(self, i):
        self.i = i

    def __del__(self):
        made.append(self.i)


def own(n):
    # dlb: parallel
    for i in range(n):
        Own(i)


def others(n):
    # dlb: parallel
    for i in range(n):
        part = parts.Part(i)


def none(n):
    squares = [0] * n
    # dlb: parallel
    for i in range(n):
        squares[i] = i * i
    return squares
"""
PARTS = """\
gone = []


class Part:
    def __init__(self, i):
        self.i = i

    def __del__(self):
        gone.append(self.i)
"""


@pytest.mark.mpi
def test_finalizers_of_classes_of_modules_run_as_in_one_process(tmp_path: Path) -> None:
    main = "import sim, parts\nsim.own(6)\nsim.others(6)\nprint(sim.made, parts.gone, sim.none(6))\n"
    write(tmp_path, sim=FINALIZED, parts=PARTS, main=main)
    stats = tmp_path / "stats.json"
    done = run(tmp_path, ["main.py"], 3, {"DLB_STRATEGY": "none", "DLB_STATS": str(stats)})
    expected = run_sequential([sys.executable, "main.py"], cwd=tmp_path)
    assert done.stdout == expected.stdout, done.stderr
    loops = [loop["strategy"] for loop in json.loads(stats.read_text())["loops"]]
    assert loops == ["local", "local", "none"]


#: A compiled loop, and one that is left to Python for the list that it is given.
COMPILED = """\
import math

def roots(values, out):
    # dlb: parallel, jit
    for i in range(len(values)):
        out[i] = math.sqrt(values[i]) + i
    return out
"""


@pytest.mark.mpi
def test_compiled_loops_of_a_module_run_on_all_ranks(tmp_path: Path) -> None:
    """Other ranks import the source, which has none of the functions that the loop has become."""
    main_text = (
        "import numpy as np\nfrom sim import roots\nfor _ in range(3):\n"
        "    print(sum(roots(np.arange(40.0), np.zeros(40))), roots([4.0] * 9, [0] * 9))\n"
    )
    write(tmp_path, sim=COMPILED, main=main_text)
    done = run(tmp_path, ["main.py"], env={"DLB_STRATEGY": "none", "DLB_STATS": str(tmp_path / "stats.json")})
    assert done.stdout == run_sequential([sys.executable, str(tmp_path / "main.py")]).stdout
    [loop] = json.loads((tmp_path / "stats.json").read_text())["loops"]
    assert loop["runs"] == 6
    assert all(rank["iterations"] > 0 for rank in loop["per_rank"])
    assert "alone" not in done.stderr


@pytest.mark.mpi
def test_a_plugin_is_transformed_as_it_is_imported(tmp_path: Path) -> None:
    main = "import importlib\nsim = importlib.import_module('s' + 'im')\nprint(sim.fill(12).sum())\n"
    write(tmp_path, sim=SIM, main=main)
    stats = tmp_path / "stats.json"
    done = run(tmp_path, ["main.py"], env={"DLB_STRATEGY": "none", "DLB_STATS": str(stats)})
    assert done.stdout == b"276.0\n", done.stderr
    assert "sim.py:9" in stats.read_text()


@pytest.mark.mpi
def test_a_plugin_beside_files_with_names_of_the_standard_library(tmp_path: Path) -> None:
    main = "sim = __import__('s' + 'im')\nprint(sim.fill(12).sum())\n"
    write(tmp_path, sim=SIM, main=main, tokenize="", tempfile="")
    command = [sys.executable, "-P", "-m", "dlbc", "run", "-n", "1", "main.py"]
    done = run_sequential(command, cwd=tmp_path)
    assert done.stdout == b"276.0\n", done.stderr


@pytest.mark.mpi
def test_an_error_in_a_module_shows_its_source(tmp_path: Path) -> None:
    write(tmp_path, sim=SIM.replace("shifted(i) +", "1 / (9 - i) +"), main="import sim\nsim.fill(12)\n")
    done = run(tmp_path, ["main.py"])
    sequential = run_sequential([sys.executable, "main.py"], cwd=tmp_path)
    assert done.status == sequential.status == 1
    shown = done.stderr[done.stderr.index("Traceback") :]
    assert [line for line in shown.splitlines() if not line.startswith("in iteration")] == (
        sequential.stderr.splitlines()
    )


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_a_transformed_module_that_an_untransformed_program_imports(tmp_path: Path, ranks: int) -> None:
    main = '"""A program."""\nimport sys\nimport sim_dlb as sim\n\nprint("begun", sim.fill(12).sum())\n'
    main += "sys.exit(4)\n"
    write(tmp_path, sim=SIM, main=main)
    assert run_sequential([sys.executable, "-m", "dlbc", "transform", "sim.py"], cwd=tmp_path).status == 0
    done = run_mpi(ranks, [sys.executable, "main.py"], env={"DLB_STRATEGY": "none"}, cwd=tmp_path)
    assert (done.status, done.stdout) == (4, b"begun 276.0\n"), done.stderr


@pytest.mark.mpi
@pytest.mark.parametrize(
    "before", ["print('begun')", "for i in range(3):\n    print(i)", "def f():\n    import sim_dlb\nf()"]
)
def test_what_ran_on_every_rank_before_is_named(tmp_path: Path, before: str) -> None:
    write(tmp_path, sim=SIM, main=f"x = 3\n{before}\nimport sim_dlb as sim\nprint(sim.fill(12).sum())\n")
    assert run_sequential([sys.executable, "-m", "dlbc", "transform", "sim.py"], cwd=tmp_path).status == 0
    done = run_mpi(2, [sys.executable, "main.py"], cwd=tmp_path)
    assert done.status == 2
    line = 4 if before.startswith("def") else 2
    assert f"dlb: main.py:{line} has run on every rank" in done.stderr
    assert "276.0" not in done.stdout.decode()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["-m", "missing"], "found no module named missing"),
        (["-m", "package"], "found the package package, which has no module __main__"),
        (["-m", "package.missing"], "found no module named package.missing"),
        (["-m", "json.decoder.x"], "found no module named json.decoder.x"),
    ],
)
def test_a_module_that_cannot_be_run_is_named(tmp_path: Path, words: list[str], found: str) -> None:
    (tmp_path / "package").mkdir()
    write(tmp_path, main="x = 1\n", **{"package/__init__": ""})
    done = run(tmp_path, words)
    assert done.status == 2
    assert f"error[DLB019]: expected a module whose source Python can run, {found}" in done.stderr


@pytest.mark.parametrize("option", ["--package", "--follow"])
def test_a_package_without_source_is_named(tmp_path: Path, option: str) -> None:
    write(tmp_path, main="x = 1\n")
    done = run(tmp_path, [option, "itertools", "main.py"])
    assert done.status == 2
    assert f"{option}: expected a package whose source Python finds, found itertools without" in done.stderr


OTHER = """\
import numpy as np

def fill(u, i):
    u[i] = i * i

def total(n):
    s = 0
    # dlb: parallel
    for i in range(n):
        s += i
    return s
"""


@pytest.fixture(name="installed")
def package_that_lies_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "site" / "other").mkdir(parents=True)
    (tmp_path / "program").mkdir()
    (tmp_path / "site" / "other" / "__init__.py").write_text(OTHER)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))
    loop = "# dlb: parallel\nfor i in range(9):\n    other.fill(u, i)\n"
    main = f"import numpy as np\nimport other\nu = np.zeros(9)\n{loop}print(u.sum(), other.total(9))\n"
    write(tmp_path / "program", main=main)
    return tmp_path / "program"


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("options", "loops"), [([], 1), (["--follow", "other"], 1), (["--package", "other"], 2)]
)
def test_installed_packages_are_seen_and_transformed_on_request(
    installed: Path, options: list[str], loops: int
) -> None:
    stats = installed / "stats.json"
    done = run(installed, [*options, "main.py"], env={"DLB_STRATEGY": "none", "DLB_STATS": str(stats)})
    assert done.stdout == b"204.0 36\n", done.stderr
    found = json.loads(stats.read_text())["loops"]
    assert len(found) == loops
    assert found[0]["strategy"] == ("none" if options else "local")
    assert ("has changed" in done.stderr) == (not options)


@pytest.mark.mpi
@pytest.mark.parametrize("imported", ["import other", "other = __import__('other')"], ids=["plain", "plugin"])
def test_an_installed_module_without_a_package_belongs_to_the_program(installed: Path, imported: str) -> None:
    site, stats = installed.parent / "site", installed / "stats.json"
    (site / "other" / "__init__.py").unlink()
    (site / "other").rmdir()
    write(site, other=SIM)
    write(installed, main=f"{imported}\nother.W = 7\nprint(other.fill(12).sum())\n")
    env = {"DLB_STRATEGY": "none", "DLB_STATS": str(stats)}
    done = run(installed, ["--package", "other", "main.py"], env=env)
    assert done.stdout == b"474.0\n", done.stderr
    assert [loop["strategy"] for loop in json.loads(stats.read_text())["loops"]] == ["none"]


def test_a_module_beside_a_package_of_its_name_is_warned_of(tmp_path: Path) -> None:
    (tmp_path / "sim").mkdir()
    write(tmp_path, main="import sim\nprint(sim.x)\n", sim="x = 1\n", **{"sim/__init__": "x = 2\n"})
    done = run(tmp_path, ["main.py"])
    assert done.stdout == b"2\n"
    assert "warning[DLB020]: both sim/ and sim.py exist; Python imports the package sim/" in done.stderr


def test_errors_of_modules_are_found_before_the_run(tmp_path: Path) -> None:
    write(
        tmp_path,
        main="print('begun')\nimport sim\n",
        sim="# dlb: parallel\nfor i in range(3):\n    x[i] = x[i - 1]\n",
    )
    done = run(tmp_path, ["main.py"])
    assert (done.status, done.stdout) == (1, b"")
    assert "sim.py:" in done.stderr


LOOP = "# dlb: parallel\nfor i in range(3):\n    A[i] = i\n"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"import numba\n@numba.njit\ndef fill(A):\n{textwrap.indent(LOOP, '    ')}", "DLB502"),
        (f"def fill(A):\n    exec({LOOP!r})\n", "DLB503"),
    ],
)
def test_loops_of_modules_that_cannot_be_taken_stop_the_run(tmp_path: Path, text: str, code: str) -> None:
    write(tmp_path, main="print('begun')\nimport sim\n", sim=text)
    done = run(tmp_path, ["main.py"])
    assert (done.status, done.stdout) == (1, b"")
    assert f"error[{code}]" in done.stderr


def test_loops_of_modules_that_never_run_are_named(tmp_path: Path) -> None:
    write(tmp_path, main="import sim\nprint('done')\n", sim=f"if False:\n{textwrap.indent(LOOP, '    ')}")
    done = run(tmp_path, ["main.py"])
    assert (done.status, done.stdout) == (0, b"done\n")
    assert "sim.py:3:5: warning[DLB506]: this loop never runs" in done.stderr


def test_a_compiled_module_beside_an_annotated_one_is_warned_of(tmp_path: Path) -> None:
    write(tmp_path, main="print('begun')\nimport sim\n", sim=SIM)
    (tmp_path / f"sim{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    done = run(tmp_path, ["main.py"])
    assert (done.status, done.stdout) == (1, b"begun\n")  # the empty file is no library
    assert f"sim.py: warning[DLB022]: both sim.py and sim{EXTENSION_SUFFIXES[0]} exist" in done.stderr


@pytest.mark.parametrize(("imports", "status"), [("from fast import fill", 2), ("import sim", 0)])
def test_annotated_source_of_cython_is_refused_where_it_is_imported(
    tmp_path: Path, imports: str, status: int
) -> None:
    write(tmp_path, main=f"{imports}\n", sim="x = 1\n")
    (tmp_path / "fast.pyx").write_text(SIM)
    done = run(tmp_path, ["main.py"])
    assert done.status == status
    assert ("fast.pyx: error[DLB021]: expected a program that Python runs" in done.stderr) == (status == 2)


def test_a_module_that_is_not_valid_python_is_named(tmp_path: Path) -> None:
    write(tmp_path, main="print('begun')\nimport sim\n", sim="# dlb: parallel\nfor i in range(3)\n    pass\n")
    done = run(tmp_path, ["main.py"])
    assert (done.status, done.stdout) == (1, b"")
    assert "sim.py:2:18: error[DLB004]: this is not valid Python" in done.stderr


SUSPENDED = """\
import numpy as np

def rows(n):
    A = np.zeros(n)
    for k in range(3):
        # dlb: parallel, BLOCK
        for i in range(n):
            A[i] += i * k
        yield A.sum()

async def compute(n):
    base = await one()
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = base + i
    return A.sum() + await one()

async def one():
    return 1

async def items(n):
    A = np.zeros(n)
    # dlb: parallel, BLOCK
    for i in range(n):
        A[i] = i
    for a in A:
        yield a
"""


@pytest.mark.mpi
def test_loops_of_generators_and_coroutines_are_shared(tmp_path: Path) -> None:
    main = "import asyncio, sim\nprint(*sim.rows(10), asyncio.run(sim.compute(10)))\n"
    main += "async def go():\n    return [float(a) async for a in sim.items(4)]\nprint(asyncio.run(go()))\n"
    write(tmp_path, sim=SUSPENDED, main=main)
    stats = tmp_path / "stats.json"
    done = run(tmp_path, ["main.py"], env={"DLB_STRATEGY": "none", "DLB_STATS": str(stats)})
    assert done.stdout == b"0.0 45.0 135.0 56.0\n[0.0, 1.0, 2.0, 3.0]\n", done.stderr
    loops = {loop["source"]: loop for loop in json.loads(stats.read_text())["loops"]}
    assert [(place, loop["iterations"]) for place, loop in sorted(loops.items())] == [
        ("sim.py:15", 10),
        ("sim.py:25", 4),
        ("sim.py:7", 30),
    ]
    assert all(rank["iterations"] for loop in loops.values() for rank in loop["per_rank"])


@pytest.mark.mpi
@pytest.mark.parametrize(
    "load",
    [
        "from importlib.util import module_from_spec, spec_from_file_location\n"
        "spec = spec_from_file_location('anything', 'sim.py')\n"
        "sim = module_from_spec(spec)\nspec.loader.exec_module(sim)\n",
        "from importlib.machinery import SourceFileLoader\n"
        "import types\nsim = types.ModuleType('anything')\n"
        "SourceFileLoader('anything', 'sim.py').exec_module(sim)\n",
    ],
)
def test_a_file_that_is_loaded_by_its_path_is_transformed(tmp_path: Path, load: str) -> None:
    write(tmp_path, sim=SIM, main=f"{load}print(sim.fill(12).sum())\n")
    stats = tmp_path / "stats.json"
    done = run(tmp_path, ["main.py"], env={"DLB_STRATEGY": "none", "DLB_STATS": str(stats)})
    assert done.stdout == b"276.0\n", done.stderr
    assert "sim.py:9" in stats.read_text()
