"""What is kept of a rank's run: every word that could have had an effect, and bounded chunks."""

from __future__ import annotations

import pytest
from dlbrt.balance.agent import InitialState
from dlbrt.balance.events import Event, Exhausted, Received, TimeElapsed, Worked
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import StealRefused
from dlbrt.balance.setup import AgentSetup
from dlbrt.data.layout import block
from dlbrt.data.work_table import Units
from dlbrt.observe import recorder as recorder_module
from dlbrt.observe.recorder import Recorder, joined
from dlbrt.observe.trace import Chunk, TraceEntry, Transferred
from dlbrt.parameters import Parameters
from hypothesis import given
from hypothesis import strategies as st

SETUP = AgentSetup("steal", InitialState(block(40, 2), BalancingContext(Units(0, 40), Parameters(), 1e-2)))


def test_everything_is_kept_but_waiting_that_has_no_effect() -> None:
    """A thief that was refused by all waits for its time; the look around at which that comes is kept."""
    agent, _ = SETUP.agent(1, 0.0)
    recorder = Recorder(0.0)
    recorder.begin(SETUP, 5.0)
    events: list[Event] = [Worked(0.5, 20, 0.5), Exhausted(0.5), TimeElapsed(0.6)]
    events += [Received(0.7, 0, StealRefused()), TimeElapsed(0.705)]
    for event in events:
        recorder.handle(agent, event)
    assert agent.timer_at is not None
    late = TimeElapsed(agent.timer_at + 1)
    actions = recorder.handle(agent, late)
    found = recorder.trace()
    assert found.began == 5.0
    assert [entry.event for entry in found.entries if not isinstance(entry.event, TimeElapsed)] == [
        event for event in events if not isinstance(event, TimeElapsed)
    ]
    assert found.entries[-1] == TraceEntry(late, actions)
    assert TimeElapsed(0.6) not in [entry.event for entry in found.entries]
    again, _ = SETUP.agent(1, found.began)
    assert [again.handle(e.event) for e in found.entries] == [e.actions for e in found.entries]  # type: ignore[arg-type]


def test_what_moving_took_is_told_and_kept() -> None:
    agent, _ = AgentSetup("GDDLB", SETUP.start).agent(1, 0.0)
    recorder = Recorder(0.0)
    recorder.transferred(agent, 3.0, 0.5, 80)
    assert recorder.trace().entries == (TraceEntry(Transferred(3.0, 0.5, 80)),)
    agent.handle(Worked(4.0, 20, 0.1))
    [exchange] = agent.handle(Exhausted(4.0))
    assert exchange.profile.byte_s == 0.5 / 80  # type: ignore[union-attr]


def test_entries_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder_module, "MAX_ENTRIES", 3)
    recorder = Recorder(0.0)
    for k in range(5):
        recorder.note(Exhausted(float(k)))
    found = recorder.trace()
    assert ([entry.event.now for entry in found.entries], found.lost_entries) == ([0.0, 1.0, 2.0], 2)


def recorded(parts: list[range], most: int, monkeypatch: pytest.MonkeyPatch) -> tuple[list[Chunk], int]:
    monkeypatch.setattr(recorder_module, "MAX_CHUNKS", most)
    recorder = Recorder(0.0)
    for k, part in enumerate(parts):
        recorder.computed(part, float(k), 2.0 * len(part), 1.0 * len(part))
    found = recorder.trace()
    return list(found.chunks), found.lost_chunks


@pytest.mark.parametrize("step", [1, 4])
def test_chunks_are_put_together_the_longer_it_lasts(step: int, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = [range(k * 3 * step, (k + 1) * 3 * step, step) for k in range(1000)]
    found, lost = recorded(parts, 16, monkeypatch)
    assert lost == 0
    assert 16 <= len(found) <= 32
    assert [position for chunk in found for position in chunk.positions] == list(range(0, 3000 * step, step))
    assert all(chunk.seconds == 2 * chunk.computing_s == 2 * len(chunk.positions) for chunk in found)


def test_the_two_sides_of_pairs_are_put_together_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    halves = [[range(2 * k, 2 * k + 2), range(2000 - 2 * k - 2, 2000 - 2 * k)] for k in range(300)]
    found, lost = recorded([part for pair in halves for part in pair], 16, monkeypatch)
    assert lost == 0
    assert len(found) <= 34
    assert sorted(position for chunk in found for position in chunk.positions) == [
        *range(600),
        *range(1400, 2000),
    ]


def test_chunks_that_do_not_follow_one_another_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    found, lost = recorded([range(k * k * 7, k * k * 7 + 2) for k in range(100)], 16, monkeypatch)
    assert (len(found), lost) == (32, 68)


def test_nothing_done_is_nothing() -> None:
    recorder = Recorder(0.0)
    recorder.computed(range(5, 5), 0.0, 0.0, 0.0)
    assert recorder.trace().chunks == ()


@given(st.integers(0, 9), st.integers(1, 5), st.integers(1, 4), st.integers(1, 5))
def test_two_ranges_that_make_one_are_joined(start: int, first: int, step: int, second: int) -> None:
    whole = range(start, start + (first + second) * step, step)
    assert list(joined(whole[:first], whole[first:]) or ()) == list(whole)
    assert list(joined(whole[first:], whole[:first]) or ()) == list(whole)


def test_others_are_not() -> None:
    assert joined(range(4), range(5, 8)) is None
    assert joined(range(0, 8, 2), range(8, 11)) is None
    assert joined(range(0, 8, 2), range(9, 13, 2)) is None
