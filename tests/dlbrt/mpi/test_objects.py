"""What a reader has goes as a number: identities hold on the way to a rank, between ranks and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from dlbrt.mpi.values.objects import Returned, RootObjects, WorkerObjects, without_identity
from dlbrt.mpi.values.pickles import Numbering, Reader, Writer


class Node:
    def __init__(self, value: Any) -> None:
        self.value = value


def both_sides(*values: Any, ranks: int = 2) -> tuple[RootObjects, list[WorkerObjects], list[Any]]:
    """Rank 0's objects after sending ``values`` with a call, the workers', and the first worker's values."""
    call, readers = Writer(Numbering()), [Reader(()) for _ in range(1, ranks)]
    data = call.dump(list(values))
    received = [reader.load(data) for reader in readers]
    workers = [
        WorkerObjects(partial(getattr, reader, "objects"), rank=rank)
        for rank, reader in enumerate(readers, 1)
    ]
    return RootObjects(lambda: call.numbering.objects), workers, received[0]


def returned(root: RootObjects, worker: WorkerObjects, *values: Any) -> list[Any]:
    """What rank 0 makes of values that the worker sends in messages of their own, read in order."""
    messages = [worker.pack(value, 0) for value in values]
    root.expect(worker.rank, worker.returned)
    return [root.unpack(message, worker.rank) for message in messages]


CONTENTS = [
    pytest.param(make, id=name)
    for name, make in {
        "instance": Node,
        "list": lambda k: [k],
        "dict": lambda k: {"k": k},
        "set": lambda k: {k},
        "bytearray": lambda k: bytearray([k]),
        "array": lambda k: np.arange(k + 1.0),
        "tuple": lambda k: ([k], k),
    }.items()
]


@pytest.mark.parametrize("make", CONTENTS)
def test_an_object_of_the_call_is_itself_in_what_comes_back(make: Any) -> None:
    here = [make(1), make(2)]
    root, (worker,), there = both_sides(*here)
    assert all(one is not other for one, other in zip(here, there, strict=True))
    back, own = returned(root, worker, {"cfg": there[0], "new": make(3)}, there[1])
    assert back["cfg"] is here[0]
    assert own is here[1]
    assert all(back["new"] is not value for value in here)


@pytest.mark.parametrize("make", CONTENTS)
def test_what_was_sent_in_rows_is_itself_when_it_comes_back(make: Any) -> None:
    here = [make(k) for k in range(3)]
    root, (worker,), _ = both_sides()
    there = worker.unpack(root.pack(here, 1), 0)
    back, again = returned(root, worker, [there[2], make(7), there[0]], {"one": there[1]})
    assert (back[2], back[0], again["one"]) == (here[0], here[2], here[1])
    assert back[0] is here[2]
    assert again["one"] is here[1]
    assert all(back[1] is not value for value in here)


def test_so_is_what_rows_refer_to_and_what_rows_have_in_common() -> None:
    shared = {"runs": 1}
    here = [Node(shared), Node(shared)]
    root, (worker,), _ = both_sides()
    one = worker.unpack(root.pack(here, 1), 0)
    other = worker.unpack(root.pack([shared, here[1]], 1), 0)
    assert other[0] is one[0].value
    assert other[1] is one[1]
    (back,) = returned(root, worker, [one[0].value, other[1]])
    assert back[0] is shared
    assert back[1] is here[1]


def test_what_another_worker_passes_on_is_still_the_programs_own() -> None:
    here = [Node([k]) for k in range(3)]
    root, (first, second), _ = both_sides(ranks=3)
    there = first.unpack(root.pack(here, 1), 0)
    passed = second.unpack(first.pack([there[1], Node(7), there[2]], 2), 1)
    assert passed[1].value == 7
    (back,) = returned(root, second, [passed[0].value, passed[2], passed[1]])
    assert back[0] is here[1].value
    assert back[1] is here[2]
    assert back[2].value == 7


def test_seeds_that_were_sent_as_such_are_themselves_when_they_come_back() -> None:
    here = np.random.SeedSequence(3).spawn(5)
    root, (first, second), _ = both_sides(ranks=3)
    packed = root.pack_seeds(here[:3], 1)
    assert packed is not None
    there, states = first.unpack(packed, 0)
    assert not states
    assert [seed.spawn_key for seed in there] == [(0,), (1,), (2,)]
    packed = root.pack_seeds(here[3:], 1)
    assert packed is not None
    there += first.unpack(packed, 0)[0]
    node = first.unpack(root.pack(Node(here[1]), 1), 0)
    assert node.value is there[1]
    passed = second.unpack(first.pack([there[2], Node(7)], 2), 1)
    back, pool = returned(root, first, [there[4], Node(8), there[0]], [there[1].pool])
    assert back[0] is here[4]
    assert back[2] is here[0]
    assert pool[0] is here[1].pool
    assert returned(root, second, passed)[0][0] is here[2]


