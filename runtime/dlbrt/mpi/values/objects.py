"""Objects keep their identity, whichever messages of a run bring them to a rank.

The objects that a call brings to every rank are known to all by number. So are those that rank 0 sends to a
rank afterwards, in rows of lists, and those that a rank has sent back, in rows, journals and final values: in
all later messages they are numbers, whether an object of the program in a new one or one that an iteration
keeps in several places. A rank tells rank 0 at the end of the run where it finds each of them (`Provenance`).
Rank 0 may read messages in another order than that in which they were written: one that it needs for this
reason is read earlier, and once.

Objects that have been sent back are kept alive until the run ends only while something else holds them.
Nothing but an atom is ever kept of rows of numbers.
"""

from __future__ import annotations

import pickle
import struct
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from dlbrt.mpi.values.pickles import (
    PROTOCOL,
    Entry,
    Numbering,
    Reducer,
    entries,
    is_numeric,
    met_by_pickler,
    met_by_unpickler,
    of_array,
    owner_of,
    reader,
    survivors,
    write,
)
from dlbrt.records import dataclass

#: Before each pickle: the number of the message, and how many objects its memo begins with.
_HEADER = struct.Struct("<qq")

#: The number of a message of which nothing is remembered, and the objects before a pickle without any.
_NONE = -1


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where rank 0 finds ``count`` objects of a rank, from number ``first`` on.

    They are among those that rank 0 has sent to the rank ``receiver``; if that is 0, in the rank's own
    ``message``.
    """

    receiver: int
    message: int
    first: int
    count: int


def _never(_: Any) -> None:
    return None


def _plain(value: Any, number: int = _NONE) -> bytes:
    return _HEADER.pack(number, _NONE) + pickle.dumps(value, PROTOCOL)


def _headed(data: bytes | bytearray) -> tuple[int, int, memoryview]:
    """The number of a message, the objects before its pickle, and the pickle."""
    number, count = _HEADER.unpack_from(data)
    return number, count, memoryview(data)[_HEADER.size :]


class SharedObjects:
    """The objects that the ranks of one call have in common; ``sources`` return parts of them."""

    def __init__(self, *sources: Callable[[], Sequence[Any]]) -> None:
        self._sources = sources

    @cached_property
    def known(self) -> Numbering:
        """The objects by number."""
        return Numbering(value for source in self._sources for value in source())

    def dumps(self, value: Any) -> bytes:
        """A pickle that every rank can read. Raises what the objects' own hooks raise."""
        return write(value, self.known, _never)[0]

    def loads(self, data: bytes) -> Any:
        """The value of a pickle for every rank."""
        return reader(data, self.known.objects).load()

    def pack(
        self,
        value: Any,
        target: int,
        *,
        numbered: bool = True,
        plain: bool = False,
        taken_apart: Reducer = _never,
    ) -> bytes:
        """The message that brings a value to a rank. Raises what the objects' own hooks raise.

        Unless ``numbered``, objects that come with it are not known afterwards. ``plain``: there are none
        with an identity that matters, nor is the value itself one. ``taken_apart`` returns the
        reduction (as ``__reduce__``) of objects that are not to be pickled in their own way, else None.
        """
        raise NotImplementedError

    def arrived(self, data: bytes | bytearray, source: int) -> None:
        """A message has come from a rank; it is read later, or when another one needs it."""

    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """The value of a message from a rank."""
        raise NotImplementedError


