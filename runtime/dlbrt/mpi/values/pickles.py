"""Pickles whose memo begins with objects that the reader has.

A pickler gives each object that it meets a number, and writes the number where it meets the object again; an
unpickler counts alike. Both begin here with the same objects, so an object that the reader has goes as its
number and arrives as itself, whatever its type, and nothing has to be looked up for the others. Nor does the
numbering of what comes with a pickle have to be sent: reader and writer have met it in the same order.
"""

from __future__ import annotations

import copyreg
import io
import itertools
import pickle
import sys
from collections.abc import Callable, Collection, Iterable, Sequence
from operator import itemgetter
from types import FunctionType
from typing import Any

import numpy as np

from dlbrt.data.uncollected import uncollected
from dlbrt.mpi.values.class_pickles import of_class
from dlbrt.mpi.values.generators import SEEDS
from dlbrt.mpi.values.set_pickles import (
    LaidOut,
    laid_out,
    load,
    met_before,
    met_by_pickler,
    met_since,
    write_ahead,
)
from dlbrt.mpi.values.taken_apart import PROTOCOL, CodePickler, common_reduction

#: Opcodes that put the next buffer, here any object, into the memo; and the frame around them.
_NUMBER_NEXT = pickle.NEXT_BUFFER + pickle.MEMOIZE + pickle.POP
_BEGIN = pickle.PROTO + bytes([PROTOCOL]) + pickle.FRAME
_END = pickle.NONE + pickle.STOP

_READING_HOOKS = (
    "__reduce__",
    "__reduce_ex__",
    "__setstate__",
    "__getnewargs__",
    "__getnewargs_ex__",
    "__new__",
)

Reducer = Callable[[Any], "tuple[Any, ...] | None"]

#: An object with its number in a pickler's memo.
Entry = tuple[int, Any]


_NUMBER = itemgetter(0)


class _Filler:
    """Takes a number that no object may have twice."""

    __slots__ = ()


class Numbering:
    """Objects by number; kept alive, so that no other object takes over an identity."""

    def __init__(self, objects: Iterable[Any] = ()) -> None:
        self.objects: list[Any] = []
        self.memo: dict[int, Entry] = {}
        self.extend(objects)

    def __len__(self) -> int:
        return len(self.objects)

    def extend(self, objects: Iterable[Any]) -> None:
        """Give objects the next numbers."""
        memo, known, new = self.memo, self.objects, list(objects)
        ids = list(map(id, new))
        if len(set(ids)) == len(ids) and memo.keys().isdisjoint(ids):
            with uncollected():
                memo.update(zip(ids, zip(itertools.count(len(known)), new, strict=False), strict=True))
            known += new
            return
        for value in new:
            entry = len(known), value if id(value) not in memo else _Filler()
            memo[id(entry[1])] = entry
            known.append(value)


class Pickler(CodePickler):
    """cloudpickle, with the objects of ``numbering`` as numbers.

    ``taken_apart`` returns the reduction (as ``__reduce__``) of objects that are not to be pickled in their
    own way, else None.
    """

    def __init__(self, file: io.BytesIO, numbering: Numbering) -> None:
        super().__init__(file, protocol=PROTOCOL)
        self.memo = numbering.memo
        self.taken_apart: Reducer = lambda _: None
        self.has_hooks = False  # whether a class of the program has its own way of being read
        self._classes: set[type] = set()  # those without; classes that outlived a run would hold their module
        self._many: set[type] = set()  # those among them of which `_is_of_numpy`

    def reducer_override(self, obj: Any) -> Any:
        """See `pickle.Pickler`."""
        kind = type(obj)
        if kind in self._many:
            # What the pickler would find in the end; there may be one such object for each iteration.
            return self.taken_apart(obj) or obj.__reduce_ex__(PROTOCOL)
        if not self.has_hooks and kind not in self._classes:
            self.has_hooks = _has_hooks(kind)
            self._classes.add(kind)
            if _is_of_numpy(kind):
                self._many.add(kind)
        reduced = self.taken_apart(obj) or common_reduction(obj) or super().reducer_override(obj)
        return of_class(obj, reduced) if isinstance(obj, type) else reduced


def _is_of_numpy(kind: type) -> bool:
    """Whether objects of a class are arrays or seeds, of which there may be many, that nobody reduces."""
    many = kind is np.ndarray or (kind.__name__ == "SeedSequence" and kind.__module__ == SEEDS)
    return many and kind not in copyreg.dispatch_table


