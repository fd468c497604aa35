"""Routines on ranks: what travels is what is lacked, counted to the row; and how routines end.

Counts are of runs in which no rank's share changes: without balancing, every spread of times being tolerated.
What is computed is compared in `test_programs` and with the samples.
"""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.mpi import Completed, run_mpi, run_sequential, transform
from tests.support.tier import is_full, pairs, part

pytestmark = pytest.mark.mpi

SAMPLES = Path(__file__).resolve().parents[2] / "samples"
STILL = "# dlb: iterate, tolerance=1e9\n"
DOUBLE = 8  # bytes


@dataclass(frozen=True, slots=True)
class Travelled:
    """What the only routine of a program had sent: to ranks before its loops, and home."""

    passes: int
    rows: int
    content: int
    home: int
    fetches: int


def statistics(
    directory: Path, text: str, ranks: int, arguments: tuple[str, ...] = (), env: dict[str, str] | None = None
) -> tuple[dict[str, Any], Completed]:
    """Those of a program, whose output is compared with that of the sequential one."""
    source, stats = directory / "program.py", directory / "stats.json"
    source.write_text(text, encoding="utf-8")
    command = [sys.executable, str(transform(source, directory)), *arguments]
    asked = {"DLB_STRATEGY": "none"} | (env or {}) | {"DLB_STATS": str(stats)}
    done = run_mpi(ranks, command, env=asked)
    sequential = run_sequential([sys.executable, str(source), *arguments])
    assert (done.stdout, done.status) == (sequential.stdout, sequential.status), done.stderr
    document: dict[str, Any] = json.loads(stats.read_text())
    return document, done


def travelled(directory: Path, text: str, ranks: int, *arguments: str) -> Travelled:
    """What a routine has sent, its shares standing still."""
    assert "# dlb: iterate\n" in text
    document, _ = statistics(directory, text.replace("# dlb: iterate\n", STILL), ranks, arguments)
    (routine,), loops = document["routines"], document["loops"]
    assert {loop["id"] for loop in loops} == set(routine["loops"])
    rows = sum(loop.get("rows_fetched", 0) for loop in loops)
    content = sum(loop.get("bytes_fetched", 0) for loop in loops)
    return Travelled(routine["passes"], rows, content, routine["home_bytes"], routine["fetches"])


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.py").read_text(encoding="utf-8")


def heat(every: int) -> str:
    """The sample, which prints every so many steps."""
    found = sample("heat2d")
    assert "max(1, options.steps // 5)" in found
    return found.replace("max(1, options.steps // 5)", str(every))


