"""What functions that are not rewritten do to the elements of what they are given.

Tables for the builtin containers, builtins, numpy and the commonest modules of the standard library; what
stands in none of them is passed over, and the report says so.
"""

from __future__ import annotations

import builtins
import collections
import functools
import io
import itertools
import random
import sys
from collections.abc import Hashable, Iterable
from typing import Any, Protocol

import numpy as np

from dlbc.witness import elements
from dlbc.witness.record import APPEND, BOTH, INSERT, READ, STORE

__all__ = ["LAZY", "Watcher", "effects_of"]

Given = list[tuple[str | None, Any]]


class Watcher(Protocol):
    """What the effects are told to."""

    def touch(self, keys: Iterable[Hashable], kind: str, site: int, holder: Any) -> None:
        """Elements are accessed."""

    def pass_over(self, what: str, site: int) -> None:
        """Something is not watched."""

    def is_rewritten(self, function: Any, method: str = "__init__") -> bool:
        """Whether the function tells of its accesses by itself."""


class _Functions(tuple[Any, ...]):
    """Functions, found by identity: some things that are called have no hash."""

    def __contains__(self, function: object) -> bool:
        return any(function is known for known in self)


#: These draw from their arguments bit by bit, and are given iterators that tell of it.
LAZY = _Functions(
    [enumerate, zip, map, filter, iter, *(v for v in vars(itertools).values() if isinstance(v, type))]
)
_NO_READING = frozenset(
    {
        "id",
        "type",
        "isinstance",
        "issubclass",
        "callable",
        "hasattr",
        "range",
        "slice",
        "object",
        "super",
        "property",
        "hash",
        "input",
        "open",
        "locals",
        "globals",
        "vars",
        "dir",
        "staticmethod",
        "classmethod",
        "memoryview",
        "exec",
        "eval",
        "compile",
        "delattr",
    }
)
_SHALLOW = frozenset(
    {"list", "tuple", "set", "dict", "frozenset", "reversed", "any", "all", "bytes", "bytearray"}
)
_MODULES = frozenset(
    {"math", "cmath", "copy", "json", "statistics", "operator", "fractions", "decimal", "collections"}
)
_CHANGING = frozenset(
    {
        "heappush",
        "heappop",
        "heapify",
        "heapreplace",
        "heappushpop",
        "insort",
        "insort_left",
        "insort_right",
        "shuffle",
        "fill_diagonal",
        "put",
        "place",
        "putmask",
        "put_along_axis",
    }
)
_VIEWS = frozenset(
    {
        "asarray",
        "asanyarray",
        "ascontiguousarray",
        "atleast_1d",
        "atleast_2d",
        "atleast_3d",
        "reshape",
        "ravel",
        "transpose",
        "squeeze",
        "view",
        "swapaxes",
        "moveaxis",
        "expand_dims",
        "broadcast_to",
        "broadcast_arrays",
        "diagonal",
        "split",
        "array_split",
        "hsplit",
        "vsplit",
        "flip",
        "fliplr",
        "flipud",
        "rot90",
        "rollaxis",
        "real",
        "imag",
    }
)
_NO_ELEMENTS = frozenset(
    {
        "zeros_like",
        "empty_like",
        "ones_like",
        "full_like",
        "shape",
        "ndim",
        "size",
        "shares_memory",
        "may_share_memory",
        "result_type",
        "zeros",
        "ones",
        "empty",
        "full",
        "arange",
        "byte_bounds",
    }
)
_UFUNCS = {
    "add": "+",
    "subtract": "-",
    "multiply": "*",
    "bitwise_and": "&",
    "bitwise_or": "|",
    "bitwise_xor": "^",
    "maximum": "max",
    "minimum": "min",
    "logical_and": "and",
    "logical_or": "or",
}
_RANDOM = (np.random.Generator, np.random.RandomState, random.Random)


def effects_of(watch: Watcher, function: Any, given: Given, kind: str, site: int) -> None:
    """Tell ``watch`` what calling ``function`` does; ``kind``: that of a read which is part of an update."""
    if isinstance(function, functools.partial):
        bound: Given = [*((None, a) for a in function.args), *function.keywords.items()]
        return effects_of(watch, function.func, [*bound, *given], kind, site)
    if watch.is_rewritten(function) or function in LAZY:
        return None
    call = _Call(
        watch, function, [v for n, v in given if n is None or n in ("*", "**")], dict(given), kind, site
    )
    for _, argument in ((n, v) for n, v in given if n in ("*", "**")):
        call.touch(elements.whole(argument), READ, argument)
        call.given += argument if isinstance(argument, list | tuple) else ()
    return call.apply()


