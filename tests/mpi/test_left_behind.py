"""Objects that cannot leave rank 0: what iterations do not use stays there, what they use is found and named.

`programs/left_behind.py` has what the compiler sees. Here a function of an installed package, which neither
the compiler nor the runtime reads, uses such an object after all: in one iteration, and caught or not.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from dlbc.cli import main
from tests.support.mpi import Completed, run_mpi, run_sequential, transform
from tests.support.tier import is_full

pytestmark = pytest.mark.mpi

PROGRAMS = Path(__file__).resolve().parent / "programs"
RANKS = (1, 2, 3, 5)
STRATEGIES = ("none", "GDDLB", "SS", "steal")
#: Numbers of ranks, each with the iteration that uses what cannot leave rank 0.
SETTINGS = ((2, 86), (3, 86), (3, 3), (5, 50))

INSTALLED = """
def unused(sim, i, rare):
    return sim.n * 0.5 + i

def drawn(sim, i, rare):
    return sim.rng.random() if i == rare else float(i)

def caught(sim, i, rare):
    try:
        return drawn(sim, i, rare)
    except Exception:
        return -1.0

def taken(sim, i, rare):
    return next(sim.numbers) if i == rare else float(i)

def often(sim, i, rare):
    return next(sim.numbers) if i % 7 == 6 else float(i)

def written(sim, i, rare):
    if i == rare:
        sim.cfg["log"].write(f"late {i};")
    return float(i)

def tested(sim, i, rare):
    return float(bool(sim.lock.locked())) if i == rare else 1.0

def handed_on(sim, i, rare):
    return sim.lock, sim.lock is None, i
"""

PROGRAM = """
import sys
sys.path.insert(0, {installed!r})
import tempfile
import threading
import numpy as np
import installed_elsewhere

class Sim:
    def __init__(self, n):
        self.n = n
        self.lock = threading.Lock()
        self.rng = np.random.default_rng(4)
        self.numbers = (k * 0.5 for k in range(100))
        self.cfg = {{"dt": 0.5, "log": tempfile.TemporaryFile("w+")}}

def run(sim, out, rare):
    # dlb: parallel
    for i in range(sim.n):
        out[i] = installed_elsewhere.{function}(sim, i, rare)

sim = Sim(90)
own = dict(vars(sim))
for again in range(3):
    out = [0.0] * 90
    run(sim, out, int(sys.argv[1]))
    print([(x is sim.lock, *rest) for x, *rest in out] if type(out[0]) is tuple else out)
