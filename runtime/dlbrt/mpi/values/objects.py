"""Objects keep their identity, whichever messages of a run bring them to a rank.

The objects that a call brings to every rank are known to all by number. What rank 0 sends to a worker
afterwards, in rows of lists, goes on from there, message by message, and so does what the worker sends back,
in rows, journals and final values: an object that a message has brought is a number in all later ones, be it
an object of the program in a new one or one that an iteration keeps in several places. What a worker has got
in rows is a number on the way back too: the worker says at the end which objects became known before which
message (`Arrival`).

A worker's messages have to be read in the order in which they were written. Where rank 0 reads one sooner, it
reads those before it first, and their values wait. Messages of nothing but atoms are not among them.
Everything numbered is kept alive until the run ends.
"""

from __future__ import annotations

import pickle
import struct
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

from dlbrt.mpi.values.caches import KeptResults
from dlbrt.mpi.values.generators import columns_of, pools_of
from dlbrt.mpi.values.pickles import Numbering, Reader, Reducer, Writer
from dlbrt.mpi.values.taken_apart import PROTOCOL, is_numeric, of_array, owner_of
from dlbrt.records import dataclass
from dlbrt.reductions.operations import IMMUTABLE

#: Before each pickle: the number of the message among those of its rank, and how many objects are known
#: before it; `_PLAIN`: none matters, `_NEXT`: those of all numbered messages so far, which it goes on from.
#: `_SEEDS`: the same, and the pickle is of `SeedColumns`.
_HEADER = struct.Struct("<qq")
_PLAIN, _NEXT, _SEEDS = -1, -2, -3

#: How deep tuples are looked into.
_DEPTH = 4


@dataclass(frozen=True, slots=True)
class Arrival:
    """Objects that became known to a worker before its ``message``.

    They are the ``count`` objects from number ``first`` on that rank 0 has sent to the rank ``receiver``.
    """

    message: int
    receiver: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Returned:
    """What rank 0 has to know of a worker's messages: which go on from each other, and what else came."""

    numbered: tuple[int, ...] = ()
    arrivals: tuple[Arrival, ...] = ()


def without_identity(values: Iterable[Any]) -> bool:
    """Whether no object among the values has an identity that matters: atoms, and tuples of them."""
    level = values if isinstance(values, list) else list(values)
    for _ in range(_DEPTH):
        kinds = set(map(type, level)) - IMMUTABLE
        if not kinds:
            return True
        if not kinds <= {tuple, dict} or (dict in kinds and any(v for v in level if type(v) is dict)):
            return False
        level = list(chain.from_iterable(value for value in level if type(value) is tuple))
    return False


def _parts_of(seeds: Sequence[Any]) -> list[Any]:
    """The objects of seeds that are numbered."""
    return [*seeds, *pools_of(seeds)]


def _never(_: Any) -> None:
    return None


def _headed(data: bytes | bytearray) -> tuple[int, int, memoryview]:
    """The number of a message, the objects known before it, and its pickle."""
    number, count = _HEADER.unpack_from(data)
    return number, count, memoryview(data)[_HEADER.size :]


class KnownObjects:
    """The objects that the ranks of one call have in common; ``sources`` return parts of them."""

    def __init__(self, *sources: Callable[[], Sequence[Any]]) -> None:
        self._sources = sources

    @cached_property
    def known(self) -> Numbering:
        """The objects by number."""
        return Numbering(value for source in self._sources for value in source())

    def dumps(self, value: Any) -> bytes:
        """A pickle that every rank can read. Raises what the objects' own hooks raise."""
        return Writer(self.known).dump(value)

    def loads(self, data: bytes) -> Any:
        """The value of a pickle for every rank."""
        return Reader(self.known.objects).load(data)


