"""A table of a report, before it is a page or text."""

from __future__ import annotations

from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under heads; the first column has names, the others numbers."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
