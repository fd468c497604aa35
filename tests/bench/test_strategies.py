"""The measure of strategies: its programs give the original's bytes, and its figures follow from the runs."""

from __future__ import annotations

import dataclasses
import shutil
import sys
from pathlib import Path

import pytest
from dlbrt.emulation import RandomLoad
from papers.zaki.cases import CASES, trfd_second

from tests.bench.paper.copies import WARM, copies
from tests.bench.paper.measure import PROGRAMS
from tests.bench.paper.plan import STRATEGIES, clairvoyant_s, launches, load
from tests.bench.paper.records import Results, Run, Settings, read, write
from tests.bench.paper.summary import line, rows, summary
from tests.support.mpi import run_mpi, run_sequential, transform

SMALL = {"mxm": ("37,5", "0.0002"), "trfd": ("5", "0.0004,1e-6"), "adjoint": ("9", "1e-6")}


@pytest.mark.mpi
@pytest.mark.parametrize("name", SMALL)
def test_every_copy_of_a_program_gives_the_bytes_of_the_original(name: str, tmp_path: Path) -> None:
    shutil.copy(PROGRAMS / "pacing.py", tmp_path)
    source = tmp_path / f"{name}.py"
    source.write_text(copies(PROGRAMS / source.name, STRATEGIES).text)
    generated = transform(source, tmp_path)
    alone = run_sequential([sys.executable, str(PROGRAMS / source.name), *SMALL[name]])
    assert alone.status == 0, alone.stderr
    for ranks in (1, 2, 4):
        command = [sys.executable, str(generated), *SMALL[name], *STRATEGIES]
        done = run_mpi(
            ranks, command, env={"DLB_LOAD": "random:max=5,duration=0.001,seed=3", "DLB_TRUST": "1"}
        )
        assert done.status == 0, done.stderr
        assert done.stdout == alone.stdout * (1 + len(STRATEGIES)), f"{ranks} ranks"


@pytest.mark.parametrize("name", SMALL)
def test_a_loop_is_known_by_its_line(name: str) -> None:
    copied = copies(PROGRAMS / f"{name}.py", ("GCDLB", "auto"))
    lines = copied.text.splitlines()
    each = 2 if name == "trfd" else 1
    assert list(copied.loops.values()) == [(k, s) for s in (WARM, "GCDLB", "auto") for k in range(each)]
    for number, (_, strategy) in copied.loops.items():
        assert lines[number - 1].strip().startswith("for i in range(")
        clause = {"auto": "", WARM: "schedule(GDDLB)"}.get(strategy, f"schedule({strategy})")
        assert clause in lines[number - 2]
        assert strategy != "auto" or "schedule" not in lines[number - 2]


def test_all_cases_are_run_and_a_loop_takes_the_seconds_asked_for() -> None:
    planned = launches(1.5)
    assert [case for launch in planned for case in launch.cases] == list(CASES)
    for launch in planned:
        seconds = [work_s / launch.ranks for work_s in launch.work_s()]
        assert sum(seconds) / len(seconds) == pytest.approx(1.5)
        paper_s = sum(case.work.units(((0, case.size),)) * case.work.unit_s for case in launch.cases)
        assert load(launch, 20.0, 1).duration_s / sum(launch.work_s()) == pytest.approx(20.0 / paper_s)


def test_the_times_given_to_a_program_add_up_to_its_work() -> None:
    for launch in launches(2.0):
        size, times = launch.sizes[0], launch.times()
        if launch.source == "mxm.py":
            done = [size * times[0]]
        elif launch.source == "trfd.py":
            columns = size * (size + 1) // 2
            second = sum(trfd_second(size, i) for i in range(1, columns + 1))
            done = [columns * times[0], second * times[1]]
        else:
            done = [sum(size**2 - i for i in range(size**2)) * times[0]]
        assert done == pytest.approx(list(launch.work_s()))


def test_the_clairvoyant_time_is_that_of_the_whole_effective_speed() -> None:
    assert clairvoyant_s(8.0, RandomLoad(0, 1.0, 1), 4) == pytest.approx(2.0)
    loaded = clairvoyant_s(8.0, RandomLoad(5, 0.5, 1), 4)
    assert 2.0 < loaded < 12.0


def run(strategy: str, seed: int, elapsed_s: float, committed: str = "") -> Run:
    case = CASES[0]
    name = committed or strategy
    return Run(case.name, case.ranks, strategy, seed, 0, elapsed_s, 1.0, name, {}, 1, 1, 1, 1, 1, 1, 1)


TIMES = {"none": 4.0, "GCDLB": 2.2, "GDDLB": 2.0, "LCDLB": 3.0, "LDDLB": 2.5}


def measured() -> list[Run]:
    """Three seeds, in which `auto` loses 10 %, nothing and 20 % by what it commits to."""
    auto = ((2.2, "GCDLB"), (4.0, "GDDLB"), (2.4, "GCDLB"))
    forced = [run(name, seed, s * (1 + (seed == 2))) for seed in (1, 2, 3) for name, s in TIMES.items()]
    return forced + [run("auto", seed, s, name) for seed, (s, name) in enumerate(auto, 1)]


def test_a_row_compares_runs_under_the_same_load() -> None:
    (row,) = rows(measured())
    assert (row.best, row.chosen, row.seeds) == ("GDDLB", "GCDLB", 3)
    assert row.best_over_none == pytest.approx(0.5)
    assert row.auto_over_best == pytest.approx(1.1)
    assert (row.auto_least, row.auto_paired, row.auto_most) == pytest.approx((1.0, 1.1, 1.2))
    assert row.chosen_over_best == pytest.approx(1.1)
    assert row.best_over_clairvoyant == pytest.approx(2.0)
    assert line(row).split()[:5] == ["MXM", "n=400", "r=400", "4", "GDDLB"]


def test_the_summary_counts_choices_and_what_missed_ones_lose() -> None:
    told = "\n".join(summary(rows(measured())))
    assert "committed to the best in 0 of 1 cases, to one within 1 % of it in 0" in told
    assert "took 10.0% longer on average, 10.0% at most" in told
    assert "below 1 in 1 of 1 cases" in told


def test_a_measurement_is_gone_on_with_by_the_same_settings_alone(tmp_path: Path) -> None:
    settings, path = Settings("emulated", 1.6, 20.0), tmp_path / "runs.json"
    results = Results(settings, runs=measured())
    write(path, results, rows(results.runs))
    assert read(path, settings) == results
    assert read(path, settings).done(CASES[0].name, 4, 2)
    with pytest.raises(ValueError, match="name another file"):
        read(path, dataclasses.replace(settings, seconds=2.0))
