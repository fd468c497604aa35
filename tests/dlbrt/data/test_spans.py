"""Iteration sets keep every position once, in order, through splitting, joining and sending."""

from __future__ import annotations

import itertools
import math

import pytest
from dlbrt.data import layout
from dlbrt.data.spans import EMPTY, Spans, coverage_error, left_out
from hypothesis import given
from hypothesis import strategies as st

from tests.support.spans import each_position


@st.composite
def spans(draw: st.DrawFn, limit: int = 60) -> Spans:
    """Disjoint runs: strided pieces of residue classes, cut at random."""
    modulus = draw(st.integers(1, 5))
    runs = []
    for residue in draw(st.sets(st.integers(0, modulus - 1))):
        cuts = sorted(draw(st.sets(st.integers(0, limit), max_size=6)))
        for low, high in itertools.pairwise(cuts):
            if draw(st.booleans()):
                first = low + (residue - low) % modulus
                runs.append(range(first, high, modulus))
    return Spans.of(*runs)


def listed(some: Spans) -> list[int]:
    return list(each_position(some))


def test_neighbours_that_continue_one_another_are_one_run() -> None:
    assert Spans.of(range(5, 9), range(0), range(2, 5)).runs == (range(2, 9),)
    assert Spans.of(range(8, 20, 4), range(0, 8, 4)).runs == (range(0, 17, 4),)
    assert Spans.of(range(4, 5), range(8, 20, 4)).runs == (range(4, 17, 4),)
    assert Spans.of(range(0, 8, 4), range(8, 9)).runs == (range(0, 9, 4),)
    assert Spans.of(range(3, 4), range(4, 5)).runs == (range(3, 5),)
    assert Spans.of(range(3, 4), range(9, 10)).runs == (range(3, 4), range(9, 10))


def test_interleaved_runs_cut_in_two_are_joined_again() -> None:
    pieces = [range(r + low, r + low + 40, 4) for low in (40, 0) for r in (2, 0)]
    assert Spans.of(*pieces).runs == (range(0, 77, 4), range(2, 79, 4))


def test_a_run_with_a_step_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="step of 1 or more"):
        Spans.of(range(5, 0, -1))


def test_the_empty_set_is_false() -> None:
    assert not EMPTY
    assert len(EMPTY) == 0
    assert Spans.of(range(3, 3)) == EMPTY


@given(spans(), st.integers(0, 70), st.integers(0, 70))
def test_a_part_is_a_slice_of_the_positions_in_order(some: Spans, low: int, high: int) -> None:
    assert listed(some.part(low, high)) == listed(some)[low:high]
    assert listed(some.part(low)) == listed(some)[low:]
    assert all(run == Spans.of(run).runs[0] for run in some.part(low, high).runs)


@given(spans(), st.integers(-2, 70))
def test_splitting_keeps_every_position_in_order(some: Spans, count: int) -> None:
    everything = listed(some)
    head, rest = some.first(count)
    assert listed(head) + listed(rest) == everything
    assert len(head) == min(max(count, 0), len(everything))


@given(spans(), st.integers(-2, 70))
def test_queries_agree_with_the_list(some: Spans, position: int) -> None:
    everything = listed(some)
    assert len(some) == len(everything) == len(set(everything))
    assert bool(some) == bool(everything)
    assert (position in some) == (position in everything)
    assert listed(some.below(position)) == [p for p in everything if p < position]


@given(spans(), st.integers(0, 70))
def test_union_puts_parts_together_again(some: Spans, count: int) -> None:
    head, rest = some.first(count)
    whole = rest.union(head)
    assert sorted(listed(whole)) == sorted(listed(some))
    assert [run.start for run in whole.runs] == sorted(run.start for run in whole.runs)


@given(spans())
def test_what_is_encoded_is_decoded(some: Spans) -> None:
    assert Spans.decode(some.encode()) == some


def test_numbers_that_are_no_triples_are_refused() -> None:
    with pytest.raises(ValueError, match="triples"):
        Spans.decode((1, 2))


def enumerated_fault(n: int, parts: list[Spans]) -> str | None:
    times = [0] * n
    for part in parts:
        for position in each_position(part):
            times[position] += 1
    bad = [position for position in range(n) if times[position] != 1]
    if not bad:
        return None
    how = f"{times[bad[0]]} times" if times[bad[0]] else "by no rank"
    lost, repeated = times.count(0), sum(count > 1 for count in times)
    return f"iteration {bad[0]} was executed {how}; of {n}, {lost} were lost and {repeated} repeated"


