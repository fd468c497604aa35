"""What is left of a loop after a death, and how it is dealt and balanced."""

from __future__ import annotations

import pytest
from dlbrt.balance.restart import deal_of_rest, strategy_of_rest
from dlbrt.balance.strategies import AUTO, names, strategy
from dlbrt.data.spans import Spans, coverage_error, left_out


@pytest.mark.parametrize("ranks", [1, 2, 5, 40])
@pytest.mark.parametrize("done", [[], [range(3)], [range(0, 30, 2)], [range(29, 30), range(5, 12)]])
def test_the_living_get_all_that_is_left_in_equal_blocks(done: list[range], ranks: int) -> None:
    by_root = Spans.of(*done)
    left = left_out(30, [by_root])
    deal = deal_of_rest(left, 30, ranks)
    assert coverage_error(30, [by_root, *deal.shares]) is None
    sizes = [len(share) for share in deal.shares]
    assert (len(sizes), max(sizes) - min(sizes) <= 1) == (ranks, True)
    assert all(run.stop <= deal.units.stop and run.start >= deal.units.first for run in left.runs)


@pytest.mark.parametrize("name", [*names(), AUTO])
def test_the_rest_is_balanced_unless_nothing_was_to_move(name: str) -> None:
    rest = strategy(strategy_of_rest(name))
    assert (rest.name == "none") == (name == "none")
    assert not hasattr(rest, "first_deal")  # its shares are those of the rest
