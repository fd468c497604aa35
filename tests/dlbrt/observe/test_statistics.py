"""Statistics: totals over runs, the contract's keys, a file that is whole or absent."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from dlbrt.observe.statistics import LoopRecord, LoopRun, RankFigures, report, write

LOOP_KEYS = [
    "id",
    "source",
    "runs",
    "iterations",
    "strategy",
    "predicted_s",
    "synchronizations",
    "redistributions",
    "iterations_moved",
    "bytes_moved",
    "elapsed_s",
    "balance_efficiency",
    "per_rank",
]


def record() -> LoopRecord:
    loop = LoopRecord("_dlb_loop_1", "mxm.py:4", 2)
    first = (RankFigures(60, 3.0, 0.1, 0.0), RankFigures(40, 1.0, 0.2, 0.5))
    loop.add(LoopRun("none", 100, 3.5, first, predicted_s={"GDDLB": 2.0}, overhead_s=0.25))
    second = (RankFigures(50, 1.0, 0.0, 0.0), RankFigures(50, 1.0, 0.0, 0.0))
    loop.add(LoopRun("GDDLB", 100, 1.5, second, 3, 2, 20, 800, {"GDDLB": 1.0, "none": 4.0}))
    return loop


def test_figures_are_totals_over_runs_and_the_strategy_is_the_last() -> None:
    loop = record().as_json()
    assert list(loop) == [*LOOP_KEYS, "overhead_s"]
    assert loop["per_rank"] == [
        {"iterations": 110, "compute_s": 4.0, "sync_s": 0.1, "idle_s": 0.0},
        {"iterations": 90, "compute_s": 2.0, "sync_s": 0.2, "idle_s": 0.5},
    ]
    assert (loop["runs"], loop["iterations"], loop["elapsed_s"]) == (2, 200, 5.0)
    assert (loop["synchronizations"], loop["redistributions"]) == (3, 2)
    assert (loop["iterations_moved"], loop["bytes_moved"]) == (20, 800)
    assert (loop["strategy"], loop["predicted_s"]) == ("GDDLB", {"GDDLB": 3.0, "none": 4.0})
    assert (loop["balance_efficiency"], loop["overhead_s"]) == (0.75, 0.25)


def test_a_loop_never_run_is_balanced() -> None:
    assert LoopRecord(1, "a.py:1", 3).balance_efficiency == 1.0


def test_the_reason_for_running_locally_is_told() -> None:
    loop = LoopRecord(1, "a.py:1", 1)
    loop.add(LoopRun("local", 5, 0.0, (RankFigures(5),), reason="worth less than sending it"))
    assert list(loop.as_json()) == [*LOOP_KEYS, "reason"]
    assert loop.as_json()["reason"] == "worth less than sending it"


def test_the_proof_status_is_told_where_it_is_known() -> None:
    loop = LoopRecord(1, "a.py:1", 1, proof="proven")
    assert list(loop.as_json()) == [*LOOP_KEYS, "proof"]
    assert loop.as_json()["proof"] == "proven"


def test_a_run_has_figures_for_each_rank() -> None:
    loop = LoopRecord(1, "a.py:1", 2)
    with pytest.raises(ValueError, match="shorter"):
        loop.add(LoopRun("none", 1, 0.0, (RankFigures(),)))
    assert loop.runs == 0


def test_the_report_is_written_as_json_over_what_was_there(tmp_path: Path) -> None:
    path, link = tmp_path / "stats.json", tmp_path / "link.json"
    path.write_text("old")
    link.symlink_to(path)
    document = report([record()], 2, ["a", "b"], 6.5)
    write(link, document)
    text = path.read_text()
    assert text.endswith("}\n")
    assert json.loads(text) == document
    assert list(document) == ["version", "ranks", "host_names", "elapsed_s", "loops"]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.json", "stats.json"]


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "stats.json", {"elapsed_s": float("nan")})
    with pytest.raises(FileNotFoundError):
        write(tmp_path / "nowhere" / "stats.json", {})
    with pytest.raises(IsADirectoryError):
        write(tmp_path, {})
    assert list(tmp_path.iterdir()) == []


def test_a_device_is_written_to_and_stays_one() -> None:
    write(os.devnull, {"version": 1})
    assert not Path(os.devnull).is_file()
