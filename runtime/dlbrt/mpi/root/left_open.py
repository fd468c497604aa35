"""What a loop may have stored behind the iteration that has failed: the contract leaves these values open.

`dlbc verify` asks for them, since sequentially they are as before the loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dlbrt.data.field import Field, positions
from dlbrt.data.spans import Spans
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class OpenRows:
    """Rows of an array along an axis, or elements of a list; ``rows`` is None where it may be any of them."""

    data: Any
    axis: int
    rows: list[int] | None


class LeftOpen:
    """Notes what failing loops leave open, from when it is ``wanted``."""

    def __init__(self) -> None:
        self.wanted = False
        self.noted: list[OpenRows] = []

    def note(self, fields: Sequence[Field], failed_at: int, n: int) -> None:
        """A loop of ``n`` iterations has failed at this position."""
        behind = Spans.of(range(failed_at + 1, n))
        for field in fields if self.wanted and behind else ():
            if field.spec.stores:
                rows = None if field.by_elements else positions(field.stored(behind))
                self.noted.append(OpenRows(field.data, field.axis if field.by_rows else 0, rows))


#: That of this process.
left_open = LeftOpen()
