"""Runs an annotated program alone and records which iteration touches which element: what is really so.

Theory: two iterations of a do-all conflict where both touch a place in memory and one of them stores to it.
Places are addresses (numpy arrays: views of each other share them), list slots and dictionary keys by the
identity of their object, attributes, and names. A name that the body binds is the iteration's own
(privatization), so it conflicts only where an iteration reads it before it has bound it.

The program's syntax tree is instrumented (`tests.proofs.instrument`), and its lists, dictionaries and arrays
are replaced by recording subclasses. Nothing of the compiler is used here: this is what its verdicts are held
to.
"""

from __future__ import annotations

import contextlib
import io
import types
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.proofs.instrument import RECORDER, instrumented

__all__ = ["Conflict", "Run", "record"]

Place = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two iterations, by their positions, that touch the same place."""

    place: Place
    first: int
    second: int


@dataclass
class Run:
    """One execution of an annotated loop.

    ``items``: values of the loop's targets, by iteration. ``touched``: of each place, which iterations
    touched it, and whether they stored. ``exposed``, ``bound``: iterations that read a name before they bound
    it, and that bound it.
    """

    line: int
    scope: Mapping[str, Any]
    items: list[dict[str, Any]] = field(default_factory=list)
    touched: dict[Place, dict[int, bool]] = field(default_factory=dict)
    exposed: dict[str, set[int]] = field(default_factory=dict)
    bound: dict[str, set[int]] = field(default_factory=dict)

    def touch(self, place: Place, stores: bool) -> None:
        at, by = len(self.items) - 1, self.touched.setdefault(place, {})
        by[at] = by.get(at, False) or stores

    def conflicts(self) -> Iterator[Conflict]:
        """One conflict of every place and name that has any."""
        for place, by in self.touched.items():
            stored = next((p for p, stores in by.items() if stores), None)
            other = next((p for p in by if p != stored), None)
            if stored is not None and other is not None:
                yield Conflict(place, *sorted((stored, other)))
        for name, readers in self.exposed.items():
            for reader in readers:
                for writer in self.bound.get(name, set()) - {reader}:
                    yield Conflict(("name", name), *sorted((reader, writer)))

    def meet(self, index: str, first: int, second: int, element: str) -> bool:
        """Whether the iterations with these values of ``index`` conflict in the element written so."""
        pair = [[p for p, item in enumerate(self.items) if item.get(index) == v] for v in (first, second)]
        if any(len(found) != 1 for found in pair) or pair[0] == pair[1]:
            return False
        [[one], [other]] = pair
        return any(
            one in by and other in by and (by[one] or by[other])
            for place in _places_of(element, self.scope)
            if (by := self.touched.get(place)) is not None
        )


class _Recorder:
    """What the instrumented program calls."""

    def __init__(self) -> None:
        self.runs: list[Run] = []
        self.current: Run | None = None
        self.kept: list[object] = []  # nothing recorded is freed: addresses stay unique

    def loop(self, items: Iterable[Any], line: int, scope: Mapping[str, Any]) -> Iterator[Any]:
        if self.current is not None:
            yield from items
            return
        run = Run(line, dict(scope))
        self.runs.append(run)
        for item in list(items) if isinstance(items, RecordingList) else items:
            self.current = run
            run.items.append({})
            yield item
        self.current = None

    def begin(self, targets: dict[str, Any]) -> None:
        if self.current is not None:
            self.current.items[-1].update(targets)
            for name in targets:
                self.bind(name)

    def wrap(self, value: Any) -> Any:
        """A new object in its recording form; an array as a recording view of the same memory."""
        if type(value) is np.ndarray:
            self.kept.append(value)
            return value.view(RecordingArray)
        if type(value) is list:
            return RecordingList(value)
        if type(value) is dict:
            return RecordingDict(value)
        return value

    def load(self, name: str, value: Any) -> Any:
        run = self.current
        if run is not None and len(run.items) - 1 not in run.bound.get(name, ()):
            run.exposed.setdefault(name, set()).add(len(run.items) - 1)
        return value

    def bind(self, name: str) -> None:
        if self.current is not None:
            self.current.bound.setdefault(name, set()).add(len(self.current.items) - 1)

    def attribute(self, owner: Any, name: str) -> Any:
        if not isinstance(owner, types.ModuleType):
            self._touch_attribute(owner, name, False)
        return getattr(owner, name)

    def set_attribute(self, owner: Any, name: str) -> None:
        self._touch_attribute(owner, name, True)

    def _touch_attribute(self, owner: Any, name: str, stores: bool) -> None:
        if self.current is not None:
            self.kept.append(owner)
            self.current.touch(("attribute", id(owner), name), stores)

    def touch(self, place: Place, stores: bool) -> None:
        if self.current is not None:
            self.current.touch(place, stores)


_active: list[_Recorder] = []


def record(text: str) -> list[Run]:
    """The runs of the annotated loops of a program, which is executed without its output."""
    recorder = _Recorder()
    _active.append(recorder)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(instrumented(text), "recorded.py", "exec"),
                 {"__name__": "__main__", RECORDER: recorder})  # fmt: skip
    finally:
        _active.pop()
    return recorder.runs


def _touch(place: Place, stores: bool) -> None:
    if _active:
        _active[-1].touch(place, stores)


def _recording() -> bool:
    return bool(_active) and _active[-1].current is not None


class RecordingList(list[Any]):
    """A list that tells which slots are touched; its end is a place too."""

    def __init__(self, items: Iterable[Any] = ()) -> None:
        super().__init__(items)
        if _active:
            _active[-1].kept.append(self)

    def __getitem__(self, key: Any) -> Any:
        self._touched(key, False)
        found = super().__getitem__(key)
        return RecordingList(found) if isinstance(key, slice) else found

    def __setitem__(self, key: Any, value: Any) -> None:
        self._touched(key, True)
        super().__setitem__(key, value)

    def __iter__(self) -> Iterator[Any]:
        for position, item in enumerate(super().__iter__()):
            _touch(("slot", id(self), position), False)
            yield item

    def append(self, item: Any) -> None:
        _touch(("end", id(self)), True)
        super().append(item)

    def pop(self, *at: Any) -> Any:
        _touch(("end", id(self)), True)
        return super().pop(*at)

    def __len__(self) -> int:
        _touch(("end", id(self)), False)
        return super().__len__()

    def __mul__(self, times: Any) -> RecordingList:
        return RecordingList(super().__mul__(times))

    def __add__(self, other: Any) -> RecordingList:
        return RecordingList([*self, *other])

    def copy(self) -> RecordingList:
        return RecordingList([*self])

    def _touched(self, key: Any, stores: bool) -> None:
        if _recording():
            for position in slots(self, key):
                _touch(("slot", id(self), position), stores)


def slots(items: list[Any], key: Any) -> Iterable[int]:
    """The positions that a subscript of a list denotes, as Python counts them."""
    size = list.__len__(items)
    if isinstance(key, slice):
        return range(*key.indices(size))
    return (key + size if key < 0 else int(key),)


class RecordingDict(dict[Any, Any]):
    """A dictionary that tells which keys are touched."""

    def __getitem__(self, key: Any) -> Any:
        _touch(("key", id(self), key), False)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        _touch(("key", id(self), key), True)
        super().__setitem__(key, value)

    def __contains__(self, key: object) -> bool:
        _touch(("key", id(self), key), False)
        return super().__contains__(key)

    def get(self, key: Any, default: Any = None) -> Any:
        _touch(("key", id(self), key), False)
        return super().get(key, default)


class RecordingArray(np.ndarray[Any, Any]):
    """An array that tells which addresses are touched; a view of it tells when it is used."""

    def __getitem__(self, key: Any) -> Any:
        found = super().__getitem__(key)
        view = isinstance(found, np.ndarray) and np.may_share_memory(_plain(found), _plain(self))
        if _recording() and not view:
            _touch_addresses(addresses(self)[key], False)
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        if _recording():
            _touch_addresses(addresses(self)[key], True)
            _read(value)
        super().__setitem__(key, _plain(value))

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        out = options.get("out", ())
        for value in inputs:
            _read(value)
        for value in out:
            _written(value)
        if out:
            options["out"] = tuple(map(_plain, out))
        result = getattr(ufunc, method)(*map(_plain, inputs), **options)
        return out[0] if len(out) == 1 else _active[-1].wrap(result) if _active else result

    def __array_function__(self, function: Any, kinds: Any, arguments: Any, options: Any) -> Any:
        for value in (*arguments, *options.values()):
            _read(value)
        result = function(*map(_plain, arguments), **{k: _plain(v) for k, v in options.items()})
        return _active[-1].wrap(result) if _active else result

    def copy(self, order: Any = "C") -> Any:
        _read(self)
        return _active[-1].wrap(_plain(self).copy(order)) if _active else _plain(self).copy(order)

    def tolist(self) -> Any:
        _read(self)
        return _plain(self).tolist()

    def fill(self, value: Any) -> None:
        _written(self)
        _plain(self).fill(value)

    def sort(self, *arguments: Any, **options: Any) -> None:
        _written(self)
        _plain(self).sort(*arguments, **options)


def addresses(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Where each element lies."""
    found = np.full(array.shape, array.__array_interface__["data"][0], np.int64)
    for axis, (size, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        shape = [size if k == axis else 1 for k in range(array.ndim)]
        found += (np.arange(size) * stride).reshape(shape)
    return found


def _touch_addresses(found: Any, stores: bool) -> None:
    for address in np.ravel(found).tolist():
        _touch(("address", address), stores)


def _read(value: Any) -> None:
    if isinstance(value, RecordingArray) and _recording():
        _touch_addresses(addresses(value), False)
    elif isinstance(value, list | tuple):
        for part in value:
            _read(part)


def _written(value: Any) -> None:
    if isinstance(value, RecordingArray) and _recording():
        _touch_addresses(addresses(value), True)


def _plain(value: Any) -> Any:
    if isinstance(value, RecordingArray):
        return value.view(np.ndarray)
    if type(value) in (list, tuple):
        return type(value)(map(_plain, value))
    return value


def _places_of(element: str, scope: Mapping[str, Any]) -> list[Place]:
    """The places of an element written as Python writes it, all of its numbers literal."""
    owner_text, _, key_text = _split(element)
    owner = eval(owner_text, dict(scope))
    key = eval(f"__keys__[{key_text}]", {"__keys__": _Keys()})
    if isinstance(owner, np.ndarray):
        return [("address", a) for a in np.ravel(addresses(owner)[key]).tolist()]
    if isinstance(owner, dict):
        return [("key", id(owner), key)]
    assert not isinstance(key, tuple), (
        f"`{element}`: `{owner_text}` is a list, which takes one subscript at a time"
    )
    return [("slot", id(owner), p) for p in slots(owner, key)]


class _Keys:
    def __getitem__(self, key: Any) -> Any:
        return key


def _split(element: str) -> tuple[str, str, str]:
    """``A[1][2, 3]`` -> ``A[1]``, ``[``, ``2, 3``."""
    assert element.endswith("]"), element
    return element[:-1].rpartition("[")
