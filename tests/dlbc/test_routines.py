"""Routines: no place that looks into an array of theirs, or changes one, is left unwrapped.

Programs run twice, each in a process of its own: as they are, and in their parallel form under a runtime that
takes away from rank 0 whatever it may (`tests.support.away`).
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.dlbc.conftest import CASES

ROOT = CASES.parents[1]
PROGRAMS = sorted(
    [
        *(CASES / "accept").glob("routines*.py"),
        *(ROOT / "tests" / "mpi" / "programs").glob("iterate_*.py"),
        *(ROOT / "samples" / name for name in ("heat2d.py", "jacobi.py", "life.py", "lu.py")),
    ]
)


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nothing_is_missed_by_the_sequential_code(path: Path) -> None:
    as_written = output(str(path))
    away = output("-m", "tests.support.away", str(path))
    assert as_written.stdout
    assert away.stdout == as_written.stdout, away.stderr.decode()
    assert away.returncode == as_written.returncode


def output(*arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, *arguments], cwd=ROOT, capture_output=True, timeout=120)
