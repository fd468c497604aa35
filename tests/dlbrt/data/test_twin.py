"""What has changed is found bit by bit, travels compactly, and lands in its place."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from dlbrt.data.twin import Diff, DiffMerge, Twin
from hypothesis import given
from hypothesis import strategies as st

RECORD = np.dtype([("a", "i1"), ("b", "f8")], align=True)
KINDS = ["f8", "f4", "i1", "?", "c16", "c8", "u2", "M8[s]", "S3", "U2", "V5", RECORD, "g", ">i4"]


def shaped(kind: Any, layout: str) -> Any:
    base = np.zeros((6, 8), kind)
    arrays = {
        "C": base,
        "F": np.asfortranarray(base),
        "strided": base[::2, ::-3],
        "reversed": base[::-1],
        "plane": base.T[1:],
        "line": base[:, 3],
        "none": base[:0],
    }
    return arrays[layout]


@given(
    st.sampled_from(KINDS),
    st.sampled_from(["C", "F", "strided", "reversed", "plane", "line", "none"]),
    st.data(),
)
def test_changes_of_arrays_of_any_kind_land_in_their_places(
    kind: Any, layout: str, data: st.DataObject
) -> None:
    array, other = shaped(kind, layout), shaped(kind, layout)
    bytes_of, bytes_there = (a.view(np.dtype((np.void, a.itemsize))) for a in (array, other))
    bytes_of[...] = bytes_there[...] = np.void(bytes(array.itemsize))  # what pads records too
    twin = Twin(array)
    places = data.draw(st.sets(st.integers(0, max(0, array.size - 1)), max_size=array.size))
    for place in places:
        bytes_of.flat[place] = np.void(b"\x01" * array.itemsize)
    diff = twin.diff()
    assert diff.places.tolist() == sorted(places)
    Diff.decode(diff.encode(), other).put(other)
    assert bytes_there.tobytes() == bytes_of.tobytes()


def test_numbers_are_compared_as_bits() -> None:
    array = np.array([np.nan, 0.0, 1.0, 2.0])
    twin = Twin(array)
    array[:] = [np.nan, -0.0, 1.0, 3.0]
    assert twin.diff().places.tolist() == [1, 3]


def test_long_arrays_are_compared_piece_by_piece() -> None:
    array = np.zeros((1 << 10, 700), np.int8)[:, ::2]
    twin = Twin(array)
    array[5, 3] = array[1023, 349] = 1
    assert twin.diff().places.tolist() == [5 * 350 + 3, 1023 * 350 + 349]


def test_elements_of_lists_have_changed_if_they_are_others() -> None:
    kept, equal = [1], [2]
    data: list[Any] = [kept, equal, 3, None]
    twin = Twin(data)
    data[1], data[3] = [2], "new"
    diff = twin.diff()
    assert len(diff) == 2
    assert diff.places.tolist() == [1, 3]
    target = [0, 0, 0, 0]
    diff.put(target)
    assert target == [0, [2], 0, "new"]


def claimed(data: Any, *given: tuple[list[int], list[Any]]) -> Any:
    claims = DiffMerge(data)
    for rank, (places, values) in enumerate(given):
        kind = values if isinstance(data, list) else np.array(values, data.dtype).view("V8")
        claims.add(rank, Diff(np.array(places, np.uint32), kind))
    return claims.conflict()


@pytest.mark.parametrize("rank", [1, 2])
def test_two_values_for_one_element_are_found(rank: int) -> None:
    given: list[tuple[list[int], list[float]]] = [([0, 5], [1.0, 2.0]), ([1], [9.0]), ([2], [9.0])]
    assert claimed(np.zeros(9), *given) is None
    given[rank][0].append(5)
    given[rank][1].append(2.0)
    assert claimed(np.zeros(9), *given) is None
    given[rank][1][-1] = 2.5
    assert claimed(np.zeros(9), *given) == (5, (0, rank))


def test_two_objects_for_one_element_of_a_list_are_found() -> None:
    shared = [1]
    assert claimed([0] * 4, ([1], [shared]), ([1, 2], [shared, 5])) is None
    assert claimed([0] * 4, ([1], [shared]), ([2, 1], [5, [1]])) == (1, (0, 1))


def test_ranks_that_changed_nothing_clash_with_nobody() -> None:
    assert claimed(np.zeros(3), ([], []), ([], [])) is None