def test_seeds_that_a_rank_has_are_not_sent_as_new_ones() -> None:
    here = np.random.SeedSequence(3).spawn(5)
    root, (worker,), _ = both_sides(here[4], here[3].pool)
    assert root.pack_seeds(here[:2], 1) is not None
    assert root.pack_seeds(here[1:3], 1) is None
    assert root.pack_seeds([here[2], here[2]], 1) is None
    assert root.pack_seeds(here[4:], 1) is None
    assert root.pack_seeds(here[3:4], 1) is None
    assert worker.pack_seeds(here[2:3], 0) is None


@pytest.mark.parametrize("make", CONTENTS)
def test_an_object_kept_in_several_places_is_one_afterwards(make: Any) -> None:
    root, (worker,), _ = both_sides()
    new = make(1)
    rows, entry, last = returned(root, worker, [new], {"key": (new, [new])}, new)
    assert rows[0] is entry["key"][0] is entry["key"][1][0] is last


def test_messages_may_be_read_in_another_order_and_are_read_once() -> None:
    root, (worker,), _ = both_sides()
    kept = [Node(0), Node(1)]
    messages = [worker.pack(value, 0) for value in ([kept[0]], [kept[1], kept[0]], tuple(kept))]
    root.expect(1, worker.returned)
    for message in messages[1:]:
        root.arrived(message, 1)
    asked = []

    def fetch(rank: int, number: int) -> bytes:
        asked.append((rank, number))
        return messages[number]

    root.fetch = fetch
    last = root.unpack(messages[2], 1)
    assert asked == [(1, 0)]
    assert root.bring(1, 0)[0] is last[0]
    assert root.unpack(messages[1], 1)[0] is last[1]
    assert asked == [(1, 0)]


def test_what_others_need_can_be_brought_before_it_is_too_late() -> None:
    root, (worker,), _ = both_sides()
    kept = [Node(0)]
    messages = [worker.pack(kept, 0), worker.pack(kept, 0)]
    root.expect(1, worker.returned)
    root.arrived(messages[1], 1)
    root.fetch = lambda _, number: messages[number]
    root.bring_missing()
    root.fetch = None
    assert root.unpack(messages[1], 1)[0].value == 0


def test_an_attempt_leaves_nothing_behind() -> None:
    root, (worker,), _ = both_sides()
    new = Node(1)
    messages = [worker.pack([new], 0)]
    worker.pack([Node(2)], 0, numbered=False)
    with pytest.raises(TypeError):
        worker.pack([Node(3), (k for k in range(3))], 0)
    messages += [worker.pack(["text", Node(4)], 0), worker.pack([new], 0)]
    root.expect(worker.rank, worker.returned)
    first, other, last = [root.unpack(message, worker.rank) for message in messages]
    assert first[0] is last[0]
    assert other[1].value == 4


def test_a_rank_can_read_what_it_sends() -> None:
    _, (worker,), (known,) = both_sides(Node(1))
    assert worker.unpack(worker.pack([known, 2], 0, numbered=False), worker.rank)[0] is known


def test_numbers_hold_where_one_object_is_met_twice() -> None:
    """Equal names of attributes are two strings at one rank, and one at the other."""
    root, (worker,), _ = both_sides()
    here = [Node(k) for k in range(2)]
    here[1].__dict__ = {"".join(["val", "ue"]): 1, "name": [5]}
    there = worker.unpack(root.pack(here, 1), 0)
    new = [Node(3)]
    first, second = returned(root, worker, [there[1].name, new], [new, there[1]])
    assert first[0] is here[1].name
    assert second[0] is first[1]
    assert second[1] is here[1]


def test_rows_of_numbers_leave_no_trace() -> None:
    root, (worker,), _ = both_sides()
    for value in ([1, 2.5, None, "text", np.float64(3)], []):
        assert worker.unpack(root.pack(value, 1, plain=True), 0) == value
        assert root.unpack(worker.pack(value, 0, plain=True), 1) == value
    assert worker.returned == Returned()


def test_what_is_changed_in_place_comes_back_by_value() -> None:
    here = [[1, 2]]
    root, (worker,), _ = both_sides()
    there = worker.unpack(root.pack(here, 1, numbered=False), 0)
    there[0].append(3)
    root.expect(1, worker.returned)
    assert root.unpack(worker.pack(there, 0, numbered=False), 1) == [[1, 2, 3]]