class WorkerObjects(SharedObjects):
    """What the worker ``rank`` and others know of each other's objects.

    ``provenance`` tell where rank 0 finds those that are numbers in messages to it.
    """

    def __init__(self, *sources: Callable[[], Sequence[Any]], rank: int) -> None:
        super().__init__(*sources)
        self.provenance: list[Provenance] = []
        self.rank = rank
        self._number = 0  # of the next message to rank 0
        self._last: tuple[Any, int, int] | None = None
        self._owners: dict[int, Any] = {}
        self._owners_of = 0

    @cached_property
    def _from_root(self) -> Numbering:
        """What rank 0 has sent to this rank."""
        return self.known.copy()

    @cached_property
    def _at_root(self) -> Numbering:
        return self.known.copy()

    def pack(
        self,
        value: Any,
        target: int,
        *,
        numbered: bool = True,
        plain: bool = False,
        taken_apart: Reducer = _never,
    ) -> bytes:
        """See `SharedObjects`; not ``numbered``, and to rank 0, it is an attempt."""
        if target:
            return self._forwarded(value, numbered=numbered, plain=plain)
        number = self._number if numbered else _NONE
        if plain:
            data = _plain(value, number)
        else:
            table = self._returnable()
            count = len(table)
            pickled, pickler = write(
                value, table, lambda obj: taken_apart(obj) or of_array(obj, self._array_at_root)
            )
            data = _HEADER.pack(number, count) + pickled
            if numbered:
                self._last = pickler, number, count
        self._number += numbered
        return data

    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """See `SharedObjects`; messages of this rank to rank 0 can be read as well."""
        number, count, pickled = _headed(data)
        if count < 0:
            return pickle.loads(pickled)
        if source == self.rank:
            return reader(pickled, self._at_root.objects[:count]).load()
        if source:
            return self._taken_over(number, pickled)
        unpickler = reader(pickled, self._from_root.objects[:count])
        value = unpickler.load()
        if number != _NONE:
            self._from_root.extend_later(partial(met_by_unpickler, unpickler))
        return value

    def _returnable(self) -> Numbering:
        """The objects that rank 0 has or will have, up to date."""
        table = self._at_root
        if self._last is not None:
            pickler, number, count = self._last
            self._last = None
            met = entries(pickler, count)
            del pickler
            alive = survivors(met)
            table.extend(value for _, value in alive)
            self.provenance += (Provenance(0, number, *run) for run in _runs(alive))
        arrived, seen = self._from_root.objects, self._taken
        if len(arrived) > seen:
            table.extend(arrived[seen:])
            self.provenance.append(Provenance(self.rank, 0, seen, len(arrived) - seen))
            self._taken = len(arrived)
        return table

    @cached_property
    def _taken(self) -> int:
        """How many of the objects from rank 0 are in the table."""
        return len(self.known)

    def _array_at_root(self, owner: Any) -> Any:
        """An array at rank 0 whose memory has that owner here."""
        objects = self._at_root.objects
        for value in objects[self._owners_of :]:
            if is_numeric(value):
                self._owners.setdefault(id(owner_of(value)), value)
        self._owners_of = len(objects)
        return self._owners.get(id(owner))

    def _forwarded(self, value: Any, *, numbered: bool, plain: bool) -> bytes:
        """A message to another worker, which says what of it rank 0 has sent to this one."""
        if plain:
            return _plain(value)
        count, table = len(self.known), self._returnable()
        pickled, pickler = write(value, self.known, _never)
        found = array("q")
        for number, obj in entries(pickler, count) if numbered else ():
            place = table.memo.get(id(obj), (0,))[0]
            if place >= count and (sent := self._sent(place - count)) is not None:
                found.extend((number, *sent))
        return _HEADER.pack(len(found), count) + found.tobytes() + pickled

    def _sent(self, place: int) -> tuple[int, int] | None:
        """To which rank rank 0 has sent an object, and its number there, by its place in the table."""
        for stretch in self.provenance:
            if place < stretch.count:
                return (stretch.receiver, stretch.first + place) if stretch.receiver else None
            place -= stretch.count
        return None

    def _taken_over(self, length: int, data: memoryview) -> Any:
        """The value of such a message; ``length`` is that of the list at its beginning."""
        found = array("q", data[: 8 * length].tobytes())
        unpickler = reader(data[8 * length :], self.known.objects)
        value = unpickler.load()
        if found:
            table, memo = self._returnable(), unpickler.memo.copy()
            table.extend(memo[number] for number in found[::3])
            pairs = zip(found[1::3], found[2::3], strict=True)
            self.provenance += (Provenance(receiver, 0, first, 1) for receiver, first in pairs)
        return value


def _runs(numbered: Iterable[Entry]) -> Iterator[tuple[int, int]]:
    """The stretches of consecutive numbers: the first of each and how many there are."""
    first = count = 0
    for number, _ in numbered:
        if count and number == first + count:
            count += 1
            continue
        if count:
            yield first, count
        first, count = number, 1
    if count:
        yield first, count


