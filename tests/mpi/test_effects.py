"""Reductions, ordered containers and output on ranks: as sequentially, to the bit, exceptions included."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential
from tests.support.tier import is_full

pytestmark = pytest.mark.mpi

KERNELS = Path(__file__).resolve().parent / "programs" / "kernels" / "effects.py"
LOAD = {"DLB_LOAD": "random:max=3,duration=0.002,seed=4", "DLB_SPEEDS": "2,1,1.5"}

#: Number of iterations, and the one that fails.
SIZES = ("40,-1", "40,17", "41,0", "3,2", "0,-1", "150,101")
RUNS = [
    *((ranks, {"DLB_STRATEGY": "none"}) for ranks in (2, 5)),
    *((ranks, {"DLB_STRATEGY": "GDDLB"}) for ranks in (1, 3, 5)),
    (3, {"DLB_STRATEGY": "steal"}),
    (3, {"DLB_STRATEGY": "GDDLB"} | LOAD),
    (3, {"DLB_STRATEGY": "none"} | LOAD),
    (3, {}),
    (2, {"DLB_WEIGHTS": "0,1", "DLB_STRATEGY": "none"}),
]
if not is_full():
    RUNS = [RUNS[number] for number in (1, 6)]


@pytest.mark.parametrize(("ranks", "env"), RUNS, ids=lambda value: str(value).replace("DLB_", ""))
def test_contributions_come_out_as_the_loop_itself_leaves_them(ranks: int, env: dict[str, str]) -> None:
    done = run_mpi(ranks, [sys.executable, str(KERNELS), *SIZES], env=env)
    assert (done.stdout.decode(), done.status) == ("done\n", 0), done.stderr


def test_without_mpiexec_they_do() -> None:
    done = run_sequential([sys.executable, str(KERNELS), *SIZES])
    assert (done.stdout.decode(), done.status) == ("done\n", 0), done.stderr


HEAD = """
import sys
from mpi4py import MPI
import dlbrt
from dlbrt import BLOCK, CYCLIC, ELEMENTS, REDUCE, SELECT

dlb = dlbrt.start(MPI.COMM_WORLD)

def kernel(dlb, n, m, items):
    dlb.require(lambda: m >= n, "m >= n")
    dlb.arrays(CYCLIC)
    dlb.ordered("items")
    dlb.scatter()
    while dlb.more_work:
        items = dlb.accumulators(items)
        for i in dlb.iterations():
            {body}
        dlb.synchronize()
    dlb.gather()

items = []
print("before")
"""
RUN = "dlb.run(kernel, range(20), 20, {m}, items)\nprint('after', items[:3], len(items))\n"


def run(
    home: Path, body: str, *, m: int = 20, before: str = "", env: dict[str, str] | None = None
) -> Completed:
    program = home / "program.py"
    program.write_text(HEAD.format(body=body) + before + RUN.format(m=m), encoding="utf-8")
    return run_mpi(3, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"} | (env or {}))


def test_output_stands_in_iteration_order_among_that_of_the_program(tmp_path: Path) -> None:
    body = "items.append(i); print(i); sys.stdout.buffer.write(b'<%d>' % i); sys.stdout.flush()"
    done = run(tmp_path, body)
    lines = "".join(f"{i}\n<{i}>" for i in range(20))
    assert done.stdout.decode() == f"before\n{lines}after [0, 1, 2] 20\n", done.stderr


def test_output_ends_where_an_iteration_raises(tmp_path: Path) -> None:
    done = run(tmp_path, "print(i, end=' '); items.append(10 // (i - 7)); print(end='.')")
    assert done.stdout.decode() == "before\n" + "".join(f"{i} ." for i in range(7)) + "7 ", done.stderr
    assert done.status == 1
    assert "ZeroDivisionError: integer division or modulo by zero" in done.stderr


def test_the_body_sees_the_standard_output_of_the_program(tmp_path: Path) -> None:
    body = (
        "items.append((sys.stdout.encoding, sys.stdout.errors, sys.stdout.isatty(), sys.stdout.writable()))"
    )
    after = "print('alike', set(items) == {(sys.stdout.encoding, sys.stdout.errors, False, True)})\n"
    program = tmp_path / "program.py"
    program.write_text(HEAD.format(body=body) + "dlb.run(kernel, range(20), 20, 20, items)\n" + after)
    done = run_mpi(
        3, [sys.executable, str(program)], env={"DLB_STRATEGY": "none", "PYTHONIOENCODING": "latin-1"}
    )
    assert done.stdout == b"before\nalike True\n", done.stderr


@pytest.mark.parametrize(
    ("m", "before", "reason"),
    [
        (19, "", "m >= n does not hold"),
        (20, "stream = sys.stdout\n", "iterations write to the standard output object itself"),
        (20, "reached = [items]\n", "items is also reached under another name"),
    ],
    ids=["a guard is false", "the stream is held by the program", "the container is reached otherwise"],
)
def test_rank_0_runs_the_loop_alone_and_says_why(m: int, before: str, reason: str, tmp_path: Path) -> None:
    names = {"stream": "stream.write(f'{i} ')", "reached": "len(reached[0]) == i + 1 or print('lost')"}
    use = next((text for name, text in names.items() if before.startswith(name)), "pass")
    stats = tmp_path / "stats.json"
    done = run(tmp_path, f"items.append(i); {use}", m=m, before=before, env={"DLB_STATS": str(stats)})
    written = "".join(f"{i} " for i in range(20)) if "stream" in before else ""
    assert done.stdout.decode() == f"before\n{written}after [0, 1, 2] 20\n", done.stderr
    assert "run by rank 0 alone: " in done.stderr
    assert reason in done.stderr
    assert json.loads(stats.read_text())["loops"][0]["strategy"] == "local"


def test_rank_0_takes_back_iterations_whose_results_cannot_leave_their_rank(tmp_path: Path) -> None:
    done = run(tmp_path, "items.append(i if i < 10 else (x for x in ())); print(i)")
    written = "".join(f"{i}\n" for i in range(20))
    assert done.stdout.decode() == f"before\n{written}after [0, 1, 2] 20\n", done.stderr
    assert done.status == 0
    assert "cannot pickle 'generator' object); rank 0 runs them again" in done.stderr


def test_a_value_read_in_the_loop_ends_it_loudly(tmp_path: Path) -> None:
    done = run(tmp_path, "items.append(len(items))")
    assert done.status == 1
    assert "used in another way inside the loop" in done.stderr


CHOOSING = """
def kernel(dlb, n, best, ok):
    dlb.arrays()
    dlb.reductions(best=SELECT("<", "where"), ok=REDUCE("and"))
    dlb.scatter()
    while dlb.more_work:
        best, ok = dlb.accumulators(best, ok)
        where = dlb.unset
        for i in dlb.iterations():
            {body}
        dlb.reduce(best, where, ok)
        dlb.synchronize()
    dlb.gather()