class Writer:
    """Writes pickles with one memo, which begins with the objects of ``numbering``.

    Each is of a list with the value, which so has the first number of the pickle. ``tried``: what hooks of
    the program's own classes are going to read is read here first.
    """

    def __init__(self, numbering: Numbering, *, tried: bool = False) -> None:
        self._tried = tried
        self._file = io.BytesIO()
        self._pickler = Pickler(self._file, numbering)
        self._snapshot: Numbering | None = numbering
        self._added: list[Any] = []  # objects to be numbered next

    @property
    def numbering(self) -> Numbering:
        """The objects met so far."""
        if self._snapshot is None:
            self._snapshot = Numbering(met_by_pickler(self._pickler))
        self._number_added()
        return self._snapshot

    def dump(self, value: Any, taken_apart: Reducer = lambda _: None, kept: Collection[int] = ()) -> bytes:
        """The next pickle. Raises what the objects' own hooks raise, and is then as before.

        TypeError where it is the first to bring one of the objects with the identities ``kept``.
        """
        self._number_added()
        begun = [value]
        first: list[Any] = begun  # the first object met
        try:
            data = self._pickled(begun, taken_apart)
            sets = laid_out(data, self._pickler, begun)
            if sets:
                self._restart(Numbering(met_before(self._pickler, begun)))
                first = []
                data = self._pickled(begun, taken_apart, sets, first)
            if kept and any(id(met) in kept for met in met_since(self._pickler, first)):
                raise TypeError("iterations keep what a function has in its cache, and each rank has its own")
            if self._tried and self._pickler.has_hooks:
                Reader(met_before(self._pickler, first)).load(data)
        except BaseException:
            self._restart(Numbering(met_before(self._pickler, first)))
            raise
        return data

    def _pickled(
        self,
        begun: list[Any],
        taken_apart: Reducer,
        sets: Sequence[LaidOut] = (),
        first: list[Any] | None = None,
    ) -> bytes:
        pickler, self._snapshot = self._pickler, None
        self._file.seek(0)
        self._file.truncate()
        pickler.taken_apart = taken_apart
        pickler.has_hooks = False
        if first is not None:
            write_ahead(pickler, sets, first)
        with uncollected():
            pickler.dump(begun)
        return self._file.getvalue()

    def extend(self, objects: Iterable[Any]) -> None:
        """Number objects that the reader numbers alike, as soon as any number is needed."""
        self._added += objects

    def are_new(self, objects: Collection[Any]) -> bool:
        """Whether each of these is another object, and none has a number or will have one."""
        ids, met = set(map(id, objects)), self._pickler.memo.copy()
        return len(ids) == len(objects) and ids.isdisjoint(met) and ids.isdisjoint(map(id, self._added))

    def _number_added(self) -> None:
        added, self._added = self._added, []
        if added:
            numbering = Numbering(self.numbering.objects)
            numbering.extend(added)
            self._restart(numbering)

    def _restart(self, numbering: Numbering) -> None:
        self._pickler = Pickler(self._file, numbering)
        self._snapshot, self._added = numbering, []


class Reader:
    """Reads pickles that a `Writer` has written, in the same order; the memo begins with ``objects``."""

    def __init__(
        self, objects: Sequence[Any], kind: Callable[..., pickle.Unpickler] = pickle.Unpickler
    ) -> None:
        self._kind = kind
        self._obstacle: str | None = None
        self._added: list[Any] = []  # objects to be numbered next
        self._begin(objects)

    @property
    def objects(self) -> list[Any]:
        """The objects met so far."""
        self._number_added()
        with uncollected():
            return [value for _, value in sorted(self._unpickler.memo.copy().items(), key=_NUMBER)]

    def load(self, data: bytes | bytearray | memoryview) -> Any:
        """The value of the next pickle; after one that could not be read, the numbers of none are known."""
        if self._obstacle is not None:
            raise pickle.UnpicklingError(self._obstacle)
        self._number_added()
        try:
            (value,) = self._load(data)
        except BaseException as error:  # objects' own pickling hooks may raise anything
            self._obstacle = str(error)
            raise
        return value

    def extend(self, objects: Iterable[Any]) -> None:
        """Number objects that the writer numbers alike, as soon as any number is needed."""
        self._added += objects

    def _number_added(self) -> None:
        added, self._added = self._added, []
        if added:
            self._begin([*self.objects, *added])

    def _begin(self, objects: Sequence[Any]) -> None:
        self._stream = io.BytesIO()
        self._unpickler: Any = self._kind(self._stream, buffers=iter(objects))
        numbers = _NUMBER_NEXT * len(objects) + _END
        self._load(b"".join((_BEGIN, len(numbers).to_bytes(8, "little"), numbers)))

    def _load(self, data: bytes | bytearray | memoryview) -> Any:
        self._stream.seek(0)
        self._stream.truncate()
        self._stream.write(data)
        self._stream.seek(0)
        with uncollected():
            return load(self._unpickler, self._stream)


def _has_hooks(kind: type) -> bool:
    """Whether the program says how objects of a class are read: that may fail where writing did not."""
    hooks = (getattr(kind, name, None) for name in _READING_HOOKS)
    return any(isinstance(hook, FunctionType) and not _is_installed(hook) for hook in hooks)


def _is_installed(function: FunctionType) -> bool:
    """Whether a function is of the standard library, made by it, or of an installed package."""
    return function.__code__.co_filename.startswith((sys.prefix, sys.base_prefix, "<", "namedtuple_"))
