"""The effects of functions that are not rewritten on the elements of their arguments.

Functions have rows in `dlbc.library`, by their names; the methods of builtin containers have rules here. A
function that is in neither is not watched, and the report says so.
"""

from __future__ import annotations

import collections
import functools
import io
import itertools
import random
import sys
from collections.abc import Hashable, Iterable
from typing import Any, Protocol

import numpy as np

from dlbc.commands.witness import elements
from dlbc.commands.witness.record import APPEND, INSERT, READ, READ_STORE, STORE
from dlbc.library.row import EffectKind, LibraryCall, Reads, ResultKind
from dlbc.library.table import is_pure, lookup

CallArguments = list[tuple[str | None, Any]]


class AccessListener(Protocol):
    """The interface of the monitor that receives the effects."""

    def record_access(self, keys: Iterable[Hashable], kind: str, site: int, holder: Any) -> None:
        """Record an access to elements."""

    def note_unwatched(self, what: str, site: int) -> None:
        """Note something that is not watched."""

    def is_rewritten(self, function: Any, method: str = "__init__") -> bool:
        """Whether the function reports its own accesses."""


class _Functions(tuple[Any, ...]):
    """Functions, compared by identity, since some callables have no hash."""

    def __contains__(self, function: object) -> bool:
        return any(function is known for known in self)


#: These draw from their arguments one by one, and get iterators that report each element.
LAZY = _Functions(
    [enumerate, zip, map, filter, iter, *(v for v in vars(itertools).values() if isinstance(v, type))]
)
_RANDOM = (np.random.Generator, np.random.RandomState, random.Random)


def effects_of(watch: AccessListener, function: Any, given: CallArguments, kind: str, site: int) -> None:
    """Report to ``watch`` the effects of calling ``function``; ``kind`` is that of a read in an update."""
    if isinstance(function, functools.partial):
        bound: CallArguments = [*((None, a) for a in function.args), *function.keywords.items()]
        return effects_of(watch, function.func, [*bound, *given], kind, site)
    if watch.is_rewritten(function) or function in LAZY:
        return None
    call = _Call(watch, function, given, kind, site)
    for name, argument in given:
        if name in ("*", "**"):
            call.record_access(elements.whole(argument), READ, argument)
            call.given += argument if isinstance(argument, list | tuple) else ()
    return call.apply()


