"""A worker's array has the layout of the original, and its untouched rows cost nothing."""

from __future__ import annotations

import resource
import sys
from typing import Literal

import numpy as np
import pytest
from dlbrt.data.memory import Array, ReusedMemory, allocate, hold_only, layout_of, release

#: Bytes in which the system counts resident memory.
_UNIT = 1 if sys.platform == "darwin" else 1024
BASE = np.arange(240.0).reshape(10, 24)


@pytest.mark.parametrize(
    "array",
    [
        BASE,
        np.asfortranarray(BASE),
        BASE[::-1],
        BASE[:, ::-2],
        BASE[3:, 5:],
        BASE.T,
        BASE.reshape(2, 5, 4, 6)[1:, ::2],
        BASE[0],
        np.zeros((0, 3)),
        np.zeros((3, 0)),
        np.array(7.0),
        np.zeros(70_000, dtype="u1")[3:],
        np.array([(1, 2.0, "x")] * 4, dtype=[("a", "i2"), ("b", ">f8"), ("c", "U3")]),
        np.arange(5).astype("M8[D]"),
        np.zeros(4, dtype="V5"),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}{array.strides}",
)
def test_an_allocated_array_has_the_layout_of_the_original(array: Array) -> None:
    copy = allocate(layout_of(array))
    assert copy.shape == array.shape
    assert copy.strides == array.strides
    assert copy.dtype == array.dtype
    assert (copy.ctypes.data - array.ctypes.data) % 64 == 0 or not array.size
    copy[...] = array
    assert copy.tobytes() == array.tobytes()


def test_a_fresh_array_is_zero() -> None:
    assert not allocate(layout_of(np.ones((300, 300)))).any()


def test_only_touched_rows_cost_memory() -> None:
    big = layout_of(np.empty((4096, 4096)))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    array = allocate(big)
    array[:64] = 1.0
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown * _UNIT < 32 * 2**20  # of 128 MiB


def test_released_rows_lose_their_memory_and_no_other_row_does() -> None:
    array = allocate(layout_of(np.ones((1000, 100))))
    array[...] = 1.0
    release(array, 0, (range(13, 500),))
    assert (array[:13] == 1.0).all()
    assert (array[500:] == 1.0).all()
    assert array[20:490].any() == (sys.platform != "linux")  # elsewhere pages may be kept


def test_memory_is_used_again_once_nothing_refers_to_it() -> None:
    memory, layout = ReusedMemory(), layout_of(np.ones((300, 300)))
    first = memory.array(layout)
    first[...] = 7.0
    view, place = first[3], first.ctypes.data
    del first
    memory.trim()
    assert memory.array(layout).ctypes.data != place  # a view of it is still there
    assert (view == 7.0).all()
    del view
    memory.trim()
    assert place in {memory.array(layout).ctypes.data for _ in range(2)}


def test_memory_that_the_last_call_did_not_use_is_given_back() -> None:
    memory = ReusedMemory()
    large, small = layout_of(np.empty((8192, 1024))), layout_of(np.empty((300, 300)))
    memory.array(large)
    memory.array(small)
    memory.trim()
    memory.trim()
    assert not memory.array(large)[::4].any()
    assert len(memory._mappings) == 2  # the small one has stayed


def test_memory_in_use_is_kept_track_of_however_large_it_is() -> None:
    memory, layout = ReusedMemory(), layout_of(np.empty((8192, 1024)))
    array = memory.array(layout)
    place = array.ctypes.data
    for _ in range(3):
        memory.trim()
    del array
    assert memory.array(layout).ctypes.data == place


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere pages may be kept")
@pytest.mark.parametrize("order", ["C", "F"])
def test_only_the_pages_of_some_rows_stay(order: Literal["C", "F"]) -> None:
    array = allocate(layout_of(np.ones((1000, 1000), order=order)))
    axis = 0 if order == "C" else 1
    rows = np.moveaxis(array, axis, 0)
    array[...] = 1.0
    hold_only(array[1:], axis, ())  # a part: others may use the rest
    assert array.all()
    hold_only(array, axis, (range(10, 20), range(500, 600)))
    assert rows[10:20].all()
    assert rows[500:600].all()
    assert not rows[1:9].any()
    assert not rows[22:497].any()
    assert not rows[602:998].any()
    hold_only(array, axis, (range(500, 600, 2),))
    assert not rows[1:998].any()
