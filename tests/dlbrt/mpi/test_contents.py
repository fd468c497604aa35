"""Contents that all ranks hold whole arrive in the original's layout; other hosts keep what is unchanged."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from dlbrt.data.memory import layout_of
from dlbrt.mpi.call import Content, SlotHeader
from dlbrt.mpi.communicator import Communicator
from dlbrt.mpi.values import contents as keeping
from dlbrt.mpi.values.contents import SlotCache, SlotPublisher


class Line:
    """Both ends of a broadcast in one process: what the first call puts in, the next takes out."""

    ranks = 2
    on_one_host = tolerates_deaths = False

    def __init__(self) -> None:
        self.waiting: list[Any] = []
        self.sent = 0
        self.sends = True

    def broadcast_memory(self, array: Any) -> None:
        if self.sends:
            self.waiting.append(array.copy())
            self.sent += array.nbytes
        else:
            array[...] = self.waiting.pop(0).reshape(array.shape)

    def complete(self, requests: Any) -> None:
        pass


class Pair:
    def __init__(self) -> None:
        self.line = Line()
        communicator = cast(Communicator, self.line)
        self.publisher, self.library = SlotPublisher(communicator), SlotCache(communicator)

    def call(self, *arrays: Any, stored: tuple[Any, ...] = ()) -> tuple[list[Any], tuple[SlotHeader, ...]]:
        headers = self.publisher.describe(arrays, set(), {id(array) for array in stored})
        self.library.forget(self.publisher.dropped())
        self.line.sends = True
        self.publisher.broadcast(arrays, headers)
        self.line.sends = False
        return self.library.fill(headers), headers


BIG = np.arange(5000.0)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(3.0),
        np.array(5.0),
        np.zeros((0, 4)),
        BIG,
        np.asfortranarray(BIG.reshape(50, 100)),
        BIG.reshape(50, 100)[::-1, 3:],
        BIG.reshape(10, 5, 100).transpose(2, 0, 1),
        np.arange(5000).astype(">i4"),
        np.arange(5000).astype("M8[s]"),
        np.array(["a", "bc"] * 3000),
    ],
    ids=lambda array: f"{array.dtype.str}{array.shape}",
)
def test_an_array_arrives_in_its_layout(array: Any) -> None:
    (found,), _ = Pair().call(array)
    assert found.tobytes() == array.tobytes()
    assert (found.dtype, found.strides) == (array.dtype, array.strides)


def test_unchanged_contents_are_sent_twice_and_then_kept() -> None:
    pair, array = Pair(), BIG.copy()
    pair.call(array)  # most arrays come once: a digest would be for nothing
    (second,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    (third,), headers = pair.call(array)
    assert headers[0].content is Content.KEPT
    assert third is second
    assert pair.line.sent == 2 * array.nbytes


def test_on_one_host_contents_are_sent_each_time_into_the_same_memory() -> None:
    pair, array = Pair(), BIG.repeat(20)  # large enough to be mapped
    pair.line.on_one_host = True
    (first,), _ = pair.call(array)
    place = first.ctypes.data
    del first
    array[77] = -1
    (second,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    assert second.tobytes() == array.tobytes()
    assert second.ctypes.data == place
    array[78] = -1
    (third,), _ = pair.call(array)
    assert third.ctypes.data != place  # ``second`` is still in use
    assert second[78] != third[78] == -1


def test_what_no_iteration_changes_may_still_be_on_its_way() -> None:
    pair, read, changed = Pair(), BIG.copy(), BIG + 1
    headers = pair.publisher.describe((read, changed), set(), {id(changed)})
    sending = pair.publisher.broadcast((read, changed), headers)
    assert [memory is read for _, memory in sending] == [True]


def test_changed_contents_are_sent_again() -> None:
    pair, array = Pair(), BIG.copy()
    for _ in range(3):
        pair.call(array)
    array[77] = -1
    (found,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    assert found[77] == -1


def test_what_the_loop_stores_to_is_not_kept() -> None:
    pair, array = Pair(), BIG.copy()
    pair.call(array, stored=(array,))
    (found,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    assert found.tobytes() == array.tobytes()


def test_what_is_gone_at_rank_0_is_forgotten() -> None:
    pair, array = Pair(), np.zeros(5 << 20)  # mapped by itself
    _, headers = pair.call(array)
    pair.call()
    del array
    assert pair.publisher.dropped() == (headers[0].token,)


def test_what_is_not_asked_for_any_more_is_forgotten_in_the_end() -> None:
    pair, array, other = Pair(), BIG.copy(), BIG + 1
    _, headers = pair.call(array)
    pair.call(other)
    pair.call(other)
    dropped = [token for _ in range(70) for token in pair.call(other) and pair.publisher.dropped()]
    assert dropped == [headers[0].token]
    (found,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    assert found.tobytes() == array.tobytes()


def test_of_what_is_not_asked_for_only_so_much_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_IDLE_BYTES", 2 * BIG.nbytes)
    pair, arrays = Pair(), [BIG + number for number in range(4)]
    tokens = [[pair.call(array) for _ in range(3)][-1][1][0].token for array in arrays]
    pair.call()
    assert sorted(pair.library._kept) == tokens[2:]
    assert pair.call(arrays[3])[1][0].content is Content.KEPT


def test_a_new_array_in_the_memory_of_another_replaces_it() -> None:
    pair, memory = Pair(), bytearray(BIG.nbytes)
    table = keeping.SentArrays()
    first, second = np.frombuffer(memory), np.frombuffer(memory)
    assert [*table.remember(first, 1, layout_of(first), b"1")] == []
    assert [*table.remember(second, 2, layout_of(second), b"2")] == []  # two looks at one memory
    assert [*table.remember(second, 3, layout_of(second), b"3")] == [2]
    assert pair.publisher.dropped() == ()


def test_an_array_that_is_kept_can_be_resized() -> None:
    pair, array = Pair(), BIG.copy()
    for _ in range(3):
        pair.call(array)
    array.resize(6000)
    (found,), headers = pair.call(array)
    assert headers[0].content is Content.WHOLE
    assert found.tobytes() == array.tobytes()


def test_kept_contents_are_as_writeable_as_the_original() -> None:
    pair, array = Pair(), BIG.copy()
    array.flags.writeable = False
    (found,), _ = pair.call(array)
    assert not found.flags.writeable
