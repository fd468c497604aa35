"""The laws of balancing hold in random schedules, and a policy that breaks one is found (`tests.fuzz`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pytest
from dlbrt.balance.member import GroupMember
from dlbrt.balance.peer import TerminationDetectingPeer
from dlbrt.balance.strategies import AUTO, names
from dlbrt.data.spans import Spans, left_out

from tests.fuzz import schedule_deaths
from tests.fuzz.schedule_network import Rows
from tests.fuzz.schedules import Scenario, failure_of, played, scenario, shrunk
from tests.support.tier import is_full

CHUNK = 350
SEEDS = range(60 * CHUNK if is_full() else CHUNK)


@pytest.mark.parametrize("first", SEEDS[::CHUNK])
def test_the_laws_hold_in_every_schedule(first: int) -> None:
    failures = {seed: failure_of(scenario(seed)) for seed in range(first, first + CHUNK)}
    broken = {seed: text for seed, text in failures.items() if text is not None}
    assert not broken, "; python -m tests.fuzz.schedules --seeds SEED SEED+1 shows the schedule"


def test_seeds_are_of_all_kinds() -> None:
    some = [scenario(seed) for seed in range(2000)]
    assert {each.strategy for each in some} == {*names(), AUTO}
    assert {choice for each in some for choice in each.choices} >= {"steal", "diffusion", "LCDLB", "none"}
    assert {each.ranks for each in some} >= {2, 3, 8, 12}
    assert {each.rows for each in some} == set(Rows)
    over = {each.choices[-1] for each in some if each.strategy == "steal" and each.choices}
    assert over >= {"diffusion", "GCDLB", "LDDLB", "none"}
    counts = Counter((bool(each.fails_at), bool(each.interrupts), each.folded) for each in some)
    assert len(counts) == 8
    assert {len(each.deaths) for each in some} >= {0, 1, 2, 5, 11}


def test_a_seed_is_the_same_schedule_each_time() -> None:
    for seed in (1, 7, 40):
        first, second = (played(scenario(seed), traced=True) for _ in range(2))
        assert first == second
        assert first.trace


def test_units_done_while_profiles_travel_and_done_again_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    right = GroupMember._open_window
    monkeypatch.setattr(GroupMember, "_open_window", lambda member, now, *_: right(member, now))
    found = [text for seed in range(60) if (text := failure_of(scenario(seed))) is not None]
    assert any("may run" in text and "again" in text for text in found)


def test_an_end_that_is_told_too_early_is_found_and_made_small(monkeypatch: pytest.MonkeyPatch) -> None:
    right = TerminationDetectingPeer._add

    def wrong(peer: TerminationDetectingPeer, rank: int, units: int) -> None:
        right(peer, rank, units + 1)

    monkeypatch.setattr(TerminationDetectingPeer, "_add", wrong)
    some = [Scenario(seed, 6, 40, "steal", dealt="one", rows=Rows.MOVED) for seed in range(40)]
    found = [each for each in some if "are left with it" in (failure_of(each) or "")]
    assert found
    small = shrunk(found[0])
    assert failure_of(small) is not None
    assert small.units < 10


@pytest.mark.parametrize("wrong", ["lost", "done twice"])
def test_what_a_death_loses_or_has_done_twice_is_found(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    def left(n: int, parts: Sequence[Spans]) -> Spans:
        right = left_out(n, parts)
        return right.first(len(right) - 1)[0] if wrong == "lost" else left_out(n, ())

    monkeypatch.setattr(schedule_deaths, "left_out", left)
    found = [failure_of(scenario(seed)) or "" for seed in range(200)]
    assert any(f"are {wrong} in all runs" in text for text in found)
