"""What one object says of a group is what each member would find by going through the others."""

from __future__ import annotations

from itertools import pairwise

from dlbrt.balance.group_estimates import GroupEstimates
from dlbrt.data.spans import EMPTY, Spans
from dlbrt.data.work_table import UNIFORM, WorkTable
from hypothesis import given
from hypothesis import strategies as st

TICKS = WorkTable((0, 10, 40, 60), (0, 5, 95, 100))


@st.composite
def shares(draw: st.DrawFn) -> tuple[Spans, ...]:
    """Parts of 60 units in turn, some empty, in one run or two."""
    cuts = sorted(draw(st.lists(st.integers(0, 60), min_size=2, max_size=12)))
    runs = [range(low, high) for low, high in pairwise(cuts)]
    dealt = [Spans.of(run) for run in runs[::2]] + [Spans.of(run) for run in runs[1::2]]
    return tuple(dealt) if draw(st.booleans()) else (dealt[0].union(dealt[-1]), *dealt[1:-1], EMPTY)


@given(shares(), st.data(), st.sampled_from([UNIFORM, TICKS]))
def test_it_is_the_maximum_over_the_others(
    held: tuple[Spans, ...], data: st.DataObject, work_table: WorkTable
) -> None:
    speed = st.sampled_from([0.3, 1.0, 1.0, 7.0])
    speeds = tuple(data.draw(st.lists(speed, min_size=len(held), max_size=len(held))))
    standing = GroupEstimates(held, speeds, work_table)
    work = [work_table.of(share) for share in held]
    mean = 1.0 if work_table.uniform else sum(work) / max(1, sum(map(len, held))) or 1.0
    assert standing.over == (not any(held))
    assert standing.all_busy == all(held)
    for place in range(len(held)):
        others = [other for other in range(len(held)) if other != place]
        assert standing.due_s(place) == max((work[other] / speeds[other] for other in others), default=0.0)
        assert standing.most_held(place) == max((work[other] for other in others), default=0.0)
        if any(held):
            slow = [mean / speeds[other] for other in others if held[other]]
            assert standing.slowest_unit_s(place) == max(slow, default=0.0)
            assert standing.slowest_unit_s(-1) >= standing.slowest_unit_s(place)


def test_without_speeds_nobody_is_known_to_be_due() -> None:
    standing = GroupEstimates((Spans.of(range(4)), EMPTY), None, UNIFORM)
    assert standing.due_s(0) is None
    assert standing.slowest_unit_s(0) == 0.0
    assert (standing.most_held(0), standing.most_held(1)) == (0, 4)