def test_a_view_comes_back_as_a_view() -> None:
    array = np.arange(12.0).reshape(3, 4)
    root, (worker,), (copy,) = both_sides(array)
    *views, other = (copy[1], copy[::-1, 1::2], copy.T[2:], copy.reshape(-1)[5:6], copy[1] + 0)
    *found, copied = returned(root, worker, *views, other)
    assert not np.shares_memory(copied, array)
    assert copied.base is None
    for view, back in zip(views, found, strict=True):
        assert np.array_equal(back, view)
        assert back.strides == view.strides
        assert np.shares_memory(back, array)


@pytest.mark.parametrize(
    "take",
    [
        lambda a: a.T,
        lambda a: a[1],
        lambda a: a[::-1, 1::2],
        lambda a: a[:, 2:3],
        lambda a: a[None, :, 1],
        lambda a: np.broadcast_to(a[:, :1], (3, 5)),
        lambda a: a.reshape(-1)[2:],
        lambda a: a.reshape(2, 6),
        lambda a: np.diagonal(a),
        lambda a: a.view(np.int64),
    ],
)
@pytest.mark.parametrize("part", [np.s_[:, 2:6], np.s_[::2, ::-3], np.s_[1:4, 8:4:-1]])
def test_a_view_of_what_is_a_view_at_rank_0_alone_has_the_values(take: Any, part: Any) -> None:
    """A worker has a copy of `here`, with other strides."""
    array = np.arange(72.0).reshape(6, 12)
    here = [array[part][:3]]
    root, (worker,), _ = both_sides()
    there = worker.unpack(root.pack(here, 1), 0)
    taken = take(there[0])
    back, same = returned(root, worker, taken, there[0])
    assert same is here[0]
    assert np.array_equal(back, taken)
    assert back.dtype == taken.dtype
    assert np.array_equal(taken, take(here[0].copy()))


def test_a_part_of_it_is_a_part_of_the_memory_at_rank_0() -> None:
    here = [np.arange(72.0).reshape(6, 12)[1:4, 8:4:-1]]
    root, (worker,), _ = both_sides()
    there = worker.unpack(root.pack(here, 1), 0)
    turned, row = returned(root, worker, there[0].T, there[0][1, ::2])
    here[0][:] = np.arange(12.0).reshape(3, 4)
    assert np.array_equal(turned, here[0].T)
    assert np.array_equal(row, [4.0, 6.0])


def test_so_does_a_view_of_a_new_array() -> None:
    for array in (np.arange(6.0), np.asfortranarray(np.arange(6.0).reshape(2, 3))):
        root, (worker,), _ = both_sides()
        tail, turned, alone = array[1:], array.T[::-1], np.arange(5)[2:]
        first, second, third, single = returned(root, worker, [tail], array, turned, alone)
        assert first[0].base is second
        assert np.shares_memory(third, second)
        assert np.array_equal(third, turned)
        assert third.strides == turned.strides
        assert second.flags.owndata
        assert single.base is None


def test_a_view_that_may_not_be_written_to_stays_so() -> None:
    root, (worker,), _ = both_sides()
    array = np.arange(4)
    view = array[1:]
    view.flags.writeable = False
    whole, part = returned(root, worker, array, view)
    assert whole.flags.writeable
    assert not part.flags.writeable
    assert part.base is whole


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2.0, "text", None, np.float64(1)], True),
        ([(40, "append", ((1, "a"),), {}), (40, "append", ("b",), {})], True),
        ([], True),
        ([[1]], False),
        ([(40, "append", ([],), {})], False),
        ([(40, "update", (), {"k": 1})], False),
        ([((((((1,),),),),),)], False),
    ],
)
def test_what_has_no_object_with_an_identity_is_not_numbered(values: list[Any], expected: bool) -> None:
    assert without_identity(values) is expected


def test_what_comes_between_messages_is_known_in_later_ones() -> None:
    root, (worker,), _ = both_sides()
    here = [Node(k) for k in range(3)]
    messages = [worker.pack([1, []], 0)]
    there = [worker.unpack(root.pack([node], 1), 0)[0] for node in here[:2]]
    messages += [worker.pack(there, 0)]
    there += worker.unpack(root.pack(here[2:], 1), 0)
    messages += [worker.pack(list(there), 0, numbered=False), worker.pack(tuple(there), 0)]
    root.expect(1, worker.returned)
    root.fetch = lambda _, number: messages[number]
    for message in messages[1::2]:
        root.arrived(message, 1)
    for place in (2, 3):
        assert all(a is b for a, b in zip(root.unpack(messages[place], 1), here, strict=True))
    assert root.bring(1, 0) == [1, []]
    assert root.unpack(messages[1], 1) == here[:2]