print(sim.rng.random().hex(), next(sim.numbers), sim.lock.locked())
print([name for name, value in vars(sim).items() if value is not own[name]])
sim.cfg["log"].seek(0)
print(sim.cfg["log"].read())
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A program, its argument, and where a run leaves its statistics."""

    generated: Path
    source: Path
    stats: Path

    def sequential(self, rare: int) -> Completed:
        return run_sequential([sys.executable, str(self.source), str(rare)])

    def on(self, ranks: int, rare: int, **env: str) -> Completed:
        command = [sys.executable, str(self.generated), str(rare)]
        return run_mpi(ranks, command, env={"DLB_STATS": str(self.stats), **env})

    @property
    def iterations(self) -> Sequence[int]:
        (loop,) = json.loads(self.stats.read_text())["loops"]
        return [rank["iterations"] for rank in loop["per_rank"]]


@pytest.fixture
def case(request: pytest.FixtureRequest, tmp_path: Path) -> Case:
    installed, home = tmp_path / "lib", tmp_path / "program"
    installed.mkdir()
    home.mkdir()
    (installed / "installed_elsewhere.py").write_text(INSTALLED)
    source = home / "program.py"
    source.write_text(PROGRAM.format(installed=str(installed), function=request.param))
    return Case(transform(source, home), source, tmp_path / "stats.json")


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("case", ["unused"], indirect=True)
def test_what_no_iteration_uses_is_no_reason_to_run_alone(case: Case, ranks: int) -> None:
    done = case.on(ranks, 0)
    assert (done.stdout, done.status) == (case.sequential(0).stdout, 0), done.stderr
    assert "rank 0 alone" not in done.stderr
    assert min(case.iterations) > 0
    assert sum(case.iterations) == 3 * 90


@pytest.mark.parametrize("strategy", STRATEGIES if is_full() else ("SS",))
@pytest.mark.parametrize(
    ("case", "path"),
    [
        ("drawn", "sim.rng"),
        ("caught", "sim.rng"),
        ("taken", "sim.numbers"),
        ("often", "sim.numbers"),
        ("written", "sim.cfg['log']"),
        ("tested", "sim.lock"),
    ],
    indirect=["case"],
)
def test_a_use_that_is_not_seen_is_found_and_done_by_rank_0(case: Case, path: str, strategy: str) -> None:
    for ranks, rare in SETTINGS if is_full() else SETTINGS[1:3]:
        done = case.on(ranks, rare, DLB_STRATEGY=strategy)
        assert (done.stdout.decode(), done.status) == (case.sequential(rare).stdout.decode(), 0), done.stderr
        if rare == 86:
            assert f"{path} (used by iterations, though it cannot leave rank 0)" in done.stderr


@pytest.mark.parametrize("case", ["caught", "taken"], indirect=True)
def test_the_same_where_nothing_is_watched(case: Case) -> None:
    for ranks in (2, 3):
        done = case.on(ranks, 86, DLB_TRUST="1")
        assert (done.stdout.decode(), done.status) == (case.sequential(86).stdout.decode(), 0), done.stderr
        assert "which cannot leave rank 0; rank 0 runs them again" in done.stderr


@pytest.mark.parametrize("case", ["drawn"], indirect=True)
def test_iterations_that_are_dealt_in_turn_are_done_by_rank_0_alone(case: Case) -> None:
    text = case.source.read_text().replace("# dlb: parallel", "# dlb: parallel, CYCLIC")
    case.source.write_text(text)
    transform(case.source, case.source.parent)
    done = case.on(3, 50)
    assert (done.stdout.decode(), done.status) == (case.sequential(50).stdout.decode(), 0), done.stderr
    assert "run by rank 0 alone: calls that dlbc has not seen may use sim.rng" in done.stderr


@pytest.mark.parametrize("case", ["handed_on"], indirect=True)
def test_what_stands_for_an_object_comes_back_as_the_object(case: Case) -> None:
    done = case.on(3, 0)
    assert (done.stdout.decode(), done.status) == (case.sequential(0).stdout.decode(), 0), done.stderr
    assert min(case.iterations) > 0  # of the first run: later ones find the lock among the items of `out`


def test_loops_beside_objects_that_cannot_leave_run_on_all_ranks(tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "left_behind.py", tmp_path)
    stats = tmp_path / "stats.json"
    generated = transform(tmp_path / "left_behind.py", tmp_path)
    done = run_mpi(2, [sys.executable, str(generated)], env={"DLB_STATS": str(stats), "DLB_STRATEGY": "none"})
    loops = json.loads(stats.read_text())["loops"]
    alone = [loop for loop in loops if loop["strategy"] == "local"]
    assert len(loops) - len(alone) >= 8, done.stderr
    assert "self.lock cannot go to other ranks" in done.stderr


REASONS = {
    "with self.lock: self.A[i] += 1": ("self.lock", "a lock is not needed"),
    "self.A[i] += len(self.io.log.name) > 0": ("self.io.log", "read the file before the loop"),
    "self.A[i] = self.draw(i)": ("self.rng", "np.random.default_rng((seed, i))"),
    "self.A[i] += self.cfg['log'].closed": ("self.cfg['log']", "or open it in the iteration"),
    "self.A[i] += self.held is None": ("self.held", "items = list(...)"),
}

USED = """
import sys, threading
import numpy as np

MAKERS = {{"numbers": lambda n: iter(range(n))}}

class Io:
    def __init__(self, log):
        self.log = log

class Sim:
    def __init__(self, n):
        self.n, self.A = n, np.zeros(n)
        self.lock = threading.Lock()
        self.rng = np.random.default_rng(4)
        self.held = MAKERS["numbers"](10)
        self.io = Io(open(__file__))
        self.cfg = {{"dt": 0.5, "log": open(__file__)}}

    def draw(self, i):
        return self.rng is None

    def run(self):
        # dlb: parallel, assume_independent
        for i in range(self.n):
            {body}

sim = Sim(20)
sim.run()
print(sim.A.tolist())
"""


@pytest.mark.parametrize("body", REASONS)
def test_the_reason_names_the_path_and_helps(body: str, tmp_path: Path) -> None:
    path, advice = REASONS[body]
    source = tmp_path / "program.py"
    source.write_text(USED.format(body=body))
    done = run_mpi(2, [sys.executable, str(transform(source, tmp_path))], env={"DLB_STRATEGY": "none"})
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    assert f"run by rank 0 alone: {path}" in done.stderr
    assert " cannot go to other ranks (" in done.stderr
    assert advice in done.stderr


SMOOTHED = """
import numpy as np
from numpy.random import multivariate_normal
from sys import stderr, stdout