@given(st.lists(spans(), max_size=5))
def test_coverage_agrees_with_counting(parts: list[Spans]) -> None:
    n = 60
    assert coverage_error(n, parts) == enumerated_fault(n, parts)


@given(st.lists(st.tuples(st.integers(0, 20_000), st.integers(0, 9000), st.integers(1, 7)), max_size=6))
def test_coverage_agrees_with_counting_over_long_segments(runs: list[tuple[int, int, int]]) -> None:
    n = 20_000
    parts = [Spans.of(range(start, min(n, start + extent), step)) for start, extent, step in runs]
    assert coverage_error(n, parts) == enumerated_fault(n, parts)


@given(st.integers(0, 300), st.integers(1, 9), st.data())
def test_one_position_lost_is_found(n: int, ranks: int, data: st.DataObject) -> None:
    deal = data.draw(st.sampled_from([layout.block, layout.cyclic]))
    parts = list(deal(n, ranks))
    assert coverage_error(n, parts) is None
    if n:
        lost = data.draw(st.integers(0, n - 1))
        parts = [Spans.of(*(range(p, p + 1) for p in each_position(part) if p != lost)) for part in parts]
        assert coverage_error(n, parts) == (
            f"iteration {lost} was executed by no rank; of {n}, 1 were lost and 0 repeated"
        )


def test_ten_million_dealt_iterations_are_checked_without_enumerating_them() -> None:
    n = 10_000_000
    parts = list(layout.cyclic(n, 16))
    assert coverage_error(n, parts) is None
    kept, tail = parts[3].first(len(parts[3]) - 1000)
    parts[3] = kept
    assert coverage_error(n, parts) == (
        f"iteration {tail.runs[0].start} was executed by no rank; of {n}, 1000 were lost and 0 repeated"
    )
    parts[9] = parts[9].union(tail)
    parts[0] = parts[0].union(Spans.of(range(7, 8)))
    assert coverage_error(n, parts) == (
        f"iteration 7 was executed 2 times; of {n}, 0 were lost and 1 repeated"
    )


def test_positions_outside_the_loop_are_named() -> None:
    assert coverage_error(3, [Spans.of(range(4))]) == "iteration 3 was executed, but the loop has 3 (0 to 2)"
    assert coverage_error(0, [EMPTY]) is None
    assert coverage_error(1, []) is not None


def test_a_pattern_too_long_to_repeat_is_still_counted() -> None:
    steps = (997, 991, 983)
    n = 100_000
    parts = [Spans.of(range(0, n, step)) for step in steps]
    times = sum(len(part) for part in parts)
    both = sum(math.ceil(n / math.lcm(*pair)) for pair in itertools.combinations(steps, 2))
    assert coverage_error(n, parts) == (
        f"iteration 0 was executed 3 times; of {n}, {n - times + both - 1} were lost and {both - 2} repeated"
    )


@given(
    st.permutations(range(24)),
    st.integers(1, 12),
    st.integers(0, 11),
    st.sampled_from([1, 3]),
)
def test_what_is_kept_stays_first_whatever_joins(places: list[int], cut: int, kept: int, step: int) -> None:
    """Also where the first run does not come first by position, as after a rank has kept some before."""
    own = Spans(tuple(range(p * step, p * step + 1) for p in places[:cut]))
    runs = [range(p * step, p * step + 1) for p in places[cut:]]
    joined = list(each_position(own.joined(runs, kept)))
    assert joined[: min(kept, cut)] == list(each_position(own))[:kept]
    assert sorted(joined) == [p * step for p in range(24)]


def test_a_run_kept_before_a_lower_one_stays_first() -> None:
    own = Spans((range(56, 57), range(51, 52), range(62, 63)))
    assert own.joined([range(57, 58)], 1).runs == (range(56, 57), range(51, 52), range(57, 58), range(62, 63))


@pytest.mark.parametrize(
    ("n", "parts", "expected"),
    [
        (6, [[range(6)]], []),
        (6, [[range(1, 3)], [range(5, 9)]], [0, 3, 4]),
        (7, [[range(0, 7, 3)], [range(1, 7, 3)]], [2, 5]),
        (3, [], [0, 1, 2]),
        (0, [], []),
    ],
)
def test_what_is_left_out(n: int, parts: list[list[range]], expected: list[int]) -> None:
    found = left_out(n, [Spans.of(*runs) for runs in parts])
    assert [position for run in found.runs for position in run] == expected