class _Call:
    def __init__(
        self, watch: AccessListener, function: Any, given: CallArguments, kind: str, site: int
    ) -> None:
        self.watch, self.function, self.kind, self.site = watch, function, kind, site
        self.given = [value for name, value in given if name in (None, "*", "**")]
        self.named = {name: value for name, value in given if name not in (None, "*", "**")}
        self.word = str(getattr(function, "__name__", ""))
        self.module = str(getattr(function, "__module__", None) or "")
        numpys = isinstance(function, np.ufunc)
        self.name = f"numpy.{self.word}" if numpys else f"{self.module.lstrip('_')}.{self.word}"

    def record_access(self, keys: Iterable[Hashable], kind: str, holder: Any) -> None:
        self.watch.record_access(keys, kind, self.site, holder)

    def apply(self) -> None:
        owner = getattr(self.function, "__self__", None)
        if owner is not None and not isinstance(owner, type(sys)) and not isinstance(owner, type):
            return self._method(owner)
        row = lookup(self.name)
        if self.name.startswith("numpy."):
            return self._numpy(row)
        if self.module == "builtins":
            return self._builtin(row)
        if self.word in ("setitem", "delitem") and row.stores and len(self.given) > 1:
            return self._item_changed(*self.given)
        if row.stores_at == 0 and self.given:
            return self._changed(self.given[0])
        if is_pure(self.name) and not (row.is_effective or row.calls):
            return self._read_all()
        return self._unknown()

    # Arguments

    def _read_all(self, but: object = None) -> None:
        for value in (*self.given, *self.named.values()):
            if value is not but:
                self.record_access(elements.deep(value), READ, value)

    def _changed(self, holder: Any) -> None:
        self._read_all(but=holder)
        self.record_access(elements.whole(holder), READ_STORE, holder)

    def _item_changed(self, holder: Any, key: Any, *values: Any) -> None:
        """The item is stored to, or deleted where there are no values."""
        for value in values:
            self.record_access(elements.deep(value), READ, value)
        if not values and not isinstance(holder, dict):
            return self.record_access(elements.whole(holder), READ_STORE, holder)
        self.record_access(elements.item(holder, key), STORE if values else READ_STORE, holder)
        if isinstance(holder, dict) and not (values and key in holder):
            self.record_access([elements.length(holder)], INSERT if values else READ_STORE, holder)
        return None

    def _unknown(self) -> None:
        if isinstance(self.function, type) and issubclass(self.function, BaseException):
            return
        values = (*self.given, *self.named.values())
        if any(isinstance(v, elements.WATCHED) for v in values):
            name = f"{self.module}.{self.word}" if self.module else self.word or type(self.function).__name__
            what = f"what `{name.removeprefix('__main__.')}` does with its arguments"
            self.watch.note_unwatched(what, self.site)

    def _builtin(self, row: LibraryCall) -> None:
        if isinstance(self.function, type) and issubclass(self.function, BaseException):
            return
        if self.word in ("getattr", "setattr") and len(self.given) > 1 and isinstance(self.given[1], str):
            kind = READ if self.word == "getattr" else STORE
            if hasattr(self.given[0], "__dict__") and (kind != READ or self.given[1] in vars(self.given[0])):
                self.record_access([elements.attribute(self.given[0], self.given[1])], kind, self.given[0])
        elif self.word == "len":
            held = self.given[0] if self.given else None
            if isinstance(held, elements.WATCHED) and not isinstance(held, np.ndarray):
                self.record_access([elements.length(held)], READ, held)
        elif self.word == "next" and self.given:
            self.record_access([elements.position(self.given[0])], READ_STORE, self.given[0])
        elif row.reads is Reads.ITEMS:
            for value in self.given:
                if isinstance(value, elements.WATCHED):
                    self.record_access(elements.whole(value), READ, value)
                elif hasattr(value, "__next__"):
                    self.record_access([elements.position(value)], READ_STORE, value)
        elif row.reads is Reads.ALL:
            self._read_all()

    # numpy

    def _numpy(self, row: LibraryCall) -> None:
        at = self.function.nin if isinstance(self.function, np.ufunc) else row.out_at
        inputs, outputs = self._inputs_and_outputs(at)
        if self.word == "copyto" and self.given:
            inputs, outputs = self.given[1:], self.given[:1]
        elif row.stores and self.given:
            return self._changed(self.given[0])
        if row.reads is not Reads.NOTHING:
            named = (v for n, v in self.named.items() if n != "out")
            for value in (*inputs[row.reads in (Reads.FORM, Reads.LIKE) :], *named):
                if not (row.result is ResultKind.VIEW and self._shares(value)):
                    self.record_access(elements.deep(value), READ, value)
        for value in outputs:
            if isinstance(value, np.ndarray):
                self.record_access(elements.whole(value), STORE, value)
        return None

    def _inputs_and_outputs(self, at: int | None) -> tuple[list[Any], list[Any]]:
        """The positional arguments that are read, and the places for results, from the position ``at``."""
        at = len(self.given) if at is None else at
        out = self.named.get("out")
        return self.given[:at], [*self.given[at:], *(out if isinstance(out, tuple) else [out])]

    def _shares(self, value: Any) -> bool:
        """Whether the result is a view of the argument; the function is pure, so it may be called again."""
        try:
            result = self.function(*self.given, **self.named)
        except Exception:
            return True
        first = result[0] if isinstance(result, list | tuple) and result else result
        arrays = isinstance(first, np.ndarray) and isinstance(value, np.ndarray)
        return arrays and np.may_share_memory(first, value)

    # Methods

    def _method(self, owner: Any) -> None:
        row = lookup(f".{self.word}")
        if isinstance(owner, np.ufunc):
            return self._of_ufunc(owner)
        if self.word in ("__setitem__", "__delitem__") and self.given and isinstance(owner, elements.WATCHED):
            return self._item_changed(owner, *self.given)
        if isinstance(owner, _RANDOM):
            if row.shuffles and self.given:
                self._changed(self.given[0])
            else:
                self._read_all()
            return self.record_access([elements.position(owner)], READ_STORE, owner)
        if isinstance(owner, io.IOBase):
            self._read_all()
            if owner not in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                self.record_access([elements.position(owner)], READ_STORE, owner)
            return None
        if isinstance(owner, np.ndarray):
            return self._of_array(owner, row)
        if isinstance(owner, dict):
            return self._of_dict(owner, row)
        if isinstance(owner, set):
            return self._of_set(owner, row)
        if isinstance(owner, elements.SEQUENCES):
            return self._of_sequence(owner, row)
        if isinstance(owner, str | bytes | tuple | frozenset):
            return self._read_all()
        if self.word in ("__next__", "send"):
            return self.record_access([elements.position(owner)], READ_STORE, owner)
        return self._unknown()

    def _of_ufunc(self, owner: np.ufunc) -> None:
        if self.word != "at" or not self.given:
            return self._numpy(lookup(f"numpy.{owner.__name__}.{self.word}"))
        target, *rest = self.given
        for value in rest:
            self.record_access(elements.deep(value), READ, value)
        keys = elements.item(target, rest[0]) if rest else ()
        return self.record_access(keys, lookup(f"numpy.{owner.__name__}").operator or READ_STORE, target)

    def _of_array(self, owner: np.ndarray[Any, Any], row: LibraryCall) -> None:
        if row.effect is EffectKind.MUTATE and row.reads is Reads.NOTHING:
            self._read_all()
            self.record_access(elements.whole(owner), STORE, owner)
        elif row.effect is EffectKind.MUTATE and self.word != "setflags":
            self.record_access(elements.whole(owner), READ_STORE, owner)
        elif row.result is not ResultKind.VIEW or not self._shares(owner):
            self.record_access(elements.whole(owner), READ, owner)
        inputs, outputs = self._inputs_and_outputs(row.out_at)
        for value, kind in [*((v, READ) for v in inputs), *((v, STORE) for v in outputs)]:
            if isinstance(value, np.ndarray):
                self.record_access(elements.whole(value), kind, value)

    def _of_dict(self, owner: dict[Any, Any], row: LibraryCall) -> None:
        if self.word in ("get", "setdefault", "pop", "__getitem__") and self.given:
            missing = self.word == "setdefault" and self.given[0] not in owner
            kinds = {"setdefault": READ_STORE if missing else READ, "pop": READ_STORE}
            kind = kinds.get(self.word, self.kind)
            self.record_access(elements.item(owner, self.given[0]), kind, owner)
            if missing or self.word == "pop":
                self.record_access([elements.length(owner)], INSERT if missing else READ_STORE, owner)
        elif self.word == "update":
            self._updated(owner, "+" if isinstance(owner, collections.Counter) else INSERT)
        else:
            self._whole(owner, row)

    def _whole(self, owner: Any, row: LibraryCall) -> None:
        kind = READ_STORE if row.effect is EffectKind.MUTATE else READ
        self.record_access(elements.whole(owner), kind, owner)

    def _updated(self, owner: Any, kind: str) -> None:
        for value in self.given:
            self.record_access(elements.whole(value), READ, value)
            if isinstance(value, dict | set | list | tuple | str):
                pairs = kind == INSERT and isinstance(owner, dict) and not isinstance(value, dict)
                keys = [entry[0] for entry in value] if pairs else value
                self.record_access([key for k in keys for key in elements.item(owner, k)], kind, owner)
        for name in self.named:
            self.record_access(elements.item(owner, name), kind, owner)
        self.record_access([elements.length(owner)], INSERT, owner)

    def _of_set(self, owner: set[Any], row: LibraryCall) -> None:
        if self.word == "add" and self.given:
            self.record_access([*elements.item(owner, self.given[0]), elements.length(owner)], INSERT, owner)
        elif self.word == "update":
            self._updated(owner, INSERT)
        elif self.word in ("discard", "remove") and self.given:
            keys = [*elements.item(owner, self.given[0]), elements.length(owner)]
            self.record_access(keys, READ_STORE, owner)
        else:
            self._whole(owner, row)

    def _of_sequence(self, owner: Any, row: LibraryCall) -> None:
        if row.effect is EffectKind.ORDERED:
            if self.word.startswith("extend"):
                for value in self.given:
                    self.record_access(elements.whole(value), READ, value)
            self.record_access([elements.length(owner)], APPEND, owner)
            if self.word == "append":
                self.record_access([(id(owner), "item", len(owner))], STORE, owner)
        elif self.word == "pop" and not self.given and len(owner):
            popped: list[Hashable] = [elements.length(owner), (id(owner), "item", len(owner) - 1)]
            self.record_access(popped, READ_STORE, owner)
        else:
            self._whole(owner, row)