def shares(items: int, ranks: int) -> list[int]:
    """Equal blocks, the larger ones first."""
    return [items // ranks + (rank < items % ranks) for rank in range(ranks)]


def distribution(items: int, ranks: int) -> int:
    """The items that are not rank 0's."""
    return items - shares(items, ranks)[0]


@pytest.mark.parametrize("ranks", part([2, 3, 5], 3))
def test_heat_sends_two_rows_for_each_inner_boundary(ranks: int, tmp_path: Path) -> None:
    rows, columns = 42, 7
    few, many = (travelled(tmp_path, heat(1000), ranks, str(rows), str(columns), n) for n in ("4", "14"))
    assert (few.passes, many.passes) == (4, 14)
    assert many.rows - few.rows == 10 * 2 * (ranks - 1)
    assert many.content - few.content == 10 * 2 * (ranks - 1) * columns * DOUBLE
    # Nothing comes home before the end; of the field that is read last, rank 0 has the next rank's first row.
    assert few.home == many.home == (2 * distribution(rows - 2, ranks) - 1) * columns * DOUBLE


def test_heat_brings_home_the_row_that_is_printed(tmp_path: Path) -> None:
    rows, columns, steps = 43, 7, 12
    size = str(rows), str(columns), str(steps)
    printed, silent = (travelled(tmp_path, heat(every), 3, *size) for every in (4, 1000))
    assert rows // 2 - 1 >= shares(rows - 2, 3)[0] + 1  # neither rank 0's nor next to its rows
    # Three times, the last of them at the end, where it comes home anyway.
    assert printed.home - silent.home == 2 * columns * DOUBLE
    assert printed.rows == silent.rows


def test_heat_sends_at_the_beginning_what_ranks_own_and_read(tmp_path: Path) -> None:
    """The first pass reads u and stores into v, whose borders are not sent before they are read."""
    rows, columns, ranks = 42, 7, 4
    first = travelled(tmp_path, heat(1000), ranks, str(rows), str(columns), "1")
    owned = shares(rows - 2, ranks)
    needed = sum(owned[1:]) + sum(2 for _ in owned[1:])
    assert first.rows == needed + sum(owned[1:])
    assert first.home == sum(owned[1:]) * columns * DOUBLE  # v alone has changed


@pytest.mark.parametrize("ranks", part([2, 4], 2))
def test_life_sends_two_rows_to_each_rank(ranks: int, tmp_path: Path) -> None:
    n = 21
    text = sample("life").replace("max(1, generations // 6)", "1000")
    few, many = (travelled(tmp_path, text, ranks, str(n), str(steps)) for steps in (3, 13))
    assert many.rows - few.rows == 10 * 2 * ranks
    assert many.content - few.content == 10 * 2 * ranks * n
    assert many.fetches <= 4 * ranks


@pytest.mark.parametrize("ranks", [2, 5] if is_full() else [2])
def test_jacobi_sends_the_vector_alone(ranks: int, tmp_path: Path) -> None:
    n = 70
    few, many = (
        travelled(tmp_path, sample("jacobi"), ranks, str(n), tolerance) for tolerance in ("1", "1e-2")
    )
    passes = many.passes - few.passes
    assert passes > 3
    assert many.rows - few.rows == passes * (ranks - 1) * n
    assert many.content - few.content == passes * (ranks - 1) * n * DOUBLE
    own = distribution(n, ranks)
    scattered = own * n + own + (ranks - 1) * n  # of A, of b, and x to all; new is overwritten
    assert few.content == (scattered + (few.passes - 1) * (ranks - 1) * n) * DOUBLE
    assert many.home == own * DOUBLE  # of the vector stored last; the other one came to all


@pytest.mark.parametrize(("rows", "ranks"), pairs(["BLOCK", "CYCLIC"], [2, 3, 5]))
def test_lu_sends_one_row_at_each_stage(ranks: int, rows: str, tmp_path: Path) -> None:
    n = 24
    found = travelled(tmp_path, sample("lu"), ranks, str(n), rows)
    below = shares(n - 1, ranks)
    blocks = [rank for rank, share in enumerate(below) for _ in range(share)]
    owner = [0, *(blocks if rows == "BLOCK" else [j % ranks for j in range(n - 1)])]
    scattered = sum(rank > 0 for rank in owner)
    pivots = sum(len(set(owner[i + 1 :]) - {owner[i]}) for i in range(n - 1))
    assert found.passes == n - 1
    assert found.rows == scattered + pivots
    assert found.content == found.rows * n * DOUBLE


ROWS = """
import numpy as np

n, m, passes = 30, 5, 6
u = np.arange(float(n * m)).reshape(n, m)
# dlb: iterate
for t in range(passes):
    # dlb: parallel
    for i in range(n):
        u[i] = u[i] * 0.5 + i
    {code}
print(u.sum().hex())
"""


@pytest.mark.parametrize(
    ("code", "home_each", "back_each"),
    [
        ("pass", 0, 0),
        ("print(u[n - 1, 0], u[-1].sum(), len(u), u.shape)", 1, 0),
        ("print(u[0], u[1:4].sum())", 0, 0),
        ("print(u[n - 3 : n].tolist())", 3, 0),
        ("print(u[n - 4 :: 2, 1].tolist())", 2, 0),
        ("u[n - 1] = t", 1, 1),
        ("u[-2] += u[-1]", 2, 1),
        ("w = u", 0, 0),
        ("v = np.zeros_like(u)", 0, 0),
    ],
)
def test_code_between_the_loops_brings_home_the_rows_that_it_names(
    code: str, home_each: int, back_each: int, tmp_path: Path
) -> None:
    passes, n, m, ranks = 6, 30, 5, 3
    found = travelled(tmp_path, ROWS.format(code=code), ranks)
    own = distribution(n, ranks)
    # What the last pass brought home is not brought again.
    assert found.home == (passes * home_each + own - home_each) * m * DOUBLE
    assert found.rows == own + (passes - 1) * back_each


@pytest.mark.parametrize("code", ["print(u.sum())", "print(u)", "f(u)", "g()", "x = list(u)"])
def test_what_may_look_at_everything_brings_everything_home_and_results_stay(
    code: str, tmp_path: Path
) -> None:
    text = ROWS.format(code=code).replace("\nn, m", "\ndef f(a): return a[3]\ndef g(): return f(u)\n\nn, m")
    found = travelled(tmp_path, text, 3)
    assert found.home == 6 * 20 * 5 * DOUBLE


def test_a_row_that_a_view_covers_in_part_comes_home_as_well(tmp_path: Path) -> None:
    text = ROWS.format(code="print(w.sum().hex())")
    view = "w = u.reshape(-1)[: (n - 2) * m + 2]"
    found = travelled(tmp_path, text.replace("# dlb: iterate", f"{view}\n# dlb: iterate", 1), 3)
    assert found.home == (6 * 19 + 1) * 5 * DOUBLE


def test_a_swap_sends_nothing(tmp_path: Path) -> None:
    text = ROWS.format(code="u, v = v, u").replace("u[i] = u[i] * 0.5", "v[i] = u[i] * 0.5")
    found = travelled(tmp_path, text.replace("# dlb: iterate", "v = u + 1.0\n# dlb: iterate", 1), 3)
    own = distribution(30, 3)
    assert found.rows == own  # of u; v is stored to first, and where it was stored it is read
    assert found.home == 2 * own * 5 * DOUBLE


#: Iterations of some milliseconds: what disturbs a rank for one of them is little beside the emulated load.
SLOW = "    for i in range(n):\n        for k in range(20_000):\n            u[i, 0] += 0.5"


def test_rows_that_moved_within_a_pass_stay_where_they_went(tmp_path: Path) -> None:
    """Without a halo nothing has to be sent after the first pass but what moves."""
    text = ROWS.format(code="pass").replace("    for i in range(n):", SLOW)
    env = {"DLB_STRATEGY": "GDDLB", "DLB_LOAD": "fixed:0,4,0"}
    document, _ = statistics(tmp_path, text, 3, env=env)
    (loop,), (routine,) = document["loops"], document["routines"]
    assert loop["iterations_moved"] >= 1
    assert loop["bytes_moved"] >= loop["iterations_moved"] * 5 * DOUBLE
    done = [rank["iterations"] for rank in loop["per_rank"]]
    assert done[1] < min(done[0], done[2])
    assert routine["home_bytes"] <= 30 * 5 * DOUBLE


#: No balancing from pass to pass.
OFF = ", tolerance=1e9, every=1000000000"


@pytest.mark.parametrize(
    ("clause", "strategy", "between", "within"),
    [
        ("", "none", True, False),
        (OFF, "GDDLB", False, True),
        (OFF, "none", False, False),
    ],
)
def test_balancing_between_passes_and_within_them_are_apart(
    clause: str, strategy: str, between: bool, within: bool, tmp_path: Path
) -> None:
    text = ROWS.format(code="pass").replace("    for i in range(n):", SLOW)
    text = text.replace("# dlb: iterate", f"# dlb: iterate{clause}")
    document, _ = statistics(tmp_path, text, 3, env={"DLB_STRATEGY": strategy, "DLB_LOAD": "fixed:0,4,0"})
    (loop,), (routine,) = document["loops"], document["routines"]
    passes = routine["by_pass"]
    assert sum(each["passes"] for each in passes) == routine["passes"]
    assert all(len(each["rows"]) == len(each["seconds"]) == 3 for each in passes)
    cut_anew = [each for each in passes if each["reason"] == "other shares follow from the measured speeds"]
    assert bool(cut_anew) is between
    assert all(each["moved"] for each in cut_anew)
    if not between:  # what moved within the first pass, which is looked at, is where the others begin
        assert {tuple(each["rows"]) for each in passes[1:]} == {tuple(passes[-1]["rows"])}
    assert (loop["iterations_moved"] > 0) is within
    (functions,) = routine["speed_functions"]
    assert (functions["loop"], functions["model"]) == (loop["id"], "piecewise")
    if between:
        assert passes[-1]["rows"][1] < passes[0]["rows"][1]
        assert len(functions["per_rank"][1]["units"]) > 1


MISJUDGED = """
import numpy as np

def work(u, every):
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(30):
            u[i] += 1.0
        if (t + 1) % every == 0:
            print(t)
    return u

u = np.zeros((30, 2))
print(work(u, {every}).sum())
"""


@pytest.mark.parametrize(("every", "stays"), [("2", True), ("np.int64(2)", True), ("u[-1, 1:]", False)])
def test_where_a_number_turns_out_to_reach_arrays_none_stays_and_that_is_said(
    every: str, stays: bool, tmp_path: Path
) -> None:
    document, done = statistics(tmp_path, MISJUDGED.format(every=every), 3)
    (loop,) = document["loops"]
    assert loop.get("rows_fetched", 0) == 20 * stays
    assert ("no array stays on the ranks" in done.stderr) != stays


def test_one_rank_and_no_launcher_keep_everything_at_home(tmp_path: Path) -> None:
    text = ROWS.format(code="print(u[-1].tolist())")
    document, _ = statistics(tmp_path, text, 1)
    assert not any(routine["home_bytes"] for routine in document.get("routines", []))
    assert not any(loop.get("bytes_fetched") for loop in document["loops"])
    alone = run_sequential([sys.executable, str(tmp_path / "program_dlb.py")])
    assert alone.stdout == run_sequential([sys.executable, str(tmp_path / "program.py")]).stdout, alone.stderr


ENDING = """
import sys
import numpy as np

class Wrong(Exception):
    pass

def look(a, k):
    return 1 // int(a[k, 0] > 100.0)

def work(n):
    u = np.ones((n, 2))
    # dlb: iterate
    for t in range(4):
        # dlb: parallel
        for i in range(n):
            u[i] += 1.0
            {body}
        if t == 2:
            {code}
    return u

{after}
"""

CAUGHT = """try:
    work(20)
except BaseException as e:
    print(type(e).__name__, e)
u = np.zeros(5)
# dlb: parallel
for i in range(5):
    u[i] = i
print(u)
"""
NOTE = re.compile(r"in iteration \S+ of the loop at \S+, on rank \d+ of \d+")


def places(stderr: str) -> list[str]:
    """The lines of tracebacks and of the message, files by their last part; without our note, and marks:

    what the compiler writes into an expression is not told from it.
    """
    found = [line for line in stderr.splitlines() if line.strip(" ~^") and not NOTE.fullmatch(line)]
    return [re.sub(r'File ".*?([^/"]+)"', r'File "\1"', line) for line in found]


@pytest.mark.parametrize(
    ("body", "code"),
    part(
        [
            ("pass", "u[n + 5] = 0.0"),
            ("pass", "look(u, n // 2)"),
            ("pass", "raise Wrong(float(u[n - 1, 1]))"),
            ("pass", "sys.exit(f'in words {u[n - 1, 0]}')"),
            ("pass", "sys.exit(5)"),
            ("pass", "print(u[n // 2].sum() + missing)"),
            ("pass", "assert u[-1, 0] < 2.0, u[-1].tolist()"),
            ("pass", "(u[n - 1, 0] + u[n - 2, 0]).missing()"),
            ("if t == 1 and i > 7: 1 // int(u[i, 0] > 100.0)", "pass"),
            ("if i == 15: raise Wrong(i, t)", "pass"),
        ],
        2,
    ),
)
def test_a_routine_that_fails_ends_as_the_source_does(body: str, code: str, tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    for after in ("work(20)", CAUGHT):
        source.write_text(ENDING.format(body=body, code=code, after=after))
        generated = transform(source, tmp_path)
        sequential = run_sequential([sys.executable, source.name], cwd=tmp_path)
        command = [sys.executable, generated.name]
        parallel = run_mpi(3, command, env={"DLB_STRATEGY": "none"}, cwd=tmp_path)
        assert parallel.stdout.decode() == sequential.stdout.decode(), parallel.stderr
        assert parallel.status == sequential.status
        assert places(parallel.stderr) == places(sequential.stderr)


REPEATED = """
import numpy as np
n, passes = {n}, {passes}
u = np.linspace(0.0, 1.0, n * n).reshape(n, n)
v = u.copy()
places = np.arange(n)
try:
    # dlb: iterate
    for t in range(passes):
        row = u[t % n].copy()
        # dlb: parallel, jit
        for i in range(1, n - 1):
            for j in range(n):
                v[i, j] = u[i, j] + 0.1 * (u[i - 1, j] + u[i + 1, places[j]]) + 0.01 * t * row[j]
        u, v = v, u
        {code}
except IndexError as error:
    print(t, error)
print(u.tobytes().hex()[:200], u.sum(), v.sum() if t == passes - 1 else "")
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [2, 3])
def test_runs_of_compiled_loops_are_repeated(ranks: int, tmp_path: Path) -> None:
    text = REPEATED.format(n=12, passes=30, code="if t == 20: u[3] = 0.5")
    document, _ = statistics(tmp_path, text, ranks)
    (loop,) = document["loops"]
    assert loop["runs"] == 30
    assert loop["iterations"] == 300
    assert 20 <= loop["repeated_runs"] <= 28
    assert sum(each["iterations"] for each in loop["per_rank"]) == 300


@pytest.mark.mpi
@pytest.mark.parametrize("place", [-1, 12, 99])
def test_what_compiled_code_leaves_to_python_is_done_after_a_repeated_run(place: int, tmp_path: Path) -> None:
    """A subscript from the end is Python's to do; one out of range ends the loop there."""
    text = REPEATED.format(n=12, passes=30, code=f"if t == 20: places[5] = {place}")
    document, done = statistics(tmp_path, text, 3)
    assert document["loops"][0]["repeated_runs"] >= 15
    assert (b"20 index" in done.stdout or b"21 index" in done.stdout) == (place > 0)


SHIFTED = """
import numpy as np
APART, SCALE = 1, 0.5

def work(n, passes):
    global APART, SCALE
    u = np.linspace(0.0, 1.0, n * n).reshape(n, n)
    v = u.copy()
    # dlb: iterate
    for t in range(passes):
        # dlb: parallel, jit
        for i in range(3, n - 3):
            for j in range(n):
                v[i, j] = (u[i - APART, j] + u[i + APART, j]) * SCALE
        u, v = v, u
        if t == 11:
            APART = 2
        if t == 15:
            SCALE = 0.25
        if t == 18:
            APART = 3
        if t == 22:
            u[5:7] = 0.5
        if t == 25:
            u = u.copy()
    return u

print(work(24, 32).tobytes().hex())
"""


@pytest.mark.mpi
def test_a_run_of_compiled_code_is_repeated_where_all_that_decides_it_holds(
    tmp_path: Path,
) -> None:
    """Numbers that subscripts depend on decide it, and so do arrays; a factor does not."""
    document, _ = statistics(tmp_path, SHIFTED, 3)
    assert 10 <= document["loops"][0]["repeated_runs"] <= 24