class _Call:
    def __init__(
        self, watch: Watcher, function: Any, given: list[Any], named: dict[Any, Any], kind: str, site: int
    ) -> None:
        self.watch, self.function, self.kind, self.site = watch, function, kind, site
        self.given = given
        self.named = {name: value for name, value in named.items() if name not in (None, "*", "**")}
        self.word = str(getattr(function, "__name__", ""))
        self.module = str(getattr(function, "__module__", None) or "")

    def touch(self, keys: Iterable[Hashable], kind: str, holder: Any) -> None:
        self.watch.touch(keys, kind, self.site, holder)

    def apply(self) -> None:
        owner = getattr(self.function, "__self__", None)
        if owner is not None and not isinstance(owner, type(sys)) and not isinstance(owner, type):
            return self._method(owner)
        if isinstance(self.function, np.ufunc) or self.module.split(".")[0] == "numpy":
            return self._numpy()
        if self.word in _CHANGING and self.given:
            return self._changed(self.given[0])
        if self.module == "builtins":
            return self._builtin()
        if self.module.lstrip("_").split(".")[0] in _MODULES:
            return self._read_all()
        return self._unknown()

    # Arguments

    def _read_all(self, but: object = None) -> None:
        for value in (*self.given, *self.named.values()):
            if value is not but:
                self.touch(elements.deep(value), READ, value)

    def _changed(self, holder: Any) -> None:
        self._read_all(but=holder)
        self.touch(elements.whole(holder), BOTH, holder)

    def _unknown(self) -> None:
        if isinstance(self.function, type) and issubclass(self.function, BaseException):
            return
        values = (*self.given, *self.named.values())
        if any(isinstance(v, elements.WATCHED) for v in values):
            name = f"{self.module}.{self.word}" if self.module else self.word or type(self.function).__name__
            self.watch.pass_over(
                f"what `{name.removeprefix('__main__.')}` does with its arguments", self.site
            )

    def _builtin(self) -> None:
        if isinstance(self.function, type) and issubclass(self.function, BaseException):
            return
        if self.word in ("getattr", "setattr") and len(self.given) > 1 and isinstance(self.given[1], str):
            kind = READ if self.word == "getattr" else STORE
            if hasattr(self.given[0], "__dict__") and (kind != READ or self.given[1] in vars(self.given[0])):
                self.touch([elements.attribute(self.given[0], self.given[1])], kind, self.given[0])
        elif self.word == "len":
            held = self.given[0] if self.given else None
            if isinstance(held, elements.WATCHED) and not isinstance(held, np.ndarray):
                self.touch([elements.length(held)], READ, held)
        elif self.word == "next" and self.given:
            self.touch([elements.position(self.given[0])], BOTH, self.given[0])
        elif self.word in _SHALLOW:
            for value in self.given:
                if isinstance(value, elements.WATCHED):
                    self.touch(elements.whole(value), READ, value)
                elif hasattr(value, "__next__"):
                    self.touch([elements.position(value)], BOTH, value)
        elif self.word not in _NO_READING or not hasattr(builtins, self.word):
            self._read_all()

    # numpy

    def _numpy(self) -> None:
        out = self.named.get("out")
        outputs = list(out) if isinstance(out, tuple) else [out]
        inputs = self.given
        if isinstance(self.function, np.ufunc):
            inputs, outputs = self.given[: self.function.nin], [*self.given[self.function.nin :], *outputs]
        if self.word == "copyto" and self.given:
            inputs, outputs = self.given[1:], self.given[:1]
        if self.word in _CHANGING and self.given:
            return self._changed(self.given[0])
        if self.word not in _NO_ELEMENTS:
            named = (v for n, v in self.named.items() if n != "out")
            for value in (*inputs, *named):
                if not (self.word in _VIEWS and self._shares(value)):
                    self.touch(elements.deep(value), READ, value)
        for value in outputs:
            if isinstance(value, np.ndarray):
                self.touch(elements.whole(value), STORE, value)
        return None

    def _shares(self, value: Any) -> bool:
        """Whether the outcome is a view of the argument; these functions are pure: once more is no matter."""
        try:
            outcome = self.function(*self.given, **self.named)
        except Exception:
            return True
        first = outcome[0] if isinstance(outcome, list | tuple) and outcome else outcome
        return (
            isinstance(first, np.ndarray)
            and isinstance(value, np.ndarray)
            and np.may_share_memory(first, value)
        )

    # Methods

    def _method(self, owner: Any) -> None:
        if isinstance(owner, np.ufunc):
            return self._of_ufunc(owner)
        if isinstance(owner, _RANDOM):
            if self.word == "shuffle" and self.given:
                self._changed(self.given[0])
            self._read_all(but=self.given[0] if self.word == "shuffle" and self.given else None)
            return self.touch([elements.position(owner)], BOTH, owner)
        if isinstance(owner, io.IOBase):
            self._read_all()
            if owner not in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
                self.touch([elements.position(owner)], BOTH, owner)
            return None
        if isinstance(owner, np.ndarray):
            return self._of_array(owner)
        if isinstance(owner, dict):
            return self._of_dict(owner)
        if isinstance(owner, set):
            return self._of_set(owner)
        if isinstance(owner, elements.SEQUENCES):
            return self._of_sequence(owner)
        if isinstance(owner, str | bytes | tuple | frozenset):
            return self._read_all()
        if self.word in ("__next__", "send"):
            return self.touch([elements.position(owner)], BOTH, owner)
        return self._unknown()

    def _of_ufunc(self, owner: np.ufunc) -> None:
        if self.word != "at" or not self.given:
            return self._numpy()
        target, *rest = self.given
        for value in rest:
            self.touch(elements.deep(value), READ, value)
        keys = elements.item(target, rest[0]) if rest else ()
        return self.touch(keys, _UFUNCS.get(owner.__name__, BOTH), target)

    def _of_array(self, owner: np.ndarray[Any, Any]) -> None:
        if self.word in ("fill", "put", "itemset", "setfield"):
            self._read_all()
            self.touch(elements.whole(owner), STORE, owner)
        elif self.word in ("sort", "partition", "byteswap", "resize"):
            self.touch(elements.whole(owner), BOTH, owner)
        elif self.word not in _VIEWS or not self._shares(owner):
            self.touch(elements.whole(owner), READ, owner)
        out = self.named.get("out")
        if isinstance(out, np.ndarray):
            self.touch(elements.whole(out), STORE, out)
        for value in (v for v in self.given if isinstance(v, np.ndarray)):
            self.touch(elements.whole(value), READ, value)

    def _of_dict(self, owner: dict[Any, Any]) -> None:
        if self.word in ("get", "setdefault", "pop", "__getitem__") and self.given:
            missing = self.word == "setdefault" and self.given[0] not in owner
            kind = {"setdefault": BOTH if missing else READ, "pop": BOTH}.get(self.word, self.kind)
            self.touch(elements.item(owner, self.given[0]), kind, owner)
            if missing or self.word == "pop":
                self.touch([elements.length(owner)], INSERT if missing else BOTH, owner)
        elif self.word == "update":
            self._updated(owner, "+" if isinstance(owner, collections.Counter) else INSERT)
        elif self.word in ("clear", "popitem", "subtract", "move_to_end"):
            self.touch(elements.whole(owner), BOTH, owner)
        else:
            self.touch(elements.whole(owner), READ, owner)

    def _updated(self, owner: Any, kind: str) -> None:
        for value in self.given:
            self.touch(elements.whole(value), READ, value)
            if isinstance(value, dict | set | list | tuple | str):
                pairs = kind == INSERT and isinstance(owner, dict) and not isinstance(value, dict)
                keys = [entry[0] for entry in value] if pairs else value
                self.touch([key for k in keys for key in elements.item(owner, k)], kind, owner)
        for name in self.named:
            self.touch(elements.item(owner, name), kind, owner)
        self.touch([elements.length(owner)], INSERT, owner)

    def _of_set(self, owner: set[Any]) -> None:
        if self.word == "add" and self.given:
            self.touch([*elements.item(owner, self.given[0]), elements.length(owner)], INSERT, owner)
        elif self.word == "update":
            self._updated(owner, INSERT)
        elif self.word in ("discard", "remove") and self.given:
            self.touch([*elements.item(owner, self.given[0]), elements.length(owner)], BOTH, owner)
        else:
            changing = self.word in ("clear", "pop") or self.word.endswith("_update")
            self.touch(elements.whole(owner), BOTH if changing else READ, owner)

    def _of_sequence(self, owner: Any) -> None:
        if self.word in ("append", "appendleft", "extend", "extendleft"):
            if self.word.startswith("extend"):
                for value in self.given:
                    self.touch(elements.whole(value), READ, value)
            self.touch([elements.length(owner)], APPEND, owner)
            if self.word == "append":
                self.touch([(id(owner), "item", len(owner))], STORE, owner)
        elif self.word in ("pop", "popleft", "insert", "remove", "clear", "sort", "reverse", "rotate"):
            last = self.word == "pop" and not self.given and len(owner)
            popped: list[Hashable] = [elements.length(owner), (id(owner), "item", len(owner) - 1)]
            self.touch(popped if last else elements.whole(owner), BOTH, owner)
        else:
            self.touch(elements.whole(owner), READ, owner)
