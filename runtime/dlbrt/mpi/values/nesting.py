"""Objects that are nested more deeply than a pickler can follow."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

#: A program may allow deeper recursion, for functions of its own. Picklers recurse in C, and Python 3.11
#: has no other limit for that: 50 000 levels overflow a stack of 8 MiB.
_MOST_LEVELS = 20_000


def bounded(dump: Callable[[Any], None], value: Any) -> None:
    """What a pickler's ``dump`` does with a value; RecursionError before the stack of C is full."""
    allowed = sys.getrecursionlimit()
    if allowed <= _MOST_LEVELS:
        dump(value)
        return
    sys.setrecursionlimit(_MOST_LEVELS)
    try:
        dump(value)
    finally:
        sys.setrecursionlimit(allowed)
