"""The page of a recorded run: all of it is there, it needs nothing else, bad input is told in a sentence."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dlbrt.balance.strategies import AUTO, names
from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace import LoopTrace, RankTrace, RunTrace, Trace, TracedProgram
from dlbrt.observe.trace_events import Slice
from dlbrt.observe.trace_writer import text_of
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.replay import setup_of, trace_of
from papers.zaki.network import ethernet

from dlbc.cli import main
from dlbc.commands.report.content import report_of
from dlbc.commands.report.measure import ACTIVITIES, measure_run
from dlbc.commands.report.page import page
from dlbc.commands.report.predictions import replay_predictions
from dlbc.commands.report.text import text_of_report
from dlbc.commands.report.timeline import joined, timeline_data
from dlbc.commands.report.words import about, count, seconds_text
from tests.dlbc.report.traces import program_trace
from tests.support.tier import is_full

WHERE = Machine((1.0,) * 4, ethernet(), LoadSpec(levels=(0, 3, 0, 1)), blocks(4, 2))
WHAT = LoopModel(200, tuple(0.02 + 1e-4 * k for k in range(200)), iteration_bytes=800)


def simulated(name: str) -> tuple[SimulationOutcome, Trace]:
    outcome = simulate_strategy(WHERE, WHAT, name, traced=True)
    setup = setup_of(WHERE, WHAT, name)
    return outcome, trace_of(outcome, WHERE, WHAT, setup, "prog.py:3", ("a", "a", "b<i>", "b<i>"))


def words(text: str) -> str:
    visible = re.sub(r"<(style|script).*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", visible)).split())


def shown(trace: Trace) -> str:
    """The words of the page of a trace."""
    return words(page(report_of(trace, "t.json")))


@pytest.mark.parametrize("name", [*sorted(names()), AUTO])
def test_times_of_a_rank_add_up_to_the_run(name: str) -> None:
    outcome, trace = simulated(name)
    found = measure_run(trace, trace.loops[0].runs[0])
    assert found.makespan_s == pytest.approx(outcome.makespan_s, rel=1e-3)
    assert sum(row.units for row in found.rows) == 200
    for row, seconds in zip(found.rows, outcome.compute_s, strict=True):
        assert row.seconds("compute") == pytest.approx(seconds, rel=1e-3)
        assert sum(map(row.seconds, ACTIVITIES)) == pytest.approx(found.elapsed_s, abs=1e-3)
        assert row.seconds("idle") + row.seconds("synchronize") < found.makespan_s


def test_the_page_says_what_was_measured_and_what_was_predicted() -> None:
    outcome, trace = simulated(AUTO)
    said = shown(trace)
    took = seconds_text(outcome.makespan_s)
    assert "A simulation on 4 ranks; ranks of each host: a (2), b<i> (2)." in said
    assert f"One run of 200 iterations under {outcome.strategy} took {about(outcome.makespan_s)}" in said
    assert re.search(rf"auto, simulated {took} {took} [+-]0 %", said)
    choice = replay_predictions(trace.loops[0].runs[0]).choice
    assert choice is not None
    for name, seconds in choice.predicted_s:
        assert re.search(rf"{name}(, [a-z ,]+)? {re.escape(seconds_text(seconds))}", said)
    assert re.search(rf"{outcome.strategy}, chosen", said)


def test_every_redistribution_is_there_with_its_gain() -> None:
    outcome, trace = simulated("GDDLB")
    moves = [window for window in replay_predictions(trace.loops[0].runs[0]).windows if window.moved]
    assert len(moves) == outcome.redistributions > 0
    said = shown(trace)
    first = moves[0]
    assert first.predicted_s is not None
    assert first.realised_s is not None
    known = [window.realised_s for window in moves if window.realised_s is not None]
    gained = f"{sum(gain > 0 for gain in known)} gained time"
    assert f"of {count(len(known), 'redistribution')} in the run shown, {gained}" in said
    gains = f"{seconds_text(first.predicted_s)} {seconds_text(first.realised_s)}"
    assert f"{first.epoch} 0 to 3 {first.moved} {gains}" in said


def test_the_timeline_has_all_that_each_rank_did() -> None:
    _, trace = simulated("GDDLB")
    found = measure_run(trace, trace.loops[0].runs[0])
    data = timeline_data(trace, [[found]])
    kinds = data["kinds"]
    assert data["ranks"] == [f"rank {rank}" for rank in range(4)]
    assert data["hosts"] == ["a", "a", "b<i>", "b<i>"]
    for row, flat in zip(found.rows, data["slices"], strict=True):
        assert len(flat) == 4 * len(row.slices)
        computed = sum(
            length for k, _, length, _ in zip(*[iter(flat)] * 4, strict=True) if kinds[k] == "compute"
        )
        assert computed / 1e6 == pytest.approx(row.seconds("compute"), abs=1e-5)
        ends = [begin + length for _, begin, length, _ in zip(*[iter(flat)] * 4, strict=True)]
        assert ends == sorted(ends)
        assert max(ends) <= data["end"]
    assert len(data["arrows"]) == 5 * len(found.arrows) > 0
    assert [len(marks) for marks in data["marks"]] == [len(row.marks) for row in found.rows]
    assert data["runs"] == [[0, 1, 0, data["end"], "GDDLB"]]
    assert data["units"] == ["iterations"]


def test_rank_0_is_sequential_between_runs_and_others_idle() -> None:
    _, trace = simulated("GDDLB")
    [loop] = trace.loops
    took = measure_run(trace, loop.runs[0]).elapsed_s
    first = replace(loop.runs[0], started=0.0, elapsed_s=took)
    about_it = TracedProgram("dlbc run p.py", "2026-01-02T03:04:05+00:00", 0.0, 0.25, took + 3, 0.0, {})
    program = replace(trace, kind="run", loops=(replace(loop, runs=(first,)),), program=about_it)
    data = timeline_data(program, [[measure_run(program, first)]])
    last = [data["kinds"][flat[-4]] for flat in data["slices"]]
    assert last == ["sequential", "idle", "idle", "idle"]
    assert all(flat[-2] == pytest.approx(3e6, abs=2) for flat in data["slices"])
    said = shown(program)
    assert "dlbc run p.py 2026-01-02 03:04:05+00:00 . A run on 4 ranks" in said
    assert "Starting Python and MPI took 250 ms before the program's own time." in said
    assert "the sequential part, on rank 0 3 s" in said


def test_slices_that_are_joined_cover_the_same_time() -> None:
    slices = [Slice("compute", k / 10, (k + 1) / 10 - 0.04 * (k % 2), k) for k in range(100)]
    found = joined(slices, 0.25)
    assert len(found) < 50
    assert (found[0].begin, found[-1].end) == (slices[0].begin, slices[-1].end)
    assert sum(each.amount for each in found) == sum(each.amount for each in slices)
    assert joined(slices, 0.0) == slices


def test_a_timeline_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    _, trace = simulated("SS")
    measured = [[measure_run(trace, trace.loops[0].runs[0])]]
    whole = sum(map(len, timeline_data(trace, measured)["slices"])) // 4
    monkeypatch.setattr("dlbc.commands.report.timeline.MOST_SLICES", whole // 3)
    assert 4 <= sum(map(len, timeline_data(trace, measured)["slices"])) // 4 <= whole // 3


def test_many_runs_of_a_loop_are_summarised() -> None:
    _, trace = simulated("GDDLB")
    [loop] = trace.loops
    many = replace(trace, loops=(replace(loop, runs=loop.runs * 20),), left_out=3)
    found = report_of(many, "t.json")
    took = measure_run(trace, loop.runs[0]).elapsed_s
    [view] = found.loops
    assert view.facts.startswith(
        f"20 runs of 200 iterations under GDDLB took {about(20 * took)}, {about(took)} each"
    )
    assert len(view.ranks.rows) == 4
    assert view.runs_chart.count("<polyline") == 2
    assert "3 more runs took place after the trace had become too long." in found.notes
    text = page(found)
    assert text.count("<article") == 1
    assert len(text) < 1.2 * len(page(report_of(trace, "t.json"))) + 20 * 12_000


def test_runs_without_anything_to_show() -> None:
    """A loop without iterations, which rank 0 did alone, and of whose strategy nothing can be said."""
    nothing = RunTrace("local", 0, (RankTrace(1.0),))
    trace = Trace(
        "run", ("a",), (0.0,), simulated("none")[1].machine, (LoopTrace("1", "p.py:1", (nothing,)),)
    )
    said = shown(trace)
    assert "One run of 0 iterations under rank 0 alone took" in said
    assert "Nothing was computed in annotated loops: 1 rank" in said


def test_a_loop_that_was_shared_once_and_then_left_to_rank_0() -> None:
    _, trace = simulated("GDDLB")
    [loop] = trace.loops
    alone = replace(loop.runs[0], strategy="local", per_rank=loop.runs[0].per_rank[:1])
    for runs in ((loop.runs[0], alone), (alone, loop.runs[0]), (alone, alone)):
        said = shown(replace(trace, loops=(replace(loop, runs=runs),)))
        assert "2 runs of 200 iterations" in said


def test_the_text_says_the_same() -> None:
    outcome, trace = simulated(AUTO)
    found = report_of(trace, "t.json")
    text = " ".join(text_of_report(found, 90).split())
    assert found.headline in text
    assert found.advice is not None
    assert found.advice.what[1:] in text
    assert found.advice.remedy[1:] in text
    for loop in found.loops:
        assert loop.facts in text
        assert loop.costs in text
        assert loop.redistributions in text
    assert f"{outcome.strategy}, chosen" in text


@pytest.mark.parametrize("columns", [40, 60, 90, 500])
def test_lines_of_text_are_no_longer_than_the_terminal(columns: int) -> None:
    text = text_of_report(report_of(simulated("GDDLB")[1], "t.json"), columns)
    assert max(map(len, text.splitlines())) <= min(columns, 100)
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_the_command_writes_the_page_beside_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = simulated("GSS")[1]
    (tmp_path / "t.json").write_text(text_of(trace))
    assert main(["report", str(tmp_path / "t.json")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 't.html'}\n"
    text = (tmp_path / "t.html").read_text()
    assert text == page(report_of(trace, "t.json"))
    assert main(["report", str(tmp_path / "t.json"), "-o", "-"]) == 0
    assert capsys.readouterr().out == text
    assert main(["report", str(tmp_path / "t.json"), "-o", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").read_text() == text
    capsys.readouterr()
    assert main(["report", str(tmp_path / "t.json"), "--format", "text"]) == 0
    assert capsys.readouterr().out == text_of_report(report_of(trace, "t.json")) + "\n"
    assert main(["report", str(tmp_path / "t.json"), "--format", "text", "-o", str(tmp_path / "t.txt")]) == 0
    assert (tmp_path / "t.txt").read_text() == text_of_report(report_of(trace, "t.json")) + "\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, r"t\.json: cannot be read \(No such file"),
        ("", "found no JSON"),
        ("{}", "without the key dlb"),
        ('{"dlb": {"version": 7}}', "expected a trace of format version 2, found 7"),
    ],
)
def test_what_is_no_trace_is_told(
    content: str | None, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if content is not None:
        (tmp_path / "t.json").write_text(content)
    assert main(["report", str(tmp_path / "t.json")]) == 2
    found = capsys.readouterr()
    assert not found.out
    assert re.search(said, found.err)
    assert found.err.startswith("dlbc: ")
    assert found.err.count("\n") == 1


def test_a_trace_cut_short_anywhere_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(simulated("GDDLB")[1])
    for part in range(1, 40):
        (tmp_path / "t.json").write_text(text[: len(text) * part // 40])
        assert main(["report", str(tmp_path / "t.json")]) == 2
        assert re.match(r"dlbc: .*t\.json: .*\n\Z", capsys.readouterr().err)


def nodes(document: Any) -> list[tuple[Any, Any]]:
    """Every place in a document, as a container and a key."""
    found = []
    keys = document.items() if isinstance(document, dict) else enumerate(document)
    for key, value in keys:
        found.append((document, key))
        if isinstance(value, dict | list):
            found += nodes(value)
    return found


@pytest.mark.parametrize("name", ["GDDLB", "LCDLB", "steal", "GSS", AUTO])
@pytest.mark.parametrize("command", ["report", "simulate"])
def test_whatever_a_trace_says_there_is_no_traceback(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, draw = text_of(simulated(name)[1]), Random(name)
    words = ["report"] if command == "report" else ["simulate", "--strategy", "GDDLB", "--trace"]
    statuses = set()
    for _ in range(60 if is_full() else 15):
        document = json.loads(text)
        place, key = draw.choice(nodes(document["dlb"]))
        place[key] = draw.choice(
            [None, -1, 0, 3, 0.5, -2.5, "x", [], {}, [1], {"same": 0}, {"float": "nan"}, True]
        )
        (tmp_path / "t.json").write_text(json.dumps(document))
        status = main([*words, str(tmp_path / "t.json")])
        said = capsys.readouterr()
        assert status == 0 or (status == 2 and re.match(r"dlbc: .*\n\Z", said.err)), (
            key,
            place[key],
            said.err,
        )
        statuses.add(status)
    assert statuses == {0, 2}


@pytest.mark.parametrize("form", ["html", "text"] if is_full() else ["text"])
def test_whatever_is_said_of_the_program_there_is_no_traceback(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    draw, text, statuses = Random(form), text_of(program_trace()), set()
    for _ in range(200 if is_full() else 60):
        document = json.loads(text)
        place, key = draw.choice(nodes(document["dlb"]["program"]))
        place[key] = draw.choice([None, -1, 0, 3, 1e300, 1e999, "x", [], {}, [1], True])
        (tmp_path / "t.json").write_text(json.dumps(document).replace("Infinity", "1e999"))
        status = main(["report", "--format", form, str(tmp_path / "t.json")])
        said = capsys.readouterr()
        assert status == 0 or (status == 2 and re.match(r"dlbc: .*\n\Z", said.err)), (
            key,
            place[key],
            said.err,
        )
        statuses.add(status)
    assert statuses == {0, 2}


def test_events_that_cannot_have_been_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = re.sub(r'("Worked": {"now": [^,]*, "units": )\d+', r"\g<1>9999", text_of(simulated("GDDLB")[1]))
    (tmp_path / "t.json").write_text(text)
    assert main(["report", str(tmp_path / "t.json")]) == 2
    assert re.match(r"dlbc: .*expected the trace of a run: .* 9999 units.*\n\Z", capsys.readouterr().err)


def test_a_trace_without_loops_has_no_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.json"
    path.write_text(text_of(replace(simulated("none")[1], loops=())))
    assert main(["report", str(path)]) == 2
    assert capsys.readouterr() == ("", f"dlbc: {path}: expected a parallel loop; found none\n")
    assert [entry.name for entry in tmp_path.iterdir()] == ["t.json"]


def test_a_page_that_cannot_be_written_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "t.json").write_text(text_of(simulated("none")[1]))
    assert main(["report", str(tmp_path / "t.json"), "-o", str(tmp_path / "missing" / "t.html")]) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(2.5, "2.5 s"), (0.0123456, "12.35 ms"), (3.2e-6, "3.2 us"), (-0.5, "-500 ms"), (0, "0 us")],
)
def test_times_have_units(seconds: float, text: str) -> None:
    assert seconds_text(seconds) == text
