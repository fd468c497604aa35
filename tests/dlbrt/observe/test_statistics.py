"""Statistics: totals over runs, the contract's keys, a file that is whole or absent."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from dlbrt.balance.messages import RedistributionGain, Window
from dlbrt.observe.files import write
from dlbrt.observe.statistics import (
    Checks,
    LoopRecord,
    PlannedShares,
    RankFigures,
    RunStatistics,
    report,
    until_the_last,
)
from dlbrt.predict.audit import AuditedFigure, percent_more
from dlbrt.predict.choose import StrategyChoice
from dlbrt.predict.effective_speed import LoadForecast
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.network import Network
from dlbrt.predict.work import IterationCosts

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


def choice(**predicted_s: float) -> StrategyChoice:
    known = ModelInputs(
        1.0,
        IterationCosts(1.0),
        ((), ()),
        (1.0, 1.0),
        LoadForecast(((1.0,), (1.0,)), 1.0),
        ((0, 1),),
        Network.default(),
    )
    return StrategyChoice(min(predicted_s, key=predicted_s.__getitem__), tuple(predicted_s.items()), 1, known)


def record() -> LoopRecord:
    loop = LoopRecord("_dlb_loop_1", "mxm.py:4", 2)
    first = (RankFigures(60, 3.0, 0.1, 0.0), RankFigures(40, 1.0, 0.2, 0.5))
    loop.add(RunStatistics("none", 100, 3.5, first, choice=choice(GDDLB=2.0), overhead_s=0.25))
    second = (RankFigures(50, 1.0, 0.0, 0.0), RankFigures(50, 1.0, 0.0, 0.0))
    loop.add(RunStatistics("GDDLB", 100, 1.5, second, 3, 2, 20, 800, choice(GDDLB=1.0, none=4.0)))
    return loop


def test_figures_are_totals_over_runs_and_the_strategy_is_the_last() -> None:
    loop = record().as_json()
    assert list(loop) == [*LOOP_KEYS, "overhead_s", "imbalance", "audit", "choice"]
    apart = {"decision_s": 0.0, "movement_s": 0.0}
    assert loop["per_rank"] == [
        {"iterations": 110, "compute_s": 4.0, "sync_s": 0.1, "idle_s": 0.0} | apart,
        {"iterations": 90, "compute_s": 2.0, "sync_s": 0.2, "idle_s": 0.5} | apart,
    ]
    assert (loop["runs"], loop["iterations"], loop["elapsed_s"]) == (2, 200, 5.0)
    assert (loop["synchronizations"], loop["redistributions"]) == (3, 2)
    assert (loop["iterations_moved"], loop["bytes_moved"]) == (20, 800)
    assert (loop["strategy"], loop["predicted_s"]) == ("GDDLB", {"GDDLB": 3.0, "none": 4.0})
    assert (loop["balance_efficiency"], loop["overhead_s"]) == (0.75, 0.25)
    chosen = loop["choice"]
    assert isinstance(chosen, dict)
    assert (chosen["runs"], chosen["choice"], chosen["predicted_s"]) == (
        2,
        "GDDLB",
        {"GDDLB": 1.0, "none": 4.0},
    )


def test_windows_are_of_the_last_run_and_what_moving_gained_of_all() -> None:
    loop = record()
    moved = Window(0, (0, 1), (3, 1), (1.0, 1.0), "move", 2, 0.5, 0.25)
    last = Window(1, (0, 1), (2, 2), (1.0, 1.0), "move", 1, 0.5)
    for windows in ((moved, last), (moved,)):
        loop.add(
            RunStatistics(
                "GDDLB",
                9,
                1.0,
                (RankFigures(5), RankFigures(4)),
                windows=windows,
                gain=RedistributionGain(1, 0.5, 0.25),
            )
        )
    document = loop.as_json()
    assert document["gain"] == {"redistributions": 2, "predicted_s": 1.0, "realised_s": 0.5}
    assert document["windows"] == [
        {
            "epoch": 0, "members": (0, 1), "units": (3, 1), "compute_s": (1.0, 1.0), "verdict": "move",
            "moved": 2, "predicted_s": 0.5, "realised_s": 0.25,
        }
    ]  # fmt: skip


def test_who_ends_early_is_idle_until_the_last_has_ended() -> None:
    early = RankFigures(5, compute_s=1.0, sync_s=0.25, idle_s=0.25, decision_s=0.25, movement_s=0.25)
    late = RankFigures(9, compute_s=3.0)
    assert until_the_last([early, late]) == (replace(early, idle_s=1.25), late)
    assert until_the_last([]) == ()


def test_a_loop_never_run_is_balanced() -> None:
    assert LoopRecord(1, "a.py:1", 3).balance_efficiency == 1.0


def test_the_reason_for_running_locally_is_told() -> None:
    loop = LoopRecord(1, "a.py:1", 1)
    loop.add(RunStatistics("local", 5, 0.0, (RankFigures(5),), reason="worth less than sending it"))
    assert list(loop.as_json()) == [*LOOP_KEYS, "reason"]
    assert loop.as_json()["reason"] == "worth less than sending it"


def test_the_proof_status_is_told_where_it_is_known() -> None:
    loop = LoopRecord(1, "a.py:1", 1, proof="proven")
    assert list(loop.as_json()) == [*LOOP_KEYS, "proof"]
    assert loop.as_json()["proof"] == "proven"


def test_imbalance_is_told_by_all_three_measures() -> None:
    """4 and 2 seconds, mean 3: (T_max - T_avg) over the mean, and over the maximum."""
    found = record().as_json()["imbalance"]
    assert found == {
        "L_I": pytest.approx(100 / 3),
        "L_E": pytest.approx(200 / 3),
        "idle_share": pytest.approx(25),
    }


def test_runs_that_rank_0_did_alone_are_not_out_of_balance() -> None:
    loop = record()
    before = loop.as_json()["imbalance"]
    loop.add(RunStatistics("local", 100, 50.0, (RankFigures(100, 50.0), RankFigures())))
    assert loop.as_json()["imbalance"] == before
    assert loop.balance_efficiency == pytest.approx(28 / 54)


@pytest.mark.parametrize(
    "figures",
    [(RankFigures(9, 1.0),), (RankFigures(), RankFigures(9, 1.0)), (RankFigures(5), RankFigures(4))],
)
def test_without_two_ranks_or_without_a_time_nothing_is_compared(figures: tuple[RankFigures, ...]) -> None:
    loop = LoopRecord(1, "a.py:1", len(figures))
    loop.add(RunStatistics("none", 9, 1.0, figures))
    assert list(loop.as_json()) == LOOP_KEYS


def test_what_was_planned_is_told_beside_what_was_measured() -> None:
    loop = record()
    for times, loss in (((1.0, 1.0), None), ((30.0, 10.0), 0.02)):
        loop.add(RunStatistics("none", 0, 0.0, (RankFigures(),) * 2, planned=PlannedShares(times, loss)))
    loop.add(RunStatistics("local", 9, 1.0, (RankFigures(9, 1.0), RankFigures())))
    assert list(loop.as_json()) == [*LOOP_KEYS, "overhead_s", "imbalance", "planned", "audit", "choice"]
    assert loop.as_json()["planned"] == {
        "L_I": 50.0,
        "L_E": 50.0,
        "idle_share": pytest.approx(100 / 3),
        "whole_iterations_loss": 2.0,
    }
    assert list(PlannedShares((1.0, 2.0)).as_json()) == ["L_I", "L_E", "idle_share"]


def test_predictions_are_audited() -> None:
    """Seconds of the runs whose strategy was predicted, shares as planned, bytes and gains by the model."""
    loop = LoopRecord(1, "a.py:1", 2)
    chosen = choice(GDDLB=1.0, none=4.0)
    ranks = (RankFigures(50, 1.0, 0.1, 0.1, 0.05, 0.25), RankFigures(50, 3.0, 0.0, 0.0))
    planned, gain = PlannedShares((1.0, 1.5)), RedistributionGain(1, 0.5, 0.25)
    run = RunStatistics("GDDLB", 100, 4.0, ranks, 3, 2, 20, 200, chosen, planned=planned, gain=gain,
                        bytes_predicted=160.0)  # fmt: skip
    loop.add(run)
    loop.add(replace(run, choice=replace(chosen, predicted_s=(("GDDLB", 2.0),))))
    loop.add(replace(run, strategy="steal"))
    loop.add(replace(run, choice=None))
    assert loop.as_json()["audit"] == {
        "seconds": {"runs": 2, "predicted": 3.0, "measured": 6.0, "difference": 1.0},
        "imbalance": {"predicted": pytest.approx(20.0), "measured": 50.0, "difference": pytest.approx(1.5)},
        "bytes_moved": {"predicted": 640.0, "measured": 800, "difference": pytest.approx(0.25)},
        "gain_s": {"predicted": 2.0, "measured": 1.0, "difference": -0.5},
    }


def test_what_was_predicted_as_nothing_has_no_difference() -> None:
    assert AuditedFigure(0.0, 3.0).record() == {"predicted": 0.0, "measured": 3.0}
    assert [percent_more(d) for d in (None, 0.031, -0.5)] == ["", "+3 %", "-50 %"]


def test_a_plan_that_cannot_end_has_no_measure() -> None:
    figures = (RankFigures(), RankFigures())
    loop = LoopRecord(1, "a.py:1", 2)
    loop.add(RunStatistics("none", 0, 0.0, figures, planned=PlannedShares((1.0, float("inf")), float("inf"))))
    assert list(loop.as_json()) == LOOP_KEYS


def test_a_run_has_figures_for_each_rank() -> None:
    loop = LoopRecord(1, "a.py:1", 2)
    with pytest.raises(ValueError, match="shorter"):
        loop.add(RunStatistics("none", 1, 0.0, (RankFigures(),)))
    assert loop.runs == 0


def test_the_report_is_written_as_json_over_what_was_there(tmp_path: Path) -> None:
    path, link = tmp_path / "stats.json", tmp_path / "link.json"
    path.write_text("old")
    link.symlink_to(path)
    document = report([record()], 2, ["a", "b"], 6.5)
    write(link, document)
    text = path.read_text()
    assert text.endswith("}\n")
    assert json.loads(text) == json.loads(json.dumps(document))
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


def test_the_page_on_running_names_every_key() -> None:
    text = (Path(__file__).resolve().parents[3] / "docs" / "running.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?`) \|", text, re.MULTILINE)
    named = {key for row in rows for key in re.findall(r"`(\w+)`", row)}
    loop = LoopRecord(1, "a.py:1", 2, proof="proven", checks=Checks({"lib.f": 3}, 1, 0.5))
    figures = (RankFigures(1, 1.0), RankFigures(1, 1.0))
    planned, moved = (
        PlannedShares((1.0, 1.0), 0.0),
        Window(0, (0, 1), (1, 1), (1.0, 1.0), "move", 1, 0.5, 0.25),
    )
    loop.add(
        RunStatistics(
            "none", 2, 1.0, figures, choice=choice(none=1.0), reason="x", overhead_s=0.0, planned=planned,
            windows=(moved,), gain=RedistributionGain(1, 0.5, 0.25), bytes_scattered=8, bytes_gathered=8,
        )
    )  # fmt: skip
    document = loop.as_json()
    measures = {"L_I", "L_E", "idle_share"}
    assert set(document["imbalance"]) == measures  # type: ignore[call-overload]
    assert named == document.keys() | measures
    assert document["checks"] == {"calls": {"lib.f": 3}, "runs": 1, "seconds": 0.5, "found": ""}
    assert "`whole_iterations_loss`" in text