class SharedObjects(KnownObjects, ABC):
    """The same, and what ranks have sent each other since: `WorkerObjects` or `RootObjects`."""

    @abstractmethod
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

        Unless ``numbered``, objects that come with it are not known afterwards. ``plain``: no object in it,
        nor the value itself, has an identity that matters. ``taken_apart`` returns the reduction (as
        ``__reduce__``) of objects that are not to be pickled in their own way, else None.
        """

    def pack_seeds(self, seeds: Sequence[Any], target: int) -> bytes | None:  # noqa: ARG002
        """The message that brings seeds (`are_seeds`) and no states to a rank, at less cost than by `pack`.

        None where it is not known how, or where the rank may have some of them.
        """
        return None

    def arrived(self, data: bytes | bytearray, source: int) -> None:
        """A message has come from a rank; it is read later, or when another one needs it."""

    @abstractmethod
    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """The value of a message from a rank."""


class WorkerObjects(SharedObjects):
    """What the worker ``rank`` and others know of each other's objects."""

    def __init__(self, *sources: Callable[[], Sequence[Any]], rank: int) -> None:
        super().__init__(*sources)
        self.rank = rank
        self._messages = 0  # written to rank 0
        self._numbered: list[int] = []
        self._arrivals: list[Arrival] = []
        self._arrived: list[Any] = []  # what rank 0 has sent, up to date unless `_has_news`
        self._has_news = False
        self._passed: list[tuple[Any, int, int]] = []  # by workers: object, its first receiver, number there
        self._names: dict[int, tuple[int, int]] = {}  # receiver and number there, of both
        self._taken = 0, 0  # how many of both are numbered on the way to rank 0
        self._owners: dict[int, tuple[Any, bool]] = {}

    @property
    def returned(self) -> Returned:
        """What rank 0 has to know to read what this rank has written."""
        return Returned(tuple(self._numbered), tuple(self._arrivals))

    @cached_property
    def _kept(self) -> KeptResults:
        return KeptResults()

    @cached_property
    def _from_root(self) -> Reader:
        return Reader(self.known.objects)

    @cached_property
    def _to_root(self) -> Writer:
        self._taken = len(self.known), 0
        self._note_owners(self.known.objects, alike=True)
        return Writer(self.known, tried=True)

    def pack(
        self,
        value: Any,
        target: int,
        *,
        numbered: bool = True,
        plain: bool = False,
        taken_apart: Reducer = _never,
    ) -> bytes:
        """See `SharedObjects`; not ``numbered``, and to rank 0, it may be an attempt.

        Raises as well what rank 0 would raise where the program's own classes read their pickles.
        """
        number = self._messages
        if plain:
            self._messages += target == 0
            return _HEADER.pack(number, _PLAIN) + pickle.dumps(value, PROTOCOL)
        if target:
            return self._forwarded(value, numbered=numbered)
        self._take_arrivals()

        def reduced(obj: Any) -> tuple[Any, ...] | None:
            return taken_apart(obj) or of_array(obj, lambda owner: self._owners.get(id(owner)))

        kept = self._kept.now()
        if not numbered:
            known = self._to_root.numbering
            return _HEADER.pack(number, len(known)) + Writer(known, tried=True).dump(value, reduced, kept)
        data = _HEADER.pack(number, _NEXT) + self._to_root.dump(value, reduced, kept)
        self._numbered.append(number)
        self._messages += 1
        return data

    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """See `SharedObjects`; what this rank has written and not numbered can be read as well."""
        number, count, pickled = _headed(data)
        if count == _PLAIN:
            return pickle.loads(pickled)
        if source == self.rank:
            return Reader(self._to_root.numbering.objects[:count]).load(pickled)
        if source:
            return self._taken_over(number, pickled)
        if count == _SEEDS:
            seeds = pickle.loads(pickled).seeds()
            self._has_news = True
            self._from_root.extend(_parts_of(seeds))
            return seeds, []
        if count != _NEXT:
            return Reader(self.known.objects).load(pickled)
        self._has_news = True
        return self._from_root.load(pickled)

    def _name_arrivals(self) -> None:
        """Name what has come from rank 0, by number."""
        if self._has_news:
            first = len(self._arrived) or len(self.known)
            self._arrived, self._has_news = self._from_root.objects, False
            new = enumerate(self._arrived[first:], first)
            self._names |= {id(obj): (self.rank, number) for number, obj in new}

    def _take_arrivals(self) -> None:
        """Number what has come from other ranks since the last message to rank 0."""
        self._name_arrivals()
        writer, (seen, passed) = self._to_root, self._taken
        arrived, others = self._arrived[seen:], self._passed[passed:]
        if not arrived and not others:
            return
        self._taken = seen + len(arrived), len(self._passed)
        new = [*arrived, *(obj for obj, _, _ in others)]
        writer.extend(new)
        self._note_owners(new, alike=False)
        message = self._messages
        if arrived:
            self._arrivals.append(Arrival(message, self.rank, seen, len(arrived)))
        self._arrivals += (Arrival(message, receiver, number, 1) for _, receiver, number in others)

    def _note_owners(self, objects: Iterable[Any], *, alike: bool) -> None:
        """Note what owns the memory here of arrays that rank 0 has; ``alike``: with the same strides."""
        for value in objects:
            if is_numeric(value):
                self._owners.setdefault(id(owner_of(value)), (value, alike))

    def _forwarded(self, value: Any, *, numbered: bool) -> bytes:
        """A message to another worker, which says what of it rank 0 has sent, to whom and as which number."""
        writer, found = Writer(self.known), array("q")
        pickled = writer.dump(value)
        if numbered:
            self._name_arrivals()
            for number, obj in enumerate(writer.numbering.objects):
                if id(obj) in self._names:
                    found.extend((number, *self._names[id(obj)]))
        return _HEADER.pack(len(found), _NEXT) + found.tobytes() + pickled

    def _taken_over(self, length: int, data: memoryview) -> Any:
        """The value of such a message; ``length`` is that of the list at its beginning."""
        found = array("q", data[: 8 * length].tobytes())
        reader = Reader(self.known.objects)
        value = reader.load(data[8 * length :])
        if found:
            objects = reader.objects
            for place, receiver, number in zip(found[::3], found[1::3], found[2::3], strict=True):
                self._passed.append((objects[place], receiver, number))
                self._names[id(objects[place])] = receiver, number
        return value


