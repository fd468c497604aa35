"""Routines: no place that looks into an array of theirs, or changes one, is left unwrapped.

Programs run twice, each in a process of its own: as they are, and in their parallel form under a runtime that
takes away from rank 0 whatever it may (`tests.support.away`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.dlbc.conftest import CASES
from tests.support.mpi import run_sequential
from tests.support.tier import part

ROOT = CASES.parents[1]
AWAY = ROOT / "tests" / "support" / "away.py"
#: Sizes of the samples that take a fraction of a second.
ARGUMENTS = {
    "heat2d": ("23", "17", "12"),
    "jacobi": ("71", "1e-2"),
    "life": ("19", "12"),
    "lu": ("29", "BLOCK"),
}
PROGRAMS = sorted(
    [
        *(CASES / "accept").glob("routines*.py"),
        *(ROOT / "tests" / "mpi" / "programs").glob("iterate_*.py"),
        *(ROOT / "samples" / name for name in ("heat2d.py", "jacobi.py", "life.py", "lu.py")),
    ]
)


@pytest.mark.parametrize("path", part(PROGRAMS, 8), ids=lambda path: path.stem)
def test_nothing_is_missed_by_the_sequential_code(path: Path) -> None:
    command = [str(path), *ARGUMENTS.get(path.stem, ())]
    as_written = run_sequential([sys.executable, *command], cwd=ROOT)
    away = run_sequential([sys.executable, str(AWAY), *command], timeout=120, cwd=ROOT)
    assert as_written.stdout
    assert away.stdout == as_written.stdout, away.stderr
    assert away.status == as_written.status