class Noise:
    def __init__(self):
        self.state = np.random.RandomState(1)

noise = [Noise()]

class Filter:
    def __init__(self, n):
        self.sigmas = np.ones((n, 2))
        self.K = np.eye(2)

    def update(self, z):
        n = len(self.sigmas)
        # dlb: parallel
        for i in range(n):
            self.sigmas[i] += np.dot(self.K, z - self.sigmas[i])
"""


def test_looking_at_the_globals_of_a_module_is_no_use_of_them(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "kalman.py").write_text(SMOOTHED)
    (project / "main.py").write_text(
        "import kalman\nf = kalman.Filter(20)\nf.update([1.0, 2.0])\nprint(f.sigmas.sum())\n"
    )
    assert main(["transform", str(project), "-o", str(tmp_path / "out")]) == 0
    done = run_mpi(2, [sys.executable, "main.py"], env={"DLB_STRATEGY": "none"}, cwd=tmp_path / "out")
    assert (done.stdout, done.stderr) == (b"60.0\n", "")


@pytest.mark.parametrize("strategy", ["GDDLB", "SS"])
def test_what_other_ranks_cannot_read_is_left_to_rank_0(tmp_path: Path, strategy: str) -> None:
    source = Path(__file__).resolve().parent / "programs" / "unreadable.py"
    stats = tmp_path / "stats.json"
    env = {"DLB_STRATEGY": strategy, "DLB_STATS": str(stats)}
    done = run_mpi(3, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    said = [line.rpartition(": ")[0].partition(": run by ")[2] for line in done.stderr.splitlines()]
    assert said == [
        "rank 0 alone: what it uses cannot be read on other ranks (TypeError",
        *["rank 0 alone: what it uses cannot be read on other ranks (ValueError"] * 4,
    ]
    *alone, shared = json.loads(stats.read_text())["loops"]
    assert all(rank["iterations"] == 0 for loop in alone for rank in loop["per_rank"][1:])
    assert sum(rank["iterations"] for rank in shared["per_rank"][1:]) > 0


HANDED_ON = """
import random
import numpy as np
import hidden

class Box:
    def __init__(self):
        self.pick, self.state = hidden.held[0], hidden.held[1]

    def get(self, name, x):
        return getattr(self, name) and x * 2.0

def work(get, x):
    return get("pi" + "ck", x)

def draws(box, x):
    return getattr(box, "pi" + "ck")([x, x, 1]) if x > 10 else x

random.seed(3)
box, out, kept = Box(), np.zeros(20), []

def run(get):
    # dlb: parallel
    for i in range(20):
        out[i] = work(get, i)
    print(out.sum())
    # dlb: parallel
    for i in range(20):
        kept.append((box.state, box.pick) if i else box)
    print(kept[9][0] is hidden.held[1], kept[9][1].__self__ is hidden.held[2], kept[0] is box)
    # dlb: parallel
    for i in range(20):
        out[i] = draws(box, i)
    print(out.sum(), random.random())

run(box.get)
"""


@pytest.mark.parametrize("strategy", ["none", "SS"])
def test_a_global_generator_goes_by_name_and_draws_are_noticed(strategy: str, tmp_path: Path) -> None:
    hidden = "import random\nimport numpy.random as nr\nheld = [random.choice, nr.mtrand._rand, random._inst]"
    (tmp_path / "hidden.py").write_text(hidden)
    (tmp_path / "p.py").write_text(HANDED_ON)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "hidden.py").write_text(hidden)
    program = transform(tmp_path / "p.py", tmp_path / "out")
    expected = run_sequential([sys.executable, str(tmp_path / "p.py")])
    done = run_mpi(3, [sys.executable, str(program)], env={"DLB_STRATEGY": strategy})
    assert done.stdout == expected.stdout
    (line,) = done.stderr.splitlines()
    assert "run by rank 0 alone from iteration" in line
    assert "the state of random" in line


REPLACED = """
import numpy as np

np.random.set_bit_generator(np.random.PCG64(3))
out = np.zeros(40)
# dlb: parallel
for i in range(40):
    np.random.seed(i)
    out[i] = np.random.rand()
print(out.sum(), np.random.rand())
"""


def test_a_global_generator_of_another_kind_stays(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(REPLACED)
    program = transform(tmp_path / "p.py", tmp_path)
    expected = run_sequential([sys.executable, str(tmp_path / "p.py")])
    done = run_mpi(2, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert (done.status, done.stdout) == (0, expected.stdout), done.stderr
    (line,) = done.stderr.splitlines()
    assert "run by rank 0 alone: the program has given numpy's global generator another bit generator" in line
