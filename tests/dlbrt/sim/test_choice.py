"""`auto` against no balancing and the best strategy in virtual time: points of `tests.bench.strategies_grid`.

The benchmark has the figures of the whole grid. Asserted is what holds wherever ranks have enough iterations,
however short the loop and dear the messages, whether the work is known or not: `auto` never takes more than
1.05 times as long as no balancing, nor more than 1.25 times as long as the best strategy in hindsight.
"""

from __future__ import annotations

import pytest
from dlbrt.balance.strategies import AUTO, STATIC

from tests.bench.strategies_grid import OPEN, Point, takes
from tests.support.tier import part

#: Fewer iterations on each rank are no amount from which speeds can be told.
ENOUGH = 17

#: Where rows are dear to move: 4 ranks with rows of 80 kB, 16 with 8 kB, 8 with rows of 668 kB.
DEAR = (
    Point(4, 2500, 1e-4, 8e4, 5e-5, 1.25e8, "random", 0.5, False, "equal", 7),
    Point(16, 2500, 1e-4, 8e3, 5e-5, 1.25e8, "random", 0.5, False, "equal", 7),
    Point(8, 5000, 1.04e-4, 6.68e5, 4.3e-6, 2.06e7, "random", 1.12, False, "known", 2),
)

#: Where a first synchronization was not worth its price, and where light iterations looked like speed.
SEEN = (332, 144, 346, 221, 102, 38, 371, 136, 379)

POINTS = [point for point in map(Point.drawn, range(400)) if point.each >= ENOUGH]


@pytest.mark.parametrize("point", [*DEAR, *map(Point.drawn, SEEN), *part(POINTS, 8)], ids=str)
def test_a_choice_is_no_worse_than_no_balancing(point: Point) -> None:
    machine, loop = point.machine(), point.loop()
    assert takes(machine, loop, AUTO)[0] <= 1.05 * takes(machine, loop, STATIC)[0]


#: All strategies are played at every other point; `tests/bench/strategies_grid.py` plays them at any number.
@pytest.mark.parametrize("point", part(POINTS[::2], 16), ids=str)
def test_a_choice_is_not_far_from_the_best_strategy(point: Point) -> None:
    machine, loop = point.machine(), point.loop()
    best_s = min(takes(machine, loop, name)[0] for name in OPEN)
    assert takes(machine, loop, AUTO)[0] <= 1.25 * best_s


def test_the_same_point_is_played_alike() -> None:
    point = DEAR[1]
    assert takes(point.machine(), point.loop(), AUTO) == takes(point.machine(), point.loop(), AUTO)
