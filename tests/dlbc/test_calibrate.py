"""`dlbc calibrate`: one run, dealt in turn; what it measured is told and kept, whatever the program does."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from dlbrt.observe.measurements import LoopKey, LoopMeasurements, MeasurementStore, default_path, read, update
from dlbrt.partition.density import Density

from dlbc.cli import main
from dlbc.commands.kept_programs import WholeProgram
from dlbc.commands.run import CannotStartError
from tests.support.mpi import run_sequential

KEY = LoopKey("prog.py:3", "77", ("near", "far"))

#: A program that tells what a runtime would of two loops; its own one has no iteration.
PROGRAM = """
import os, sys
from dlbrt.observe.measurements import LoopMeasurements, LoopKey, update
# dlb: parallel
for i in range(0):
    pass
print(sys.argv[1:], os.environ["DLB_STRATEGY"], repr(os.environ["DLB_WEIGHTS"]), os.environ.get("DLB_LOAD"))
keys = [LoopKey(f"prog.py:{line}", "77", ("near", "far")) for line in (3, 9)]
update(os.environ["DLB_LEARNED"], [LoopMeasurements(key, (n, 1.0)) for key, n in zip(keys, (1.5, 4.5))])
sys.exit(7)
"""

TABLE = """\
dlbc: prog.py:3: relative speeds, the slowest rank's being 1
    rank 0 on near: 1.5
    rank 1 on far: 1
dlbc: prog.py:9: relative speeds, the slowest rank's being 1
    rank 0 on near: 4.5
    rank 1 on far: 1
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("DLB_KEEP", "0")  # only measurements are kept there
    path = tmp_path / "prog.py"
    path.write_text(PROGRAM)
    return path


def calibrate(*words: object) -> int:
    return main(["calibrate", *map(str, words)])


class Runs:
    """In place of the launcher: keeps what it was called with, and writes what it is told to."""

    def __init__(self, entries: Sequence[LoopMeasurements], status: int = 0) -> None:
        self.entries, self.status = entries, status
        self.settings: dict[str, object] = {}
        self.ranks = 0

    def __call__(
        self, program: WholeProgram, ranks: int, settings: Mapping[str, object], arguments: Sequence[str]
    ) -> int:
        self.ranks, self.settings = ranks, dict(settings)
        update(str(settings["DLB_LEARNED"]), self.entries)
        return self.status


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Runs:
    runs = Runs([LoopMeasurements(KEY, (1.5, 1.0))])
    monkeypatch.setattr("dlbc.commands.calibrate.run_program", runs)
    return runs


@pytest.mark.mpi
def test_the_program_runs_and_its_speeds_are_told_and_kept(program: Path) -> None:
    words = ["calibrate", "-n", "2", "--load", "fixed:0,3", str(program), "-x", "--learned", "y"]
    environ = {"DLB_STRATEGY": "GDDLB", "DLB_WEIGHTS": "5,1"}
    done = run_sequential([sys.executable, "-m", "dlbc", *words], env=environ)
    assert done.status == 7, done.stderr
    assert done.stdout.decode() == "['-x', '--learned', 'y'] none 'trial' fixed:0,3\n"
    assert TABLE in done.stderr
    assert done.stderr.endswith("`dlbc run -n 2 --weights last` deals iterations by them\n")
    speeds = [measurements.speeds for measurements in read(default_path(str(program), os.environ)).entries]
    assert speeds == [(4.5, 1.0), (1.5, 1.0)]
    assert sorted(entry.name for entry in program.parent.iterdir()) == ["cache", "prog.py"]


