"""Arrays that workers of one host hold in common: all have it, and where that cannot be each has its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi

PROGRAM = Path(__file__).resolve().parents[1] / "support" / "host_copies.py"


@pytest.mark.parametrize("ranks", [3, 5])
@pytest.mark.parametrize(("failing", "in_common"), [("nothing", True), ("making", False), ("mapping", False)])
def test_workers_have_one_copy_or_each_its_own(ranks: int, failing: str, in_common: bool) -> None:
    done = run_mpi(ranks, [sys.executable, str(PROGRAM), failing])
    assert done.status == 0, done.stderr
    assert done.stdout.decode().splitlines() == [f"True {in_common}"] * 2
