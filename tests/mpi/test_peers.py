"""Strategies without synchronizations on ranks: self-scheduling, stealing, diffusion; the same results."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from textwrap import indent

import pytest
from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.strategies import names, strategy

from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import is_full, pairs

pytestmark = pytest.mark.mpi

PEERS = [name for name in names() if isinstance(strategy(name), PeerStrategy)]
#: Those of which each differs from the others in how ranks agree.
KINDS = ["SS", "WF", "AF", "steal", "diffusion"]
ONE_IS_SLOW = "fixed:0,9,0"

ROWS = """
import numpy as np
A = np.arange(1200.0).reshape(400, 3)
B = np.zeros((400, 3))
total, seen = 0.0, []
# dlb: parallel, BLOCK
for i in range(400):
    s = A[i, 0]
    for k in range(2000):
        s = s * 0.5 + A[i, k % 3]
    A[i] += s
    B[i] = A[i] - s
    total += s
    seen.append(i)
print(A.sum().hex(), B.sum().hex(), total.hex(), seen == list(range(400)))
"""

WITHOUT_ROWS = """
import numpy as np
B = np.zeros(400)
# dlb: parallel, BLOCK
for i in range(400):
    s = float(i)
    for k in range(4000):
        s = s * 0.5 + k
    B[i] = s
print(B.sum().hex())
"""

ROUTINE = """
import numpy as np
u, v = np.arange(300.0).reshape(100, 3), np.zeros((100, 3))
# dlb: iterate
for step in range(6):
    # dlb: parallel, BLOCK(u), BLOCK(v)
    for i in range(1, 99):
        s = u[i]
        for k in range(60):
            s = s * 0.5 + 1.0
        v[i] = s + u[i - 1] - u[i + 1]
    u, v = v, u
    if step == 3:
        print(u[50].tolist())
print(u.sum().hex(), v.sum().hex())
"""

FAILING = """
import numpy as np
A = np.zeros(200)
try:
    # dlb: parallel, BLOCK
    for i in range(200):
        for k in range(3000):
            A[i] += k
        if i % 70 == 66:
            raise ValueError(f"at {i}")
except ValueError as error:
    print(error, A[:67].sum())
"""


Prepared = Callable[[str], tuple[Path, bytes]]


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    """The generated program, and what the original prints; each program once."""
    home, known = tmp_path_factory.mktemp("peers"), dict[str, tuple[Path, bytes]]()

    def get(text: str) -> tuple[Path, bytes]:
        if text not in known:
            source = home / f"prog{len(known)}.py"
            source.write_text(text)
            known[text] = transform(source, home), run_sequential([sys.executable, str(source)]).stdout
        return known[text]

    return get


def run(program: tuple[Path, bytes], ranks: int, env: dict[str, str]) -> dict[str, object]:
    """The statistics of the first loop of a run on ranks, whose output is the sequential one's."""
    generated, expected = program
    with tempfile.NamedTemporaryFile(suffix=".json") as stats:
        done = run_mpi(ranks, [sys.executable, str(generated)], env=env | {"DLB_STATS": stats.name})
        assert done.stdout == expected, done.stderr
        loop: dict[str, object] = json.loads(Path(stats.name).read_text())["loops"][0]
    return loop


def shares(loop: dict[str, object]) -> list[int]:
    return [rank["iterations"] for rank in loop["per_rank"]]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", PEERS if is_full() else KINDS)
def test_rows_come_with_the_work_to_the_rank_that_has_time(name: str, prepared: Prepared) -> None:
    loop = run(prepared(ROWS), 3, {"DLB_STRATEGY": name, "DLB_LOAD": "fixed:9,9,0"})
    assert loop["strategy"] == name
    assert sum(shares(loop)) == 400
    assert shares(loop)[2] > 140
    assert loop["bytes_moved"] > 0  # type: ignore[operator]


@pytest.mark.parametrize(
    "name", ["SS", "FSC", "mFSC", "GSS", "TSS", "FAC2", "AF"] if is_full() else ["mFSC", "GSS"]
)
def test_units_without_data_travel_as_numbers(name: str, prepared: Prepared) -> None:
    loop = run(prepared(WITHOUT_ROWS), 3, {"DLB_STRATEGY": name, "DLB_LOAD": ONE_IS_SLOW})
    assert sum(shares(loop)) == 400
    assert loop["bytes_moved"] == 0
    assert loop["synchronizations"] > 0  # type: ignore[operator]


@pytest.mark.parametrize(("name", "ranks"), [("SS", 2), ("AF", 3), ("steal", 5), ("diffusion", 4)])
def test_routines_go_on_under_them(name: str, ranks: int, prepared: Prepared) -> None:
    load = {"DLB_LOAD": "random:max=3,duration=0.01,seed=5"}
    loop = run(prepared(ROUTINE), ranks, {"DLB_STRATEGY": name} | load)
    assert loop["iterations"] == 6 * 98


@pytest.mark.parametrize(("name", "ranks"), pairs(KINDS, [5, 2]))
def test_the_first_failure_is_the_sequential_one(name: str, ranks: int, prepared: Prepared) -> None:
    loop = run(prepared(FAILING), ranks, {"DLB_STRATEGY": name})
    assert loop["strategy"] == name


def test_with_more_ranks_than_iterations_nobody_waits_for_ever(prepared: Prepared) -> None:
    for name in ("SS", "GSS", "AF", "steal", "diffusion"):
        loop = run(prepared(WITHOUT_ROWS.replace("range(400)", "range(3)")), 5, {"DLB_STRATEGY": name})
        assert sum(shares(loop)) == 3


def test_what_fsc_and_fac_need_to_know_the_first_run_shows_the_next_ones(prepared: Prepared) -> None:
    head, marked, body = WITHOUT_ROWS.partition("# dlb")
    loop, printed = (marked + body).split("print")
    text = head + "for again in range(3):\n" + indent(loop, "    ") + "print" + printed
    for name in ("FSC", "FAC", "AWF"):
        loop = run(prepared(text), 3, {"DLB_STRATEGY": name, "DLB_LOAD": ONE_IS_SLOW})
        assert (loop["runs"], loop["strategy"]) == (3, name)
