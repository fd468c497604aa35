"""`auto` against no balancing, on points of the grid of `tests.bench.strategies_grid`, in virtual time.

The benchmark has the figures of the whole grid. Asserted is what holds wherever ranks have enough iterations,
however short the loop and dear the messages, whether the work is known or not: `auto` never takes more than
1.05 times as long as no balancing.
"""

from __future__ import annotations

import pytest
from dlbrt.balance.strategies import AUTO, STATIC

from tests.bench.strategies_grid import Point, takes
from tests.support.tier import part

#: Fewer iterations on each rank are no amount from which speeds can be told.
ENOUGH = 17

#: Where rows are dear to move: 4 ranks with rows of 80 kB, 16 with 8 kB, 8 with rows of 668 kB.
DEAR = (
    Point(4, 2500, 1e-4, 8e4, 5e-5, 1.25e8, "random", 0.5, False, "equal", 7),
    Point(16, 2500, 1e-4, 8e3, 5e-5, 1.25e8, "random", 0.5, False, "equal", 7),
    Point(8, 5000, 1.04e-4, 6.68e5, 4.3e-6, 2.06e7, "random", 1.12, False, "known", 2),
)

#: Where thieves with light iterations looked fast and were given rows of 0.1 s each.
LIGHT = Point.drawn(371)

POINTS = [point for point in map(Point.drawn, range(400)) if point.each >= ENOUGH]


@pytest.mark.parametrize("point", [*DEAR, LIGHT, *part(POINTS, 8)], ids=str)
def test_a_choice_is_no_worse_than_no_balancing(point: Point) -> None:
    machine, loop = point.machine(), point.loop()
    assert takes(machine, loop, AUTO)[0] <= 1.05 * takes(machine, loop, STATIC)[0]


def test_the_same_point_is_played_alike() -> None:
    point = DEAR[1]
    assert takes(point.machine(), point.loop(), AUTO) == takes(point.machine(), point.loop(), AUTO)