def test_densities_alone_are_told_and_kept(
    program: Path, fake: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    fake.entries = [LoopMeasurements(KEY, (), (Density(400, 8, np.full(50, 0.01)),))]
    assert calibrate("-n", 2, program) == 0
    shown = capsys.readouterr().err
    assert "dlbc: prog.py:3: times of 400 iterations by groups of 8, 0.5 s in all\n" in shown
    assert "--weights last` deals iterations by them" in shown
    [kept] = read(default_path(str(program), os.environ)).entries
    assert (kept.speeds, [density.n for density in kept.densities]) == ((), [400])


def test_a_short_trial_is_not_taken_for_sure(
    program: Path, fake: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    for seconds, warned in (((0.4, 0.03), True), ((0.4, 0.1), False), ((), False)):
        fake.entries = [LoopMeasurements(KEY, (1.5, 1.0), (), seconds)]
        assert calibrate("-n", 2, program) == 0
        said = "    a rank computed for 0.03 s in all, too short to be sure: expected 0.1 s or more"
        assert (said in capsys.readouterr().err) == warned


def test_what_other_programs_have_disturbed_is_told_and_not_kept(
    program: Path, fake: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    steady = LoopMeasurements(KEY, (1.5, 1.0), (), (1.0, 1.0), (), "2026-11-23", 1.9)
    disturbed = replace(steady, key=replace(KEY, source="prog.py:9"), spread=2.1)
    fake.entries = [steady, disturbed]
    assert calibrate("-n", 2, program) == 0
    said = "    the ranks' relative speeds differ by a factor of 2.1 from run to run, so they are not kept: "
    assert capsys.readouterr().err.count(said) == 1
    assert read(default_path(str(program), os.environ)).entries == (steady,)


@pytest.mark.parametrize("by", ["option", "variable"])
def test_another_file_may_be_named(
    program: Path, fake: Runs, by: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(program.parent)
    if by == "variable":
        monkeypatch.setenv("DLB_LEARNED", "mine.json")
    assert calibrate("-n", 2, *(["--learned", "mine.json"] if by == "option" else []), program) == 0
    assert read("mine.json").of(KEY) == fake.entries[0]
    assert not Path("cache").exists()
    assert fake.settings["DLB_LEARNED"] != "mine.json"
    assert ("--weights last --learned mine.json`" in capsys.readouterr().err) == (by == "option")


def test_what_was_known_before_is_kept(program: Path, fake: Runs) -> None:
    kept = default_path(str(program), os.environ)
    other = LoopKey("prog.py:3", "77", ("elsewhere",) * 2)
    update(kept, [LoopMeasurements(other, (1.0, 3.0)), LoopMeasurements(KEY, (9.0, 1.0))])
    assert calibrate("-n", 2, program) == 0
    assert read(kept) == MeasurementStore(
        (LoopMeasurements(KEY, (1.5, 1.0)), LoopMeasurements(other, (1.0, 3.0)))
    )


@pytest.mark.parametrize(
    ("text", "ranks", "said"),
    [
        (PROGRAM, 2, "no loop ran on all ranks"),
        (PROGRAM, 1, "it ran on one rank"),
        ("print('plain')\n", 2, "it ran on one rank"),
    ],
)
def test_nothing_measured_is_said_and_nothing_kept(
    program: Path, fake: Runs, text: str, ranks: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    program.write_text(text)
    fake.entries, fake.status = [LoopMeasurements(KEY)], 3
    assert calibrate("-n", ranks, program) == 3
    assert f"dlbc: nothing was measured: {said}" in capsys.readouterr().err
    assert fake.ranks == (ranks if text == PROGRAM else 1)
    assert not (program.parent / "cache").exists()


def test_a_file_that_is_not_ours_is_refused_before_the_program_runs(
    program: Path, fake: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    other = program.with_name("notes.txt")
    other.write_text("mine")
    assert calibrate("-n", 2, "--learned", other, program) == 2
    assert capsys.readouterr().err.startswith("dlbc: DLB_LEARNED (--learned): expected a file that")
    assert (fake.ranks, other.read_text()) == (0, "mine")


def test_speeds_that_cannot_be_kept_are_told_all_the_same(
    program: Path, fake: Runs, capsys: pytest.CaptureFixture[str]
) -> None:
    program.with_name("cache").write_text("a file, where a directory is needed")
    for status, expected in ((0, 2), (5, 5)):
        fake.status = status
        assert calibrate("-n", 2, program) == expected
        shown = capsys.readouterr().err
        assert "rank 0 on near: 1.5" in shown
        assert "cannot be written" in shown


def test_a_program_with_errors_and_no_launcher_are_told_as_by_run(
    program: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(*_: object) -> int:
        from dlbc.commands.run import launcher

        launcher(2)
        raise AssertionError("expected no launcher")

    monkeypatch.setattr("dlbc.commands.calibrate.run_program", missing)
    monkeypatch.setattr(sys, "executable", str(program.parent / "python"))
    monkeypatch.setenv("PATH", str(program.parent))
    assert calibrate("-n", 2, program) == 2
    assert "error[DLB015]" in capsys.readouterr().err
    program.write_text("x = (\n")
    assert calibrate("-n", 2, program) == 1
    assert "error[DLB004]" in capsys.readouterr().err
    with pytest.raises(CannotStartError):
        missing()
