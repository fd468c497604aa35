"""Which objects share memory: arrays, what else exposes it, and files mapped twice."""

from __future__ import annotations

import array
import ctypes
import mmap
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from dlbrt.data.overlap import crowded, exposed_within, exposes_memory, overlap, owner, window


def test_views_of_one_array_overlap_where_they_have_elements_in_common() -> None:
    base = np.arange(10.0)
    assert overlap(base[:5], base[4:])
    assert not overlap(base[:5], base[5:])
    assert not overlap(base[::2], base[1::2])
    assert crowded([base[:5], base[4:]])
    assert not crowded([base[:5], base[5:], np.empty(0)])


def over(kind: str) -> tuple[Any, Any]:
    """An object with memory, and an array over it."""
    made: Any = {
        "bytearray": lambda: bytearray(32),
        "array": lambda: array.array("d", range(4)),
        "memoryview": lambda: memoryview(bytearray(32)),
        "ctypes": lambda: (ctypes.c_double * 4)(),
        "mmap": lambda: mmap.mmap(-1, 32),
    }[kind]()
    return made, np.frombuffer(made)


@pytest.mark.parametrize("kind", ["bytearray", "array", "memoryview", "ctypes", "mmap"])
def test_an_object_that_exposes_memory_is_an_array_of_it(kind: str) -> None:
    value, data = over(kind)
    assert exposes_memory(value)
    assert overlap(window(value), data)
    assert not overlap(window(value), np.zeros(4))
    assert type(owner(data[1:])) is not np.ndarray


def test_what_has_no_memory_exposes_none() -> None:
    released = memoryview(b"a")
    released.release()
    assert not any(map(exposes_memory, (1, "text", b"bytes", [1], {}, np.zeros(2), np.float64(1), released)))


def test_what_lies_in_a_list_is_found_with_the_memory_that_it_exposes() -> None:
    data = np.zeros(4)
    holder = SimpleNamespace(view=memoryview(data), self=None)
    holder.self = holder
    for inside in (data[1:], [data], (1, {"k": data}), holder, {"h": [holder]}, [np, "text", data]):
        found = list(exposed_within([1, inside]))
        assert any(overlap(each, data) for each in found)
    assert list(exposed_within([1, 2.5, "text", None])) == []
    assert list(exposed_within([np, len, int])) == []


def test_maps_of_one_file_overlap_by_their_places_in_it(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(bytes(4 * mmap.PAGESIZE))
    other = tmp_path / "other"
    other.write_bytes(bytes(4 * mmap.PAGESIZE))
    half = 2 * mmap.PAGESIZE

    def mapped(path: Path, first: int, count: int, mode: Any = "r+") -> Any:
        return np.memmap(path, np.uint8, mode, first, (count,))

    whole = mapped(file, 0, 2 * half)
    assert overlap(whole, mapped(file, 0, 2 * half))
    assert overlap(whole, mapped(file, half + 3, 5, "r"))
    assert overlap(np.asarray(whole)[half:], mapped(file, half + 3, 5))
    assert not overlap(whole[:half], mapped(file, half, half))
    assert not overlap(mapped(file, 0, 100), mapped(file, 100, 100))
    assert not overlap(whole, mapped(other, 0, 2 * half))
    assert not overlap(whole, np.zeros(4, np.uint8))
    file.rename(tmp_path / "under another name")
    assert overlap(whole, mapped(tmp_path / "under another name", 0, 1))
