"""The file of a trace: bounded, whole, and refused in one sentence where it is damaged or another kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from dlbrt.balance.actions import ExchangeProfiles, Move, Resume, Send, SendWork
from dlbrt.balance.agent import InitialState
from dlbrt.balance.events import Exhausted, Interrupted, ProfilesExchanged, TimeElapsed, Worked, WorkReceived
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import Profile, StealRequest
from dlbrt.balance.setup import AgentSetup
from dlbrt.data.layout import block
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.data.work_table import Units
from dlbrt.emulation import LoadSpec
from dlbrt.observe.trace import (
    Chunk,
    LoopTrace,
    RankTrace,
    RunTrace,
    Trace,
    TracedMachine,
    TracedProgram,
    TraceEntry,
    TraceError,
    Transferred,
    parse,
    read,
)
from dlbrt.observe.trace_events import Slice, slices
from dlbrt.observe.trace_writer import TraceWriter, text_of
from dlbrt.parameters import Parameters

MOVED = Move((Transfer(0, 1, Spans.of(range(40, 45))),))
PROFILES = Profile(30, 1.0), Profile(50, 0.5)

#: Two ranks; the clock of the second is 100 s ahead.
GIVER = RankTrace(
    10.0,
    (
        TraceEntry(Worked(11.0, 30, 1.0, [(10, 0.25)])),
        TraceEntry(Interrupted(11.0, 0), (ExchangeProfiles(0, PROFILES[0], (0, 1)),)),
        TraceEntry(ProfilesExchanged(11.5, PROFILES), (MOVED, Resume())),
        TraceEntry(Transferred(11.75, 0.25, 80)),
        TraceEntry(Worked(12.0, 5, 0.25)),
    ),
    (Chunk(range(30), 10.0, 1.0, 0.5), Chunk(range(30, 40, 2), 11.75, 0.25, 0.25)),
)
TAKER = RankTrace(
    110.0,
    (
        TraceEntry(Worked(110.5, 50, 0.5)),
        TraceEntry(Exhausted(110.5), (ExchangeProfiles(0, PROFILES[1], (0, 1)),)),
        TraceEntry(ProfilesExchanged(111.25, PROFILES), (MOVED, Resume())),
        TraceEntry(Transferred(111.75, 0.5, 0)),
    ),
    lost_entries=3,
    lost_chunks=1,
)
SETUP = AgentSetup("GDDLB", InitialState(block(100, 2), BalancingContext(Units(0, 100), Parameters(), 1e-4)))
SHARED = RunTrace("GDDLB", 100, (GIVER, TAKER), SETUP)
ALONE = RunTrace("local", 3, (RankTrace(9.0, (TraceEntry(Worked(9.5, 3, 0.5)),)), RankTrace(0.0)))
TRACE = Trace(
    "run",
    ("a", "b"),
    (0.0, 100.0),
    TracedMachine(LoadSpec(levels=(0, 3)), (1.0, 2.0)),
    (LoopTrace("1", "prog.py:3", (ALONE, SHARED)), LoopTrace("2", "prog.py:9", (ALONE,))),
)


def test_a_trace_comes_back_from_its_file(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    path.write_text(text_of(TRACE, 8.0))
    assert read(path) == TRACE


def test_what_is_known_of_the_program_comes_back_too() -> None:
    about = TracedProgram(
        "dlbc run -n 2 a.py", "2026-01-02T03:04:05+00:00", 8.0, 0.5, 9.0, 0.125, {"ranks": 2}
    )
    run = replace(SHARED, started=9.5, elapsed_s=3.0, loading_s=0.25, reason="why", interpreted="what")
    trace = replace(TRACE, loops=(LoopTrace("1", "prog.py:3", (run, SHARED)),), program=about)
    assert parse(text_of(trace, 8.0), "t.json") == trace


@pytest.mark.parametrize("found", [[], {"command": ""}, {"statistics": []}, {"statistics": {}}, 3])
def test_a_program_that_is_none_is_refused(found: object) -> None:
    document = json.loads(text_of(TRACE))
    document["dlb"]["program"] = found
    with pytest.raises(TraceError):
        parse(json.dumps(document), "t.json")


def events() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(text_of(replace(TRACE, loops=TRACE.loops[:1]), 8.0))[
        "traceEvents"
    ]
    return [event for event in found if event["ph"] != "M"]


def test_times_in_the_picture_are_microseconds_on_the_clock_of_rank_0() -> None:
    shown = [(e["name"], e["tid"], e["ts"], e["dur"]) for e in events() if e["ph"] == "X"]
    assert shown == [
        ("prog.py:3 (local)", 0, 1e6, 0.5e6),
        ("compute", 0, 1e6, 0.5e6),
        ("prog.py:3 (GDDLB)", 0, 2e6, 2e6),
        ("compute", 0, 2e6, 1e6),
        ("synchronize", 0, 3e6, 0.5e6),
        ("move", 0, 3.5e6, 0.25e6),
        ("compute", 0, 3.75e6, 0.25e6),
        ("prog.py:3 (GDDLB)", 1, 2e6, 1.75e6),
        ("compute", 1, 2e6, 0.5e6),
        ("idle", 1, 2.5e6, 0.75e6),
        ("move", 1, 3.25e6, 0.5e6),
    ]


def test_a_rank_that_had_no_part_in_a_run_is_not_shown_in_it() -> None:
    assert {(e["tid"]) for e in events() if e["name"] == "prog.py:3 (local)"} == {0}


def test_what_a_rank_was_told_is_an_instant_and_work_that_moves_an_arrow() -> None:
    instants = [(e["name"], e["tid"], e["args"]) for e in events() if e["ph"] == "i"]
    asked = {"asks": ["Move", "Resume"]}
    assert instants == [
        ("Interrupted", 0, {"epoch": 0, "asks": ["ExchangeProfiles"]}),
        ("ProfilesExchanged", 0, asked),
        ("ProfilesExchanged", 1, asked),
    ]
    arrows = [(e["ph"], e["tid"], e["ts"], e["id"], e["args"]) for e in events() if e["ph"] in "sf"]
    assert arrows == [("s", 0, 3.5e6, 0, {"units": 5}), ("f", 1, 3.75e6 - 1e-3, 0, {"units": 5})]


def test_work_that_is_given_is_an_arrow_too() -> None:
    units = Spans.of(range(3))
    thief = RankTrace(
        0.0,
        (
            TraceEntry(Exhausted(1.0), (Send((1,), StealRequest()),)),
            TraceEntry(WorkReceived(3.0, 1, units), (Resume(),)),
        ),
    )
    victim = RankTrace(0.0, (TraceEntry(Worked(2.0, 5, 2.0), (SendWork(0, units),)),))
    run = RunTrace("steal", 9, (thief, victim), SETUP)
    trace = replace(TRACE, offsets_s=(0.0, 0.0), loops=(LoopTrace("1", "p", (run,)),))
    found = json.loads(text_of(trace))["traceEvents"]
    assert [(e["ph"], e["tid"], e["ts"]) for e in found if e["ph"] in "sf"] == [("s", 1, 2e6), ("f", 0, 3e6)]


def test_chunks_that_follow_at_once_are_one_slice_and_short_waits_none() -> None:
    entries = [TraceEntry(Worked(k * 1.00005 + 1, 2, 1.0)) for k in range(3)]
    assert slices(RankTrace(0.0, tuple(entries))) == [Slice("compute", 0.0, 3.0001, 6)]


def test_a_rank_computes_from_when_its_data_is_there_till_it_says_so() -> None:
    """Emulated waiting takes a little longer than it should; what comes after other news is another chunk."""
    entries = (
        TraceEntry(Worked(3.0, 4, 1.5)),
        TraceEntry(Interrupted(4.0, 0)),
        TraceEntry(Worked(6.0, 2, 1.0)),
    )
    chunks = tuple(
        Chunk(range(2 * k, 2 * k + 2), began, 0.75, 0.1) for k, began in enumerate((1.0, 2.0, 5.0))
    )
    assert slices(RankTrace(0.5, entries, chunks)) == [
        Slice("scatter", 0.5, 1.0),
        Slice("compute", 1.0, 3.0, 4),
        Slice("synchronize", 3.0, 5.0),
        Slice("compute", 5.0, 6.0, 2),
    ]


def test_what_emulated_load_still_owes_does_not_overlap_what_came_before() -> None:
    found = slices(
        RankTrace(
            0.0,
            (TraceEntry(Worked(1.0, 1, 1.0)), TraceEntry(Worked(1.5, 1, 3.0)), TraceEntry(TimeElapsed(1.5))),
        )
    )
    assert found == [Slice("compute", 0.0, 1.5, 2)]


def test_a_trace_is_bounded_and_says_what_it_leaves_out() -> None:
    tracing = TraceWriter(("a", "b"), 8.0, TRACE.machine, most_bytes=100)
    for _ in range(4):
        tracing.add("1", "prog.py:3", ALONE)
    found = parse(tracing.text(), "t.json")
    assert [len(loop.runs) for loop in found.loops] == [1]
    assert found.left_out == 3


def test_the_same_gives_the_same_bytes() -> None:
    assert text_of(TRACE, 8.0) == text_of(parse(text_of(TRACE, 8.0), ""), 8.0)


def test_a_trace_is_written_wholly_or_not_at_all(tmp_path: Path) -> None:
    tracing = TraceWriter(("a",), 0.0, TracedMachine())
    tracing.write(tmp_path / "t.json")
    assert read(tmp_path / "t.json").loops == ()
    with pytest.raises(OSError, match="missing"):
        tracing.write(tmp_path / "missing" / "t.json")
    assert [path.name for path in tmp_path.iterdir()] == ["t.json"]


def changed(**members: Any) -> str:
    document = json.loads(text_of(TRACE, 8.0))
    for name, value in members.items():
        if value is None:
            del document["dlb"][name]
        else:
            document["dlb"][name] = value
    return json.dumps(document)


WRONG = {
    "": "found no JSON.*cut short",
    "[]": "without the key dlb",
    "3": "without the key dlb",
    '{"traceEvents": []}': "without the key dlb",
    '{"dlb": []}': "without the key dlb",
    '{"dlb": {}}': "expected a trace of format version 2, found None: record the run again",
    "[" * 100_000: "nested too deep|no JSON",
    changed(version=1): "expected a trace of format version 2, found 1: record the run again",
    changed(version="1"): "found '1'",
    changed(kind="dream"): "expected one of run, simulation, found 'dream'",
    changed(host_names=["a"]): "a host and an offset for each of 2 ranks",
    changed(host_names="ab"): "expected an array",
    changed(ranks=-1): "for each of -1 ranks",
    changed(ranks="x"): "x",
    changed(machine=3): "expected a TracedMachine, found 3",
    changed(machine={"float": "inf"}): "expected a TracedMachine",
    changed(modules={}): "without a module",
    changed(modules=[]): "expected an object",
    changed(shared=[{"same": 0}]): "number of one of 0 values",
    changed(left_out={"runs": -1}): "0 or more, found -1",
    changed(loops=[{"id": "1"}]): "none of its keys 'source'",
    changed(loops=[3]): "not subscriptable",
    changed(
        loops=[{"id": "1", "source": "p", "runs": [{"per_rank": [], "setup": {"AgentSetup": {}}}]}]
    ): "fields differ",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:30] + text[-30:])
def test_what_is_no_trace_is_told_in_one_sentence(text: str) -> None:
    with pytest.raises(TraceError, match=WRONG[text]) as caught:
        parse(text, "t.json")
    assert str(caught.value).startswith("t.json: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["shared", "modules", "loops", "ranks", "host_names", "kind", "left_out"])
def test_a_key_that_is_missing_is_named(name: str) -> None:
    with pytest.raises(TraceError, match=f"none of its keys '{name}'"):
        parse(changed(**{name: None}), "t.json")


@pytest.mark.parametrize("part", [0.1, 0.5, 0.9, 0.999])
def test_a_trace_cut_short_is_told(part: float) -> None:
    text = text_of(TRACE, 8.0)
    with pytest.raises(TraceError, match=r"t.json: expected a trace, found no JSON \(line"):
        parse(text[: int(part * len(text))], "t.json")


def test_a_run_of_other_ranks_is_told() -> None:
    document = json.loads(text_of(TRACE, 8.0))
    del document["dlb"]["loops"][0]["runs"][1]["per_rank"][1]
    with pytest.raises(TraceError, match="expected a run of 2 ranks, found 1"):
        parse(json.dumps(document), "t.json")


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"t\.json: cannot be read \(No such file"):
        read(tmp_path / "t.json")
    with pytest.raises(TraceError, match="cannot be read"):
        read(tmp_path)
    (tmp_path / "t.json").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TraceError, match="no text"):
        read(tmp_path / "t.json")
