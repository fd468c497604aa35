"""Traces of real runs: under every strategy, agents that are told the same again ask for the same."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dlbrt.balance.actions import Move, SendWork
from dlbrt.balance.strategies import AUTO, names
from dlbrt.contract import LOCAL
from dlbrt.observe.trace import RunTrace, Trace, read
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.recorded import Recording

from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.replay import replay
from tests.support.tier import is_full, pairs

pytestmark = pytest.mark.mpi

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "trace.md"

STRATEGIES = [*sorted(names()), AUTO]

HEAD = """
import numpy as np

def body(i):
    s = 0.0
    for j in range(1500 + 10 * (i % 50)):
        s += j * 0.5
    return s + i
"""

LOOP = """
def loop_{name}(A):
    # dlb: parallel{clause}
    for i in range(len(A)):
        A[i] {stores} body(i)

A = np.zeros({n})
loop_{name}(A)
print("{name}", A.sum().hex())
"""


def only(clause: str, n: int) -> str:
    """A program with one loop."""
    return LOOP.format(name="only", clause=clause, n=n, stores="=")


LOAD = {"DLB_LOAD": "random:max=5,duration=0.02,seed=7"}


def recorded(
    directory: Path, program: str, ranks: int, env: dict[str, str], status: int = 0
) -> tuple[Trace, list[dict[str, Any]]]:
    """The trace of a program, and what the statistics say of its loops; the output is compared."""
    source = directory / "prog.py"
    source.write_text(program)
    files = {"DLB_TRACE": str(directory / "t.json"), "DLB_STATS": str(directory / "s.json")}
    done = run_mpi(ranks, [sys.executable, str(transform(source, directory))], timeout=120, env=env | files)
    assert done.stdout == run_sequential([sys.executable, str(source)]).stdout, done.stderr
    assert done.status == status, done.stderr
    loops = json.loads((directory / "s.json").read_text())["loops"]
    return read(directory / "t.json"), loops


def runs(trace: Trace) -> list[RunTrace]:
    return [run for loop in trace.loops for run in loop.runs]


def check(run: RunTrace) -> None:
    """Every event is there, and replayed alike."""
    assert run.complete
    assert "\n".join(map(str, replay(run))) == ""


@pytest.mark.parametrize(
    ("ranks", "stores", "movers"), [(3, "+=", 12), (2, "=", 4), (5, "=", 4)][: 3 if is_full() else 1]
)
def test_every_strategy_is_replayed_alike(ranks: int, stores: str, movers: int, tmp_path: Path) -> None:
    """Where iterations read rows, these go with them; else they are claimed by number alone."""
    clauses = {name: "" if name == AUTO else f", schedule({name})" for name in STRATEGIES}
    loops = (LOOP.format(name=name, clause=c, n=250, stores=stores) for name, c in clauses.items())
    trace, found = recorded(tmp_path, HEAD + "".join(loops), ranks, LOAD)
    assert (trace.kind, trace.ranks, trace.offsets_s) == ("run", ranks, (0.0,) * ranks)
    assert [run.setup.requested_strategy for run in runs(trace) if run.setup is not None] == STRATEGIES
    for run, figures in zip(runs(trace), found, strict=True):
        check(run)
        assert run.strategy == figures["strategy"]
        moved = sum(
            len(action.units)
            if isinstance(action, SendWork)
            else sum(len(t.spans) for t in action.transfers if t.source == rank)
            for rank, each in enumerate(run.per_rank)
            for entry in each.entries
            for action in entry.actions
            if isinstance(action, SendWork | Move)
        )
        assert moved == figures["iterations_moved"]
        done = sorted(p for each in run.per_rank for chunk in each.chunks for p in chunk.positions)
        assert done == list(range(250))
    assert sum(figures["iterations_moved"] > 0 for figures in found) >= movers


@pytest.mark.parametrize(
    ("strategy", "group"), pairs(["LCDLB", "LDDLB"], ["2,exchange", "2,dynamic,masters"])
)
def test_groups_that_exchange_work_are_replayed_alike(strategy: str, group: str, tmp_path: Path) -> None:
    env = {"DLB_STRATEGY": strategy, "DLB_GROUP": group, "DLB_LOAD": "fixed:0,9,9,3,0"}
    trace, [figures] = recorded(tmp_path, HEAD.replace("1500", "6000") + only("", n=400), 5, env)
    [run] = runs(trace)
    check(run)
    assert figures["redistributions"] > 0


def test_choosing_again_and_again_is_replayed_alike(tmp_path: Path) -> None:
    program = HEAD.replace("1500", "15000") + only(", CYCLIC", n=500)
    trace, _ = recorded(tmp_path, program, 3, LOAD | {"DLB_ADAPT": "1"})
    [run] = runs(trace)
    check(run)
    assert run.setup is not None
    assert run.setup.requested_strategy == AUTO


FAILING = """
def loop(A):
    # dlb: parallel
    for i in range(len(A)):
        if i == 170 or i == 230:
            raise ValueError(i)
        A[i] = body(i)

try:
    loop(np.zeros(300))
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize("strategy", ["GDDLB", "LCDLB", "GSS", "steal"])
def test_a_body_that_fails_is_replayed_alike(strategy: str, tmp_path: Path) -> None:
    trace, _ = recorded(tmp_path, HEAD + FAILING, 3, LOAD | {"DLB_STRATEGY": strategy})
    [run] = runs(trace)
    check(run)
    done = {p for each in run.per_rank for chunk in each.chunks for p in chunk.positions}
    assert done >= set(range(170))
    assert 170 not in done


