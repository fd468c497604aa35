"""What the program calls an element: `A[3, 5]`, `rows[2][0]`, `d['x']`, `self.total`.

A container has the name by which the loop knows it, else the place where it was found in another one, else
the words of the expression at hand.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from dlbc.witness.elements import addresses

__all__ = ["ElementNames"]

_WORDS = {"length": "the length of {0}", "position": "the state of {0}", "item": "{0}[{1!r}]"}
_WORDS |= {"key": "{0}[{1!r}]", "attribute": "{0}.{1}"}


class ElementNames:
    """The names of the containers met, which it keeps alive."""

    def __init__(self) -> None:
        self._kept: dict[int, object] = {}
        self._own: dict[int, str] = {}
        self._within: dict[int, tuple[object, str]] = {}
        self._hints: dict[int, str] = {}

    def keep(self, holder: object) -> None:
        """Keep the object, and so its identity and memory, from being given to another."""
        self._kept[id(holder)] = holder

    def call(self, holder: object, name: str) -> None:
        """The program knows ``holder`` by ``name``; the first name counts."""
        self.keep(holder)
        self._own.setdefault(id(holder), name)

    def hint(self, holder: object, name: str) -> None:
        """``holder`` was called ``name`` where it was given to a function."""
        self.keep(holder)
        self._hints.setdefault(id(holder), name)

    def place(self, holder: object, around: object, suffix: str) -> None:
        """``holder`` was found in ``around``, at ``suffix``."""
        if id(holder) not in self._own and holder is not around:
            self.keep(holder)
            self.keep(around)
            self._within.setdefault(id(holder), (around, suffix))

    def clear(self) -> None:
        """Let all objects go."""
        for held in (self._kept, self._own, self._within, self._hints):
            held.clear()

    def of(self, holder: object, otherwise: str) -> str:
        """What the program calls ``holder``."""
        return self._known(holder) or self._hints.get(id(holder)) or otherwise

    def _known(self, holder: object) -> str | None:
        suffix = ""
        for _ in range(len(self._within) + 1):
            if name := self._own.get(id(holder)):
                return name + suffix
            if id(holder) not in self._within:
                return None
            holder, last = self._within[id(holder)]
            suffix = last + suffix
        return None

    def element(self, key: Hashable, holder: object, otherwise: str) -> str:
        """What the program calls an element of ``holder``, which is called ``otherwise`` there."""
        if isinstance(key, int):
            return self._array_element(key, holder, otherwise)
        if not isinstance(key, tuple):
            return otherwise
        return _WORDS[key[1]].format(self.of(holder, otherwise), key[2])

    def _array_element(self, address: int, holder: Any, otherwise: str) -> str:
        known = [h for h in self._kept.values() if isinstance(h, np.ndarray) and self._known(h)]
        for found in sorted(known, key=lambda h: (h.base is not None, -h.size)):
            if (name := _indexed(found, address)) is not None:
                return self.of(found, otherwise) + name
        inner = _indexed(holder, address) if isinstance(holder, np.ndarray) else None
        return otherwise + (inner or "")


def _indexed(holder: np.ndarray[Any, Any], address: int) -> str | None:
    start, stop = np.lib.array_utils.byte_bounds(holder) if holder.size else (0, 0)
    if not start <= address < stop:
        return None
    starts = addresses(holder)
    places = np.argwhere((starts <= address) & (address < starts + holder.itemsize))
    return f"[{', '.join(str(int(k)) for k in places[0])}]" if len(places) else None