class RootObjects(SharedObjects):
    """What rank 0 and each worker know of each other's objects.

    ``fetch`` brings a message by rank and number, which only has to be asked for.
    """

    def __init__(self, *sources: Callable[[], Sequence[Any]]) -> None:
        super().__init__(*sources)
        self.fetch: Callable[[int, int], bytes | bytearray] | None = None
        self._sent: dict[int, Numbering] = {}
        self._from: dict[int, _FromWorker] = {}

    def pack(
        self,
        value: Any,
        target: int,
        *,
        numbered: bool = True,
        plain: bool = False,
        taken_apart: Reducer = _never,
    ) -> bytes:
        """See `SharedObjects`."""
        if plain:
            return _plain(value)
        table = self._sent_to(target)
        count = len(table)
        pickled, pickler = write(value, table, taken_apart)
        if numbered:
            table.extend_later(partial(met_by_pickler, pickler))
        return _HEADER.pack(0 if numbered else _NONE, count) + pickled

    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """See `SharedObjects`."""
        number, count, _ = _headed(data)
        if count < 0:
            return self._read(source, data)
        worker = self._from[source]
        return worker.values.pop(number) if number in worker.values else self._read(source, data)

    def expect(self, rank: int, provenance: Sequence[Provenance]) -> None:
        """A rank has ended: where the objects are that are numbers in its messages."""
        self._from[rank] = _FromWorker(self.known.objects, provenance)

    def arrived(self, data: bytes | bytearray, source: int) -> None:
        """See `SharedObjects`."""
        number, count, _ = _headed(data)
        if number != _NONE and count >= 0:
            self._from[source].waiting[number] = data

    def bring(self, rank: int, number: int) -> Any:
        """The value of a message that has to be asked for; it may have been needed already."""
        worker = self._from[rank]
        if number not in worker.values:
            self._read_early(rank, number)
        return worker.values.pop(number)

    def bring_missing(self) -> None:
        """Read the messages that have to be asked for and that others may need still."""
        for rank, worker in self._from.items():
            for number in worker.missing():
                self._read_early(rank, number)

    def close(self) -> None:
        """Give up everything but what all ranks know."""
        self._sent, self._from = {}, {}

    def _sent_to(self, target: int) -> Numbering:
        if target not in self._sent:
            self._sent[target] = self.known.copy()
        return self._sent[target]

    def _read(self, rank: int, data: bytes | bytearray) -> Any:
        number, count, pickled = _headed(data)
        if count < 0:
            return pickle.loads(pickled)
        worker = self._from[rank]
        unpickler = reader(pickled, self._objects(rank, count))
        value = unpickler.load()
        worker.waiting.pop(number, None)
        worker.note(number, unpickler)
        return value

    def _objects(self, rank: int, count: int) -> list[Any]:
        """The first objects that a rank's messages refer to by number."""
        worker = self._from[rank]
        while len(worker.objects) < count:
            stretch = worker.next_stretch()
            last = stretch.first + stretch.count
            if stretch.receiver:
                worker.objects += self._sent_to(stretch.receiver).objects[stretch.first : last]
                continue
            if stretch.message not in worker.brought:
                self._read_early(rank, stretch.message)
            brought = worker.brought[stretch.message]
            worker.objects += (brought[place] for place in range(stretch.first, last))
        return worker.objects[:count]

    def _read_early(self, rank: int, number: int) -> None:
        """Read a message before its turn; its value waits."""
        worker = self._from[rank]
        data = worker.waiting.get(number)
        if data is None:
            assert self.fetch is not None, "a message that can no longer be asked for"
            data = self.fetch(rank, number)
        worker.values[number] = self._read(rank, data)


class _FromWorker:
    """What rank 0 knows of a worker's objects.

    ``objects`` are those found so far of the numbered ones, ``values`` those of messages read before their
    turn, ``waiting`` messages not read yet; ``brought`` are the objects that messages have brought and others
    refer to, by message and number.
    """

    def __init__(self, known: Sequence[Any], provenance: Sequence[Provenance]) -> None:
        self.objects = list(known)
        self.values: dict[int, Any] = {}
        self.waiting: dict[int, bytes | bytearray] = {}
        self.brought: dict[int, dict[int, Any]] = {}
        self._provenance = provenance
        self._next = 0

    def next_stretch(self) -> Provenance:
        """Where the objects that come next are."""
        self._next += 1
        return self._provenance[self._next - 1]

    def missing(self) -> Iterator[int]:
        """The messages to which numbers refer and that have not come."""
        own = {stretch.message for stretch in self._provenance if not stretch.receiver}
        return (number for number in sorted(own) if number not in self.brought.keys() | self.waiting.keys())

    def note(self, number: int, unpickler: Any) -> None:
        """Keep those of the objects in a message that others refer to."""
        wanted = [each for each in self._provenance if not each.receiver and each.message == number]
        if wanted:
            memo = unpickler.memo.copy()
            places = (place for each in wanted for place in range(each.first, each.first + each.count))
            self.brought[number] = {place: memo[place] for place in places}
