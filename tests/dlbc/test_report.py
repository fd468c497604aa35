"""The page of a recorded run: all of it is there, it needs nothing else, bad input is told in a sentence."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from dlbrt.balance.strategies import AUTO, names
from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace import LoopTrace, RankTrace, RunTrace, Trace
from dlbrt.observe.trace_writer import text_of
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.replay import setup_of, trace_of
from papers.zaki.network import ethernet

from dlbc.cli import main
from dlbc.commands.report.draw import ACTIVITIES, measure_run, seconds_text, timeline
from dlbc.commands.report.page import MOST_RUNS, page, replay_predictions
from tests.support.tier import is_full

WHERE = Machine((1.0,) * 4, ethernet(), LoadSpec(levels=(0, 3, 0, 1)), blocks(4, 2))
WHAT = LoopModel(200, tuple(0.02 + 1e-4 * k for k in range(200)), iteration_bytes=800)


def simulated(name: str) -> tuple[SimulationOutcome, Trace]:
    outcome = simulate_strategy(WHERE, WHAT, name, traced=True)
    setup = setup_of(WHERE, WHAT, name)
    return outcome, trace_of(outcome, WHERE, WHAT, setup, "prog.py:3", ("a", "a", "b<i>", "b<i>"))


def words(text: str) -> str:
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


@pytest.mark.parametrize("name", [*sorted(names()), AUTO])
def test_times_of_a_rank_add_up_to_the_run(name: str) -> None:
    outcome, trace = simulated(name)
    found = measure_run(trace, trace.loops[0].runs[0])
    assert found.makespan_s == pytest.approx(outcome.makespan_s, rel=1e-3)
    assert sum(row.units for row in found.rows) == 200
    for row, seconds in zip(found.rows, outcome.compute_s, strict=True):
        assert row.seconds("compute") == pytest.approx(seconds, rel=1e-3)
        assert sum(map(row.seconds, ACTIVITIES)) <= found.makespan_s + 1e-6
        assert row.seconds("idle") + row.seconds("synchronize") < found.makespan_s


def test_the_page_says_what_was_measured_and_what_was_predicted() -> None:
    outcome, trace = simulated(AUTO)
    said = words(page(trace, "t.json"))
    took = seconds_text(outcome.makespan_s)
    assert "A simulation on 4 ranks; ranks of each host: a (2), b&lt;i&gt; (2)." in said
    assert f"Run 1: {outcome.strategy}, 200 iterations" in said
    assert f"From the first computing to the last end {took}" in said
    assert (
        f"simulated under auto {took} {took} +0.0%" in said
        or f"simulated under auto {took} {took} -0.0%" in said
    )
    choice = replay_predictions(trace.loops[0].runs[0]).choice
    assert choice is not None
    for name, seconds in choice.predicted_s:
        which = f"the model of {name}{', which was chosen' if name == outcome.strategy else ''}"
        assert f"{which} {seconds_text(seconds)}" in said


def test_every_redistribution_is_there_with_its_gain() -> None:
    outcome, trace = simulated("GDDLB")
    moves = [window for window in replay_predictions(trace.loops[0].runs[0]).windows if window.moved]
    assert len(moves) == outcome.redistributions > 0
    said = words(page(trace, "t.json"))
    assert f"Redistributions: {len(moves)}" in said
    first = moves[0]
    assert first.predicted_s is not None
    assert first.realised_s is not None
    gains = f"{seconds_text(first.predicted_s)} {seconds_text(first.realised_s)}"
    assert f"{first.epoch} 0 to 3 {first.moved} {gains}" in said


def test_the_picture_has_a_line_for_each_rank_and_what_it_did() -> None:
    _, trace = simulated("GDDLB")
    found = measure_run(trace, trace.loops[0].runs[0])
    root = ElementTree.fromstring(timeline(found))
    space = "{http://www.w3.org/2000/svg}"
    labels = [each.text for each in root.iter(f"{space}text") if (each.text or "").startswith("rank")]
    assert labels == [f"rank {rank}" for rank in range(4)]
    rects = list(root.iter(f"{space}rect"))
    assert {rect.get("class") for rect in rects} >= {"compute", "move", "synchronize"}
    left, right = 110.0, 110.0 + 960.0
    assert all(left <= float(r.get("x", 0)) <= right for r in rects)
    assert all(float(r.get("x", 0)) + float(r.get("width", 0)) <= right + 1 for r in rects)
    arrows = [group for group in root.iter(f"{space}g") if group.get("class") == "arrow"]
    assert len(arrows) == len(found.arrows) > 0
    assert sum(line.get("class") == "mark" for line in root.iter(f"{space}line")) == sum(
        len(row.marks) for row in found.rows
    )


def test_the_page_needs_nothing_else() -> None:
    text = page(simulated("steal")[1], "t.json")
    assert "<script" not in text
    assert not re.findall(r'(?:src|href)="', text)
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}


def test_of_a_loop_that_ran_often_the_first_runs_and_the_last_are_shown() -> None:
    _, trace = simulated("GDDLB")
    [loop] = trace.loops
    many = replace(trace, loops=(replace(loop, runs=loop.runs * 20),), left_out=3)
    said = words(page(many, "t.json"))
    assert [int(number) for number in re.findall(r"Run (\d+):", said)] == [1, 2, 3, 4, 17, 18, 19, 20]
    assert f"{20 - MOST_RUNS} runs between these: not shown." in said
    assert "3 runs more: the trace had become too long." in said


def test_runs_without_anything_to_show() -> None:
    """A loop without iterations, and one that rank 0 did alone, whose strategy nothing can be said of."""
    nothing = RunTrace("local", 0, (RankTrace(1.0),))
    trace = Trace(
        "run", ("a",), (0.0,), simulated("none")[1].machine, (LoopTrace("1", "p.py:1", (nothing,)),)
    )
    assert "Run 1: local, 0 iterations" in words(page(trace, "t.json"))
    assert "A run on 1 rank; ranks of each host: a (1)." in words(page(replace(trace, loops=()), "t.json"))


def test_the_command_writes_the_page_beside_the_trace(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = simulated("GSS")[1]
    (tmp_path / "t.json").write_text(text_of(trace))
    assert main(["report", str(tmp_path / "t.json")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 't.html'}\n"
    text = (tmp_path / "t.html").read_text()
    assert text == page(trace, "t.json")
    assert main(["report", str(tmp_path / "t.json"), "-o", "-"]) == 0
    assert capsys.readouterr().out == text
    assert main(["report", str(tmp_path / "t.json"), "-o", str(tmp_path / "other.html")]) == 0
    assert (tmp_path / "other.html").read_text() == text


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
