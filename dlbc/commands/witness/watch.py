"""The monitor that rewritten programs call: each method is one kind of call that `rewrite` inserts.

Law: a call returns its operand and never changes what the program does. Outside annotated loops it costs next
to nothing. An access counts for every annotated loop that is running, in the thread that runs it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import Any, TypeVar

import numpy as np

from dlbc.commands.witness import elements
from dlbc.commands.witness.calls import LAZY, effects_of
from dlbc.commands.witness.record import INSERT, READ, READ_STORE, STORE, WatchedRun
from dlbc.commands.witness.register import SILENT, MonitorState

_T = TypeVar("_T")
_PLAIN = frozenset({int, float, complex, str, bytes, bool, type(None), tuple, range, slice})


class AccessMonitor(MonitorState):
    """The calls that rewritten programs make."""

    slice = slice

    def iterations(self, run: WatchedRun, iterable: Any, site: int) -> Iterator[Any]:
        """What the loop iterates over."""
        return _Iterations(self, run, self._each(iterable, site))

    # Variables

    def name(self, value: _T, token: int, name: str, kind: str, site: int) -> _T:
        """A variable is read; with an operator as ``kind``, by its own update, which `bound` records."""
        if self._on and kind == READ:
            self._variable(token, name, kind, site)
        return value

    def bound(self, token: int, name: str, kind: str, site: int, value: object) -> None:
        """A variable was bound; an update of a container happens in place and is not a binding."""
        if self._on and not isinstance(value, elements.WATCHED):
            self._variable(token, name, kind, site)

    def walrus(self, value: _T, token: int, name: str, site: int) -> _T:
        """A variable was bound within an expression."""
        if self._on:
            self._variable(token, name, STORE, site)
        return value

    # Subscripts and attributes

    def of(self, holder: _T) -> _T:
        """An object is about to be subscripted; its key is evaluated next."""
        self._pending.objects.append(holder)
        return holder

    def key(self, key: _T, site: int, kind: str) -> _T:
        """The subscript has been evaluated; the access follows."""
        holder = self._pending.objects.pop()
        if kind == STORE and self._pending.value is not None:
            self._stored_value(holder)
        if self._on and holder.__class__ not in _PLAIN:
            self._subscript(holder, key, site, kind)
        return key

    def _subscript(self, holder: Any, key: Any, site: int, kind: str) -> None:
        if isinstance(holder, (*elements.WATCHED, np.flatiter)):
            for part in key if isinstance(key, tuple) else (key,):
                if isinstance(part, (np.ndarray, list)):
                    self.record_access(elements.whole(part), READ, site, part)
            self._item(holder, key, site, kind)
        elif not isinstance(holder, SILENT) and not self.is_rewritten(type(holder), "__getitem__"):
            self.note_unwatched(f"the elements of `{type(holder).__name__}` objects", site)

    def _item(self, holder: Any, key: Any, site: int, kind: str) -> None:
        keys = elements.item(holder, key)
        if kind not in (READ, STORE, "delete"):  # `rows[i] += x` may change the element in place
            self.inplace(_held(holder, key), kind, site)
        if kind == READ:
            self._place(holder, key)
            if elements.gives_view(holder, key):
                return
            if isinstance(holder, defaultdict) and keys and key not in holder:
                kind = READ_STORE
                self.record_access([elements.length(holder)], INSERT, site, holder)
        elif isinstance(holder, dict):
            kind = INSERT if kind == STORE else kind
            if keys and (kind == "delete" or key not in holder):
                resizing = READ_STORE if kind == "delete" else INSERT
                self.record_access([elements.length(holder)], resizing, site, holder)
        elif isinstance(holder, elements.SEQUENCES) and kind == "delete":
            keys = elements.whole(holder)
        elif isinstance(holder, elements.SEQUENCES) and isinstance(key, slice):
            self._pending.resized = (holder, len(holder), site)
        self.record_access(keys, READ_STORE if kind == "delete" else kind, site, holder)

    def _place(self, holder: Any, key: Any) -> None:
        found = _held(holder, key)
        if isinstance(found, elements.WATCHED) or hasattr(found, "__dict__"):
            self.names.place(found, holder, f"[{key!r}]")

    def attribute(self, holder: _T, name: str, site: int, kind: str) -> _T:
        """An attribute of an object is about to be accessed."""
        if kind == STORE and self._pending.value is not None:
            self._stored_value(holder if name in ("flat", "real", "imag") else None)
        if self._on and holder.__class__ not in _PLAIN:
            self._attribute(holder, name, site, kind)
        return holder

    def _attribute(self, holder: Any, name: str, site: int, kind: str) -> None:
        if isinstance(holder, np.ndarray) and kind != READ:
            part = getattr(holder, name) if name in ("real", "imag") else holder
            self.record_access(elements.whole(part), kind, site, holder)
            return
        own = getattr(holder, "__dict__", None) if not isinstance(holder, super) else None
        descriptor = getattr(type(holder), name, None)
        slot = hasattr(descriptor, "__set__") and not isinstance(descriptor, property)
        if isinstance(holder, elements.WATCHED) or (own is None and not slot):
            return
        if kind != READ or slot or (own is not None and name in own):
            found = own.get(name) if own is not None else None
            if isinstance(found, elements.WATCHED) or hasattr(found, "__dict__"):
                self.names.place(found, holder, f".{name}")
            if kind not in (READ, STORE) and isinstance(found, elements.WATCHED):
                self.inplace(found, kind, site)
            else:
                self.record_access([elements.attribute(holder, name)], kind, site, holder)

    def value(self, value: _T, site: int) -> _T:
        """A value is about to be stored to an element; an array copies it, which reads it."""
        self._pending.value = (value, site) if isinstance(value, elements.WATCHED) else None
        return value

    def _stored_value(self, holder: object) -> None:
        value, self._pending.value = self._pending.value, None
        if value and isinstance(holder, np.ndarray) and holder.dtype != object:
            self.deep(*value)

    def resized(self) -> None:
        """A slice was stored to; if that changed the length, all later elements have moved."""
        known, self._pending.resized = self._pending.resized, None
        if self._on and known and len(known[0]) != known[1]:
            self.record_access(elements.whole(known[0]), STORE, known[2], known[0])

    # Whole containers

    def use(self, value: _T, site: int) -> _T:
        """An operand: if it is a container, an operation reads all of it."""
        if self._on and value.__class__ not in _PLAIN and isinstance(value, elements.WATCHED):
            self.record_access(elements.whole(value), READ, site, value)
        return value

    def deep(self, value: _T, site: int) -> _T:
        """A value that is read together with all containers in it."""
        if self._on:
            self.record_access(elements.deep(value), READ, site, value)
        return value

    def truth(self, value: _T, site: int) -> _T:
        """A condition, which reads the length of a container."""
        if self._on and isinstance(value, np.ndarray):
            return self.use(value, site)
        if self._on and isinstance(value, elements.WATCHED):
            self.record_access([elements.length(value)], READ, site, value)
        return value

    def inplace(self, value: object, kind: str, site: int) -> None:
        """An update that changes a container in place."""
        if self._on and isinstance(value, np.ndarray):
            self.record_access(elements.whole(value), kind, site, value)
        elif self._on and isinstance(value, elements.WATCHED):
            self.record_access([elements.length(value)], kind, site, value)

    def sought(self, value: _T) -> _T:
        """The left operand of `in`; the container is evaluated next."""
        self._pending.objects.append(value)
        return value

    def member(self, holder: _T, site: int) -> _T:
        """The container, the right operand of `in`."""
        value = self._pending.objects.pop()
        if self._on and holder.__class__ not in _PLAIN:
            keyed = isinstance(holder, elements.KEYED)
            keys = elements.item(holder, value) if keyed else elements.whole(holder)
            self.record_access(keys, READ, site, holder)
        return holder

    def items(self, value: Any, site: int) -> Any:
        """The iterable of a loop or comprehension: each element is read when it is drawn."""
        return self._each(value, site) if self._on else value

    def _each(self, value: Any, site: int) -> Any:
        if isinstance(value, np.ndarray) and value.ndim == 1:
            addresses: list[int] = elements.addresses(value).tolist()
            return self._sequence(value, addresses, site)
        if isinstance(value, elements.SEQUENCES):
            return self._sequence(value, None, site)
        if isinstance(value, elements.KEYED):
            self._read(list(elements.whole(value))[:1], site, value)
        elif hasattr(value, "__next__") and self._on:
            self.record_access([elements.position(value)], READ_STORE, site, value)
        return value

    def _sequence(self, value: Any, keys: list[int] | None, site: int) -> Iterator[Any]:
        for number, found in enumerate(value):
            key: Hashable = keys[number] if keys is not None else (id(value), "item", number)
            if self._on and keys is None:
                self._place(value, number)
            self._read([key], site, value)
            yield found
        if keys is None:
            self._read([elements.length(value)], site, value)

    def _read(self, keys: Iterable[Hashable], site: int, holder: Any) -> None:
        if self._on:
            self.record_access(keys, READ, site, holder)

    # Calls

    def callee(self, function: _T, site: int, kind: str, arguments: int) -> _T:
        """A function is about to be called; its arguments are evaluated next."""
        if arguments:
            self._pending.calls.append((function, site, kind, []))
        elif self._on:
            effects_of(self, function, [], kind, site)
        return function

    def argument(self, value: Any, name: str | None, last: bool, text: str | None) -> Any:
        """One of the arguments."""
        function, site, kind, given = self._pending.calls[-1]
        if self._active and function in LAZY and isinstance(value, elements.WATCHED):
            value = self._each(value, site)
        given.append((name, value))
        if self._on and text and (isinstance(value, elements.WATCHED) or hasattr(value, "__next__")):
            self.names.hint(value, text)
        if last:
            self._pending.calls.pop()
            if self._on:
                effects_of(self, function, given, kind, site)
        return value

    def is_rewritten(self, function: Any, method: str = "__init__") -> bool:
        """Whether its code belongs to a rewritten file, and so reports its own accesses."""
        if isinstance(function, type):
            function = getattr(function, method, None)
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        return code is not None and code.co_filename in self.files


def _held(holder: Any, key: Any) -> Any:
    """The item of a list or dictionary at ``key``, found without running code of the program, or None."""
    try:
        if isinstance(holder, list):
            return list.__getitem__(holder, key)
        return dict.get(holder, key) if isinstance(holder, dict) else None
    except (LookupError, TypeError):
        return None


class _Iterations:
    """The values of an annotated loop; drawing a value belongs to its iteration."""

    def __init__(self, watch: AccessMonitor, run: WatchedRun, iterable: Any) -> None:
        self._watch, self._run = watch, run
        self._next: Callable[[], Any] = iter(iterable).__next__

    def __iter__(self) -> _Iterations:
        return self

    def __next__(self) -> Any:
        self._watch.begin(self._run)
        try:
            return self._next()
        except BaseException:
            self._watch.end(self._run)
            raise
