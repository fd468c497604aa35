"""Kernels and arguments by value, arrays in slots."""

from __future__ import annotations

import ctypes
import threading
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.values.kernels import pack_kernel
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.packing import Packed, look_into, pack, unpack


class Holder:
    def __init__(self, **members: Any) -> None:
        self.__dict__.update(members)


def test_arrays_are_slots_wherever_they_are_met_and_each_only_once() -> None:
    a, b = np.arange(3.0), np.zeros((2, 2))
    packed = Packed()
    pack((a, [b, {"again": a}], Holder(deep=b)), packed, {}, KnownObjects())
    assert len(packed.slots) == 2
    assert packed.slots[0] is a
    assert packed.slots[1] is b
    assert packed.inside == {id(a), id(b)}
    copies = [a.copy(), b.copy()]
    (first, (second, again), holder), _ = unpack(packed.body, copies, KnownObjects())
    assert first is copies[0]
    assert again["again"] is first
    assert second is copies[1]
    assert holder.deep is second


def test_the_contents_of_arrays_are_not_in_the_pickle() -> None:
    packed = Packed()
    pack(np.zeros(100_000), packed, {}, KnownObjects())
    assert len(packed.body) < 1000


def test_arrays_of_other_kinds_go_by_value_and_are_noted() -> None:
    objects, masked = np.array([None, 1]), np.ma.array([1, 2], mask=[True, False])
    packed = Packed()
    pack([objects, masked], packed, {}, KnownObjects())
    assert packed.slots == []
    assert packed.arrays[0] is objects
    assert packed.arrays[1] is masked
    (first, second), _ = unpack(packed.body, [], KnownObjects())
    assert first.tolist() == [None, 1]
    assert second.tolist() == [None, 2]


def test_a_holder_that_items_lead_to_as_well_is_met_several_times() -> None:
    array, items = np.zeros(3), [Holder(), Holder()]
    world = Holder(a=array)
    packed, lists = Packed(), {id(items): items}
    pack([world, 1], packed, lists, KnownObjects(), {id(world)})
    assert id(world) not in packed.several
    look_into([list(items)], packed, lists, KnownObjects(), {id(world)})
    assert id(world) not in packed.several
    items[1].world, items[0].all_of_them = world, items
    assert id(items) not in packed.inside
    look_into([list(items)], packed, lists, KnownObjects(), {id(world)})
    assert id(world) in packed.several
    assert id(items) in packed.inside
    assert packed.slots == [array]  # what is looked into adds none


def test_lists_that_go_by_rows_are_slots() -> None:
    rows, other = [1, 2], [1, 2]
    packed = Packed()
    pack({"rows": rows, "other": other}, packed, {id(rows): rows}, KnownObjects())
    assert packed.slots == [rows]
    assert id(rows) in packed.inside
    found, _ = unpack(packed.body, ["the slot"], KnownObjects())
    assert found == {"rows": "the slot", "other": other}


def test_what_cannot_leave_the_process_is_said_by_the_pickler() -> None:
    with pytest.raises(TypeError, match="lock"):
        pack(threading.Lock(), Packed(), {}, KnownObjects())


def test_what_the_kernel_brought_is_not_sent_again() -> None:
    def helper() -> int:
        return 4

    def kernel() -> Any:
        return helper

    sent = pack_kernel(kernel, ())
    there, met = unpack(sent.data, [], KnownObjects())
    packed = Packed()
    pack([helper], packed, {}, sent.common)
    (found,), _ = unpack(packed.body, [], KnownObjects(lambda: met))
    assert found is there()


def test_a_library_of_c_does_not_leave_its_rank() -> None:
    with pytest.raises(TypeError, match="iterations call the library of C"):
        pack(ctypes.CDLL(None), Packed(), {}, KnownObjects())
