"""`dlbrt.balanced` in programs written for MPI: the bits of the sequential loop, and an end on every rank."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential

pytestmark = pytest.mark.mpi

HEAD = """\
import sys
import time
import numpy as np
from mpi4py import MPI
import dlbrt

world = MPI.COMM_WORLD
rank, ranks = world.Get_rank(), world.Get_size()

def rooted(array):
    "The array at rank 0, and one of its shape elsewhere."
    if rank == 0:
        return array
    return np.full_like(array, 7)

def say(*words):
    "Print a line as a whole, which lines of other ranks cannot break."
    sys.stdout.write(" ".join(map(str, words)) + "\\n")
    sys.stdout.flush()

def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
"""

#: Every strategy in one program: rows of both kinds, and an array that is in both.
STRATEGIES = """
from dlbrt.balance import strategies
from dlbrt.contract import AVAILABLE

n = 90
source = np.random.default_rng(1).random((n, 6))
expected_b, expected_c = np.zeros(n), source[:, ::2].copy()
for i in range(n - 1, 0, -2):
    expected_b[i] = np.sin(source[i]).sum()
    expected_c[i] *= source[i].max()
for name in AVAILABLE:
    A = rooted(source.copy())
    B = rooted(np.zeros(n))
    C = rooted(source.copy())[:, ::2]
    done = []
    for i in dlbrt.balanced(range(n - 1, 0, -2), rows=[A, C], results=[B, C], strategy=name):
        busy(3e-4 if i < n / 2 else 1e-4)
        B[i] = np.sin(A[i]).sum()
        C[i] *= A[i].max()
        done.append(i)
    everything = [i for part in world.allgather(done) for i in part]
    assert sorted(everything) == list(range(1, n, 2)), name
    if rank == 0:
        assert (B.tobytes(), C.tobytes()) == (expected_b.tobytes(), expected_c.tobytes()), name
        say(name)
"""

REST = """
for n in (0, 1, ranks, 50):
    A, B = rooted(np.arange(float(n))), np.full(n, -1.0)
    for i in dlbrt.balanced(range(n), rows=[A], results=[B], everywhere=True):
        B[i] = 2 * A[i]
    assert B.tolist() == [2.0 * i for i in range(n)], (n, B)

words = ["ant", "bee", "cat", "dog", "eel", "fox"]
lengths = np.zeros(len(words), dtype=np.int64)
for word in dlbrt.balanced((word for word in words), results=[lengths], cost=len):
    lengths[words.index(word)] = len(word)
assert rank or lengths.tolist() == [3] * 6

for spelled in (enumerate(words), dlbrt.enumerate(words)):
    for number, word in dlbrt.balanced(spelled, results=[lengths], everywhere=True):
        lengths[number] = number
assert lengths.tolist() == list(range(6))

for i in dlbrt.balanced(range(6), results=[lengths], weights=[1] * (ranks - 1) + [3], everywhere=True):
    inner = [k for k in dlbrt.balanced(range(4))]
    lengths[i] = sum(inner)
assert lengths.tolist() == [6] * 6

half = world.Split(rank % 2, rank)
B = np.zeros(20)
for i in dlbrt.balanced(range(20), results=[B], everywhere=True, comm=half):
    B[i] = i + rank % 2
assert B.tolist() == [float(i + rank % 2) for i in range(20)]

found = np.zeros(400, dtype=bool)
for i in dlbrt.balanced(range(400), results=[found], breaks=True, everywhere=True):
    busy(1e-4)
    found[i] = True
    if i == 7:
        break
assert found[7]
assert ranks == 1 or not found.all()

A = rooted(np.arange(30.0))
B = np.zeros(30)
for i in dlbrt.balanced(range(30), rows=[A], results=[B]):  # the ranks agree as before
    B[i] = A[i]
assert rank or B.tolist() == A.tolist()
say("rank", rank, "is at the end")
"""

LEAVING = """
def loop():
    for i in dlbrt.balanced(range(500)):
        busy(2e-4)
        if i == 30:
            LEAVE

try:
    loop()
    say(rank, "went on")
except Exception as error:
    say(rank, f"{type(error).__name__}: {error}")
B = np.zeros(10)
for i in dlbrt.balanced(range(10), results=[B], everywhere=True):
    B[i] = i