class RootObjects(SharedObjects):
    """What rank 0 and each worker know of each other's objects.

    ``fetch`` brings a message by rank and number that has to be asked for.
    """

    def __init__(self, *sources: Callable[[], Sequence[Any]]) -> None:
        super().__init__(*sources)
        self.fetch: Callable[[int, int], bytes | bytearray] | None = None
        self._sent: dict[int, Writer] = {}
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
            return _HEADER.pack(0, _PLAIN) + pickle.dumps(value, PROTOCOL)
        if not numbered:
            return _HEADER.pack(0, len(self.known)) + Writer(self.known).dump(value, taken_apart)
        return _HEADER.pack(0, _NEXT) + self._writer(target).dump(value, taken_apart)

    def pack_seeds(self, seeds: Sequence[Any], target: int) -> bytes | None:
        """See `SharedObjects`."""
        writer, parts = self._writer(target), _parts_of(seeds)
        if not writer.are_new(parts) or (columns := columns_of(seeds)) is None:
            return None
        writer.extend(parts)
        return _HEADER.pack(0, _SEEDS) + pickle.dumps(columns, PROTOCOL)

    def unpack(self, data: bytes | bytearray, source: int) -> Any:
        """See `SharedObjects`."""
        number, count, pickled = _headed(data)
        if count == _PLAIN:
            return pickle.loads(pickled)
        if count != _NEXT:
            self._read_before(source, number)
            return Reader(self._from[source].reader.objects[:count]).load(pickled)
        return self._value(source, number, data)

    def expect(self, rank: int, returned: Returned) -> None:
        """A rank has ended: what has to be known to read its messages."""
        worker = self._worker(rank)
        worker.unread, worker.arrivals = list(returned.numbered), list(returned.arrivals)

    def arrived(self, data: bytes | bytearray, source: int) -> None:
        """See `SharedObjects`."""
        number, count, _ = _headed(data)
        if count == _NEXT:
            self._worker(source).waiting[number] = data

    def bring(self, rank: int, number: int) -> Any:
        """The value of a message that has to be asked for; it may have been read already."""
        worker = self._from[rank]
        if number in worker.values:
            return worker.values.pop(number)
        return self.unpack(self._fetched(rank, number), rank)

    def bring_missing(self) -> None:
        """Read the messages that have to be asked for and that others may need still."""
        for rank, worker in self._from.items():
            asked = [number for number in worker.unread if number not in worker.waiting]
            if asked:
                self._read_before(rank, asked[-1] + 1)

    def close(self) -> None:
        """Give up everything but what all ranks know."""
        self._sent, self._from = {}, {}

    def _writer(self, target: int) -> Writer:
        if target not in self._sent:
            self._sent[target] = Writer(self.known)
        return self._sent[target]

    def _worker(self, rank: int) -> _FromWorker:
        if rank not in self._from:
            self._from[rank] = _FromWorker(lambda: self.known.objects)
        return self._from[rank]

    def _fetched(self, rank: int, number: int) -> bytes | bytearray:
        assert self.fetch is not None, "a message that can no longer be asked for"
        return self.fetch(rank, number)

    def _read_before(self, rank: int, number: int) -> None:
        """Read all messages with lower numbers; their values wait."""
        worker = self._worker(rank)
        while worker.unread and worker.unread[0] < number:
            earlier = worker.unread[0]
            data = worker.waiting.get(earlier) or self._fetched(rank, earlier)
            worker.values[earlier] = self._read(rank, earlier, data)
        self._add_arrivals(rank, number)

    def _value(self, rank: int, number: int, data: bytes | bytearray) -> Any:
        worker = self._from[rank]
        if number in worker.values:
            return worker.values.pop(number)
        self._read_before(rank, number)
        return self._read(rank, number, data)

    def _read(self, rank: int, number: int, data: bytes | bytearray) -> Any:
        worker = self._from[rank]
        self._add_arrivals(rank, number)
        worker.unread.remove(number)
        worker.waiting.pop(number, None)
        return worker.reader.load(_headed(data)[2])

    def _add_arrivals(self, rank: int, number: int) -> None:
        """Number what became known before a message."""
        worker = self._from[rank]
        new: list[Any] = []
        while worker.arrivals and worker.arrivals[0].message <= number:
            arrival = worker.arrivals.pop(0)
            sent = self._sent[arrival.receiver].numbering.objects
            new += sent[arrival.first : arrival.first + arrival.count]
        if new:
            worker.reader.extend(new)


class _FromWorker:
    """A worker's messages at rank 0.

    ``unread`` are the numbers of those still to be read, in order, ``waiting`` those of them that have come;
    ``values`` those of messages read before their turn; ``arrivals`` still to be numbered.
    """

    def __init__(self, known: Callable[[], Sequence[Any]]) -> None:
        self._known = known
        self.unread: list[int] = []
        self.arrivals: list[Arrival] = []
        self.waiting: dict[int, bytes | bytearray] = {}
        self.values: dict[int, Any] = {}

    @cached_property
    def reader(self) -> Reader:
        """What reads them; many workers send nothing but atoms."""
        return Reader(self._known())
