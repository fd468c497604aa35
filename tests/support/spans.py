"""The positions of iteration sets one by one, as tests compare them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dlbrt.data.spans import Spans


def each_position(spans: Spans) -> Iterator[int]:
    """Every position, in execution order."""
    return chain.from_iterable(spans.runs)