assert B.sum() == 45
"""

WRONG = """
A, frozen = np.zeros((4, 2)), np.zeros(4)
frozen.flags.writeable = False
for arguments in (
    dict(iterable=range(5), rows=[A]),
    dict(iterable=range(-1, 3), rows=[A]),
    dict(iterable=range(4), results=[np.array([None] * 4)]),
    dict(iterable=range(4), results=[frozen]),
    dict(iterable=range(4), rows=[A], results=[A[:, 1]]),
    dict(iterable=range(4 + rank), results=[]),
    dict(iterable=range(4), strategy="gddlb"),
    dict(iterable=range(4), weights=[1]),
    dict(iterable=range(40), cost=lambda i: 1 / (i - 3)),
):
    try:
        for i in dlbrt.balanced(**arguments):
            pass
        say(rank, "no error")
    except ValueError as error:
        say(rank, error)
"""


def run(tmp_path: Path, ranks: int, text: str, env: dict[str, str] | None = None) -> list[str]:
    """The lines that the program prints."""
    program = tmp_path / "by_hand.py"
    program.write_text(HEAD + text)
    command = [sys.executable, str(program)]
    done = run_mpi(ranks, command, env=env) if ranks > 1 else run_sequential(command, env=env)
    assert (done.status, done.stderr) == (0, "")
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("ranks", "load"), [(1, "none"), (2, "fixed:0,2"), (3, "random:max=3,duration=0.01,seed=1"), (5, "none")]
)
def test_every_strategy_gives_the_bits_of_the_sequential_loop(ranks: int, load: str, tmp_path: Path) -> None:
    from dlbrt.contract import AVAILABLE

    assert run(tmp_path, ranks, STRATEGIES, {"DLB_LOAD": load}) == list(AVAILABLE)


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_iterables_nests_breaks_and_communicators(ranks: int, tmp_path: Path) -> None:
    lines = run(tmp_path, ranks, REST)
    assert sorted(lines) == [f"rank {rank} is at the end" for rank in range(ranks)]


@pytest.mark.parametrize(("leave", "own"), [("raise KeyError(i)", "KeyError: 30"), ("break", "went on")])
@pytest.mark.parametrize(("ranks", "strategy"), [(2, "GDDLB"), (3, "steal"), (3, "none"), (3, "FAC2")])
def test_a_rank_that_leaves_ends_the_loop_on_all(
    leave: str, own: str, ranks: int, strategy: str, tmp_path: Path
) -> None:
    lines = run(tmp_path, ranks, LEAVING.replace("LEAVE", leave), {"DLB_STRATEGY": strategy})
    assert len(lines) == ranks
    assert sum(line.endswith(own) for line in lines) == 1
    others = [line for line in lines if not line.endswith(own)]
    said = r"\d LeftEarlyError: rank \d has left the loop in the iteration of 30"
    assert all(re.fullmatch(said, line) for line in others), lines


def test_what_does_not_fit_is_an_error_on_all_ranks(tmp_path: Path) -> None:
    lines, place = run(tmp_path, 2, WRONG), "rank 0: rows, results:"
    for rank in (0, 1):
        said = [line.partition(" ")[2] for line in lines if line.startswith(f"{rank} ")]
        assert said == [
            f"{place} items 0 to 4 have no rows in a ndarray of shape (4, 2) and type float64",
            f"{place} items -1 to 2 have no rows in a ndarray of shape (4, 2) and type float64",
            f"{place} expected numpy arrays of numbers, found ndarray of shape (4,) and type object",
            f"{place} rows cannot be stored in a read-only ndarray of shape (4,) and type float64",
            f"{place} expected arrays without common memory, or one object in both",
            "rank 1: expected the arguments and lengths of rank 0, found others",
            "rank 0: strategy: found 'gddlb'; did you mean GDDLB? (capital and small letters differ)",
            "rank 0: weights: expected a number of at least 0 for each of 2 ranks, one above 0",
            "cost raises ZeroDivisionError at index 3: division by zero",
        ]


def test_a_malformed_option_is_an_error_on_all_ranks(tmp_path: Path) -> None:
    text = """
try:
    list(dlbrt.balanced(range(3)))
except ValueError as error:
    say(error)
"""
    first, second = run(tmp_path, 2, text, {"DLB_STRATEGY": "GDLB"})
    assert first == second
    assert first.startswith("DLB_STRATEGY (--strategy): this version has auto, none, ")


def test_it_is_refused_where_the_runtime_runs_the_program(tmp_path: Path) -> None:
    text = """
dlb = dlbrt.start(world)
try:
    list(dlbrt.balanced(range(3)))
except RuntimeError as error:
    say(error)
"""
    found = run(tmp_path, 2, text)
    assert found == ["dlbrt.balanced in a program that dlbrt.start runs: annotate the loop instead"]
