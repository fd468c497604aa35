"""`dlbc calibrate` without a program: the network is measured, shown, stored, drawn; or it says why not."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from dlbrt.observe.networks import Calibration, NetworkSite, PatternSamples, default_path, read, to_json
from dlbrt.predict.network import Networks
from papers.zaki.network import ethernet

from dlbc.cli import main
from dlbc.commands.calibrate import draw
from tests.support.mpi import run_sequential

TIMES = ((2, 1e-5), (4, 2e-5))
FOUND = Calibration(NetworkSite.of("aabb", "MPI"), Networks(ethernet()), PatternSamples(TIMES, TIMES, TIMES))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache directory of the test's own, which lies in the current one."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("MPLCONFIGDIR", str(tmp_path / "matplotlib"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


class Launches:
    """In place of the launcher: keeps the words it was called with; the ranks have found FOUND."""

    def __init__(self) -> None:
        self.status = 0
        self.words: list[str] = []

    def __call__(self, start: Sequence[str], words: Sequence[str], settings: Mapping[str, str]) -> int:
        self.words = [*words]
        if len(words) > 4 and self.status == 0:
            Path(words[4]).write_text(to_json(FOUND))
        return self.status


@pytest.fixture
def launches(cache: Path, monkeypatch: pytest.MonkeyPatch) -> Launches:
    found = Launches()
    monkeypatch.setattr("dlbc.commands.calibrate.launch", found)
    return found


@pytest.mark.full
@pytest.mark.mpi
def test_the_network_is_shown_stored_and_drawn(cache: Path) -> None:
    (cache / "numpy.py").write_text("raise SystemExit('not this one')")
    words = ["calibrate", "-n", "2", "--plot", "network.png", "--force"]
    done = run_sequential([sys.executable, "-P", "-m", "dlbc", *words], cwd=cache)
    assert (done.status, done.stderr) == (0, "")
    path = default_path(os.environ)
    assert path is not None
    [stored] = read(path)
    assert stored.site.size == 2
    shown = done.stdout.decode()
    assert shown.startswith("2 ranks (")
    assert "\nlatency   " in shown
    assert "\nranks     one-to-all [us]  fitted     all-to-one [us]" in shown
    assert shown.endswith(f"\nstored in {path}: runs on these hosts go by it\n")
    assert (cache / "network.png").read_bytes()[:4] == b"\x89PNG"
    kept = {"cache", "matplotlib", "network.png", "numpy.py"}
    assert {entry.name for entry in cache.iterdir()} <= kept


def test_by_default_there_is_a_rank_for_each_processor(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SLURM_NTASKS", raising=False)
    for processors, ranks in (({0}, "2"), ({0, 1, 5}, "3")):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, found=processors: found)
        assert main(["calibrate"]) == 0
        assert launches.words == ["-P", "-m", "dlbrt.mpi.measuring.calibration", ranks]


def test_in_an_allocation_its_tasks_are_the_ranks(
    launches: Launches, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_NTASKS", "24")
    assert main(["calibrate"]) == 0
    assert launches.words[3:] == ["24"]
    assert main(["calibrate", "-n", "3"]) == 0
    assert launches.words[3:] == ["3"]


def test_where_the_ranks_fail_nothing_is_drawn_and_the_status_is_theirs(
    launches: Launches, cache: Path
) -> None:
    launches.status = 2
    assert main(["calibrate", "-n", "2", "--plot", "x.svg"]) == 2
    assert not (cache / "x.svg").exists()


def test_measured_points_and_fitted_curves_of_three_patterns_are_drawn(cache: Path) -> None:
    draw(FOUND, "x.svg")
    drawn = (cache / "x.svg").read_text()
    for pattern in ("one-to-all", "all-to-one", "all-to-all"):
        for what in ("measured", "fitted"):
            assert f"<!-- {pattern}, {what} -->" in drawn


WRONG = [
    (["-n", "1"], "dlbc: one rank alone uses no network: expected -n P with 2 ranks or more"),
    (["--plot", "x.doc"], "expected a file named as one of avif, eps, "),
    (
        ["--plot", "no/x.png"],
        "--plot: no/x.png cannot be written: choose a file in an existing, writable dir",
    ),
    (["--plot", "x"], "found 'x'"),
    (["-n", "2", "--load", "none"], "expected FILE, the program that --load is for; without one the network"),
    (["--strict"], "expected FILE, the program that --strict is for"),
    (["-n", "2", "--plot", "x.png", "prog.py"], "expected --plot without a program"),
    (["-n", "2", "--force", "prog.py"], "expected --force without a program"),
    (["prog.py"], "expected -n P, the number of ranks that are to run the program"),
]


@pytest.mark.parametrize(("words", "said"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_usage_is_told_before_anything_is_measured(
    words: list[str], said: str, launches: Launches, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert (shown.out, launches.words) == ("", [])


def test_without_matplotlib_it_says_how_to_get_it(
    launches: Launches, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dlbc.commands.calibrate.find_spec", lambda name: None)
    assert main(["calibrate", "-n", "2", "--plot", "x.png"]) == 2
    said = "dlbc: --plot needs matplotlib, which is not installed: pip install 'dlbc[plot]'\n"
    assert capsys.readouterr().err == said
    assert launches.words == []


def test_without_a_launcher_it_says_how_to_get_one(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dlbc.commands.run.find_mpiexec", lambda: None)
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    assert main(["calibrate", "-n", "2"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("dlbc: expected an MPI launcher, found no mpiexec")
    assert said.endswith("install one with `pip install 'dlbc[mpich]'`\n")


def test_a_launcher_that_does_not_start_is_told_of(
    cache: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("dlbc.commands.calibrate.launcher", lambda ranks, hostfile: [str(cache / "gone")])
    assert main(["calibrate", "-n", "2"]) == 2
    assert capsys.readouterr().err == f"dlbc: {cache / 'gone'}: No such file or directory\n"
