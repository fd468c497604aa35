"""What the proofs' own programs are called, racy or race-free, is what a run of them shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.cli import main

PROGRAMS = Path(__file__).parents[2] / "proofs" / "programs"
RACY = sorted(PROGRAMS.glob("races/racy/*.py"))
FREE = sorted([*PROGRAMS.glob("races/free/*.py"), *PROGRAMS.glob("kernels/accepted/*.py")])


@pytest.mark.parametrize("path", RACY, ids=lambda path: path.stem)
def test_a_racy_program_has_a_conflict(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["witness", str(path)])
    assert "conflict: iterations " in capsys.readouterr().err
    assert status == 1


@pytest.mark.parametrize("path", FREE, ids=lambda path: path.stem)
def test_a_race_free_program_has_none(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["witness", str(path)])
    assert ": no conflict between iterations; watched: " in capsys.readouterr().err
    assert status == 0
