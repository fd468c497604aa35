"""Segments: what one process has filled others map, and what they write is theirs alone."""

from __future__ import annotations

import pytest
from dlbrt.data.segment import NUMBERS, MemorySegment, map_segment


def test_writes_to_a_mapping_are_seen_by_nobody_else() -> None:
    segment = MemorySegment(10_000)
    segment.memory[:] = 7
    one, other = map_segment(segment.numbers), map_segment(segment.numbers)
    segment.close()
    one[5000] = 1
    assert (one[5000], one[9999], len(one)) == (1, 7, 10_000)
    assert (other == 7).all()
    assert (segment.memory == 7).all()


def test_a_mapping_outlives_the_segment() -> None:
    segment = MemorySegment(10_000)
    segment.memory[:] = 3
    mapped = map_segment(segment.numbers)
    segment.close()
    del segment
    assert (mapped == 3).all()


def test_another_file_of_the_same_number_is_refused() -> None:
    first = MemorySegment(10_000)
    numbers = first.numbers
    assert len(numbers) == NUMBERS
    first.close()
    second = MemorySegment(10_000)
    assert second.numbers[1] == numbers[1]
    with pytest.raises(OSError, match="another one"):
        map_segment(numbers)
    second.close()


def test_numbers_of_no_process_are_refused() -> None:
    with pytest.raises(FileNotFoundError):
        map_segment((0,) * NUMBERS)
