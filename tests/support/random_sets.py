"""Sets with any history: grown, emptied, copied, their elements' hashes colliding or not."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any


def random_set(seed: int) -> set[Any]:
    """A set of numbers or of tuples, made by up to a dozen operations."""
    draw = random.Random(seed)
    element: Callable[[], Any] = draw.choice(
        [
            lambda: draw.randrange(200),
            lambda: draw.randrange(-(2**70), 2**70),
            lambda: draw.randrange(60) * 1024,
            lambda: (draw.randrange(30), float(draw.randrange(30))),
        ]
    )

    def some(count: int) -> set[Any]:
        return {element() for _ in range(count)}

    made: set[Any] = set()
    for _ in range(draw.randrange(1, 12)):
        count = draw.randrange(1, 60 if draw.random() < 0.8 else 400)
        match draw.randrange(8):
            case 0:
                made.update(some(count))
            case 1:
                made.difference_update(each for each in [*made][:count] if draw.random() < 0.7)
            case 2:
                for _ in range(min(count, len(made))):
                    made.pop()
            case 3:
                made = set(made)
            case 4:
                made = made | some(count)
            case 5:
                made &= some(4 * count)
            case 6:
                made -= some(count)
            case _:
                for _ in range(count):
                    made.add(element())
    return made


def history(held: set[Any]) -> list[Any]:
    """What a set shows of its table: its order now, and as it is popped from and grows."""
    shown: list[Any] = [[*held]]
    grown = 0
    for number in range(40):
        if held and number % 3 == 0:
            shown.append(held.pop())
        for _ in range(number):
            held.add(grown * 1021)
            grown += 1
        shown.append([*held])
    return shown
