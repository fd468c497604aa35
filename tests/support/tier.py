"""The two tiers of the suite: by default a part of all repetition runs, with ``pytest --full`` all of it.

What is left out is only more of the same: further settings, sizes and examples of what runs. Which part runs
is the same each time.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

__all__ = ["is_full", "pairs", "part", "run_full"]

_T = TypeVar("_T")
_U = TypeVar("_U")
_full = False


def run_full(full: bool) -> None:
    """Sets the tier, before tests are imported."""
    global _full
    _full = full


def is_full() -> bool:
    """Whether everything runs."""
    return _full


def part(everything: Iterable[_T], one_in: int) -> list[_T]:
    """Of these the default tier's: one in so many, by a hash of what each shows as; never none."""
    cases = list(everything)
    shown = [case.name if isinstance(case, Path) else repr(case) for case in cases]
    chosen = [
        case for case, text in zip(cases, shown, strict=True) if zlib.crc32(text.encode()) % one_in == 0
    ]
    return cases if _full else chosen or cases[:1]


def pairs(some: Iterable[_T], others: Iterable[_U]) -> list[tuple[_T, _U]]:
    """Each of some with each of the others; in the default tier all occur, the shorter of both in turn."""
    left, right = list(some), list(others)
    if _full:
        return [(one, other) for one in left for other in right]
    count = max(len(left), len(right))
    return [(left[k % len(left)], right[k % len(right)]) for k in range(count)]