MANY = """
def loop(A, n):
    # dlb: parallel
    for i in range(n):
        A[i] = body(i)

A = np.zeros(400)
for n in (400, 0, 1, 3, 400):
    loop(A, n)
print(A.sum().hex())
"""


def test_all_runs_of_a_loop_are_there_those_on_rank_0_alone_too(tmp_path: Path) -> None:
    trace, [figures] = recorded(tmp_path, HEAD + MANY, 3, LOAD)
    found = runs(trace)
    assert [run.iterations for run in found] == [400, 0, 1, 3, 400]
    assert trace.loops[0].source == figures["source"] == "prog.py:12"
    for run in found:
        check(run)
        assert (run.setup is None) == (run.strategy == LOCAL)
    assert Recording(trace).loop(1).n == 400


def test_one_rank_records_what_its_iterations_take(tmp_path: Path) -> None:
    """Later iterations take three times as long as earlier ones, though nothing has to be looked for."""
    program = HEAD.replace("10 * (i % 50)", "3000 * (i >= 200)") + only("", n=400)
    trace, _ = recorded(tmp_path, program, 1, {})
    [run] = runs(trace)
    check(run)
    seconds = Recording(trace).loop(1, ranks=4).seconds
    assert isinstance(seconds, tuple)
    early, late = sorted(seconds[:180])[90], sorted(seconds[220:])[90]
    assert late > 1.5 * early


def test_a_recorded_run_is_played_on_another_machine(tmp_path: Path) -> None:
    """What emulated load and speeds have added is no part of it."""
    env = {"DLB_STRATEGY": "none", "DLB_LOAD": "fixed:0,2,0", "DLB_SPEEDS": "1,1,2"}
    trace, [figures] = recorded(tmp_path, HEAD + only("", n=600), 3, env)
    recording = Recording(trace)
    machine, model = recording.machine(), recording.loop(1)
    assert (machine.speeds, machine.load.speeds) == ((1.0,) * 3, (1.0, 1.0, 2.0))
    computing_s = sum(chunk.computing_s for rank in trace.loops[0].runs[0].per_rank for chunk in rank.chunks)
    assert isinstance(model.seconds, tuple)
    assert sum(model.seconds) == pytest.approx(computing_s)
    spent_s = sum(rank["compute_s"] for rank in figures["per_rank"])
    assert spent_s > 1.5 * computing_s  # three times, if all iterations took the same
    # What single iterations took varies with what else the processors do; the mean of all is taken for each.
    even = replace(model, seconds=(computing_s / 600,) * 600)
    stays, moves = (simulate_strategy(machine, even, name) for name in ("none", "GDDLB"))
    assert sum(stays.compute_s) > 1.5 * computing_s
    assert moves.makespan_s < stays.makespan_s
    assert sum(map(len, moves.done)) == 600


def test_arrays_that_stay_on_the_ranks_make_no_difference(tmp_path: Path) -> None:
    program = """
import numpy as np

def relax(u, passes):
    # dlb: iterate
    for k in range(passes):
        v = np.zeros(len(u))
        # dlb: parallel
        for i in range(1, len(u) - 1):
            v[i] = (u[i - 1] + u[i + 1]) / 2 + sum(range(3000)) * 0
        # dlb: parallel
        for i in range(1, len(u) - 1):
            u[i] = v[i]
    return u

print(relax(np.arange(300.0) ** 2, 4).sum().hex())
"""
    trace, _ = recorded(tmp_path, program, 3, LOAD | {"DLB_STRATEGY": "GDDLB"})
    assert [len(loop.runs) for loop in trace.loops] == [4, 4]
    for run in runs(trace):
        check(run)


def test_the_command_writes_a_trace(tmp_path: Path) -> None:
    (tmp_path / "prog.py").write_text(HEAD + only("", n=200))
    words = ["run", "-n", "2", "--strategy", "GSS", "--trace", "t.json", "prog.py"]
    done = run_sequential([sys.executable, "-m", "dlbc", *words], cwd=tmp_path)
    assert done.status == 0, done.stderr
    assert not done.stderr
    [run] = runs(read(tmp_path / "t.json"))
    check(run)
    assert run.strategy == "GSS"


def test_a_trace_that_cannot_be_written_at_the_end_is_told(tmp_path: Path) -> None:
    program = "import os, shutil\n" + HEAD + only("", n=20) + "shutil.rmtree('gone')\n"
    (tmp_path / "gone").mkdir()
    source = tmp_path / "prog.py"
    source.write_text(program)
    env = {"DLB_TRACE": "gone/t.json"}
    done = run_mpi(2, [sys.executable, str(transform(source, tmp_path))], env=env, cwd=tmp_path)
    assert done.status == 0
    assert done.stderr.startswith("dlb: the trace could not be written: ")


def test_the_example_of_the_page(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert [kind for kind, _ in blocks] == ["sh", "sh", "python", "sh", "text", "sh"]
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    record, report, code, _, shown, again = (text for _, text in blocks)
    for command in (record, report, again):
        name, *words = shlex.split(command)
        assert name == "dlbc"
        done = run_sequential([sys.executable, "-m", "dlbc", *words], cwd=tmp_path)
        assert done.status == 0, done.stderr
    assert b"GDDLB" in done.stdout
    assert b"8 ranks" in done.stdout
    assert "<h3>primes.py:52</h3>" in (tmp_path / "trace.html").read_text()
    assert run_sequential([sys.executable, "-c", code], cwd=tmp_path).stdout.decode() == shown