dlb.run(kernel, range(20), 20, {best}, {ok})
"""


@pytest.mark.parametrize(
    ("body", "best", "name"),
    [
        ("if i < best: best = i; where = 1 // ((i - 7) * (i - 14))", "0.5", "best"),
        ("ok = ok and i - 2 and 1 // (i - 13)", "0", "ok"),
    ],
    ids=["what a better value was to come with", "what a false value was to be joined with"],
)
def test_a_failure_that_hangs_on_earlier_iterations_says_so(
    body: str, best: str, name: str, tmp_path: Path
) -> None:
    program = tmp_path / "program.py"
    head = HEAD.partition("def kernel")[0]
    program.write_text(head + CHOOSING.format(body=body, best=best, ok=True), encoding="utf-8")
    done = run_mpi(3, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert "ZeroDivisionError" in done.stderr
    assert f"may have passed this over, by what earlier iterations left in {name}\n" in done.stderr


def test_what_is_decided_before_the_loop_is_not_evaluated_on_any_rank(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    head = HEAD.partition("def kernel")[0]
    body = "ok = ok and 1 // (i - 13)"
    program.write_text(head + CHOOSING.format(body=body, best=1, ok=[]), encoding="utf-8")
    done = run_mpi(3, [sys.executable, str(program)], env={"DLB_STRATEGY": "none"})
    assert (done.status, done.stderr) == (0, "")


BEGUN_ALONE = """
import time

def sums(dlb, n, pause, total, share, count, found):
    dlb.arrays()
    dlb.reductions(
        total=REDUCE("+"),
        share=REDUCE("+", several=True),
        count=ELEMENTS("+", integer=True),
        found=SELECT(">", "at"),
    )
    dlb.scatter()
    while dlb.more_work:
        total, share, count, found = dlb.accumulators(total, share, count, found)
        at = dlb.unset
        for i in dlb.iterations():
            share = dlb.accumulate(share)
            time.sleep(pause)
            total += 0.1 * i
            share += 0.1
            share += 0.3 * i
            count[i % 3] += i
            if (i * 7) % 50 > found:
                found = (i * 7) % 50
                at = i
        dlb.reduce(total, share, found, at)
        dlb.synchronize()
    dlb.gather()

for pause in (0, 0, 0.004, 0.004):
    count = [0, 1, 2]
    result = dlb.result_of(sums, range(100), 100, pause, 0.5, 0.25, count, -1)
    print(result["total"], result["share"], count, result["found"], result["at"])
"""


@pytest.mark.parametrize("ranks", [1, 3])
def test_a_loop_begun_by_rank_0_alone_goes_on_from_what_it_has(ranks: int, tmp_path: Path) -> None:
    program, stats = tmp_path / "program.py", tmp_path / "stats.json"
    program.write_text(HEAD.partition("def kernel")[0] + BEGUN_ALONE, encoding="utf-8")
    done = run_mpi(ranks, [sys.executable, str(program)], env={"DLB_STATS": str(stats)})
    total, share, count, best = 0.5, 0.25, [0, 1, 2], -1
    at = None
    for i in range(100):
        total += 0.1 * i
        share += 0.1 + 0.3 * i
        count[i % 3] += i
        if (i * 7) % 50 > best:
            best, at = (i * 7) % 50, i
    assert done.stdout.decode() == f"{total} {share} {count} {best} {at}\n" * 4, done.stderr
