"""Pieces of a log: entries in the order of execution, with the positions that they belong to.

Within a segment positions ascend, so a segment is what one rank did on its way up; a rank that is given
lower positions later begins another. Segments are bounded in length, so that they can be sent, held and
applied one after the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import IO, Any

import numpy as np

from dlbrt.records import dataclass

__all__ = ["Extent", "NumericEntries", "Segment", "SegmentStore", "compact"]

PositionArray = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, slots=True)
class NumericEntries:
    """Entries that all are (``code``, number), numbers as an array of doubles."""

    code: int
    numbers: np.ndarray[Any, Any]

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> NumericEntries:
        return NumericEntries(self.code, self.numbers[part])

    def listed(self) -> list[tuple[Any, ...]]:
        """The entries one by one."""
        return [(self.code, number) for number in self.numbers.tolist()]


@dataclass(frozen=True, slots=True)
class Segment:
    """``entries[starts[k]:starts[k + 1]]`` belong to ``positions[k]``; positions ascend, none is without."""

    positions: PositionArray
    starts: PositionArray
    entries: Sequence[tuple[Any, ...]] | NumericEntries

    def part(self, low: int, high: int) -> Segment:
        """The segment of ``positions[low:high]``."""
        begin = int(self.starts[low]) if low < len(self.starts) else len(self.entries)
        end = int(self.starts[high]) if high < len(self.starts) else len(self.entries)
        return Segment(self.positions[low:high], self.starts[low:high] - begin, self.entries[begin:end])

    def up_to(self, position: int) -> Segment:
        """What belongs to ``position`` and those before it."""
        return self.part(0, int(np.searchsorted(self.positions, position, "right")))

    def position(self, entry: int) -> int:
        """The position that an entry belongs to."""
        return int(self.positions[np.searchsorted(self.starts, entry, "right") - 1])

    def listed(self) -> list[tuple[Any, ...]]:
        """The entries one by one."""
        return self.entries.listed() if isinstance(self.entries, NumericEntries) else list(self.entries)


@dataclass(frozen=True, slots=True)
class Extent:
    """The first and the last position of a segment."""

    first: int
    last: int


def compact(positions: array[int], starts: array[int], entries: list[tuple[Any, ...]]) -> Segment:
    """The segment, its entries as an array where all are of one code with a float."""
    kept = _as_numbers(entries)
    places, begins = np.array(positions, np.int64), np.array(starts, np.int64)
    return Segment(places, begins, entries if kept is None else kept)


def _as_numbers(entries: list[tuple[Any, ...]]) -> NumericEntries | None:
    code, *operands = entries[0]
    if len(operands) != 1 or type(operands[0]) is not float or set(map(len, entries)) != {2}:
        return None
    codes, numbers = zip(*entries, strict=True)
    if set(codes) != {code} or set(map(type, numbers)) != {float}:
        return None
    return NumericEntries(code, np.array(numbers))


class SegmentStore:
    """Segments as bytes, in memory up to a bound, beyond it in a file that vanishes when it is closed."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._held = 0
        self._places: list[bytes | tuple[int, int]] = []
        self._file: IO[bytes] | None = None

    def add(self, data: bytes) -> None:
        """Put a segment away; OSError where the file cannot take it."""
        if self._held + len(data) <= self._bound:
            self._held += len(data)
            self._places.append(data)
            return
        import tempfile

        self._file = self._file or tempfile.TemporaryFile()  # noqa: SIM115 (see close)
        at = self._file.seek(0, 2)
        self._file.write(data)
        self._places.append((at, len(data)))

    def take(self, number: int) -> bytes:
        """A segment by its number, in the order in which they were put away."""
        place = self._places[number]
        if isinstance(place, bytes):
            return place
        assert self._file is not None
        self._file.seek(place[0])
        return self._file.read(place[1])

    def close(self) -> None:
        """Let all go."""
        self._places.clear()
        if self._file is not None:
            self._file.close()


#: What a journal does with a segment that is complete.
Keep = Callable[[Segment], None]
