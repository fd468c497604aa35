"""What the caches of functions (``functools.lru_cache``) hold on this rank.

Each rank has caches of its own. That makes no difference as long as what they give is only read; but an
object that iterations keep would be one in the sequential program, and is another one on every rank. So a
worker does not send such objects, and rank 0 runs these iterations itself.
"""

from __future__ import annotations

import functools
import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from dlbrt.data.object_state import UnknownPartError, is_mutable, parts_of
from dlbrt.mpi.values.program_modules import program_modules

#: The type of functions that keep their results.
CACHED = type(functools.lru_cache(len))

#: Those of the program that have come to this rank by value.
_made: weakref.WeakSet[Any] = weakref.WeakSet()


def make_cached(function: Callable[..., Any], size: int | None, typed: bool) -> Any:
    """A function of the program that has come here, with an empty cache."""
    made = functools.lru_cache(size, typed)(function)
    _made.add(made)
    return made


class KeptResults:
    """The objects in the caches of the program's functions that can be changed, by identity."""

    def __init__(self) -> None:
        held = (value for module in program_modules() for value in _held(vars(module)))
        self._caches = [*_made, *(value for value in held if type(value) is CACHED)]
        self._misses = -1
        self._found: dict[int, Any] = {}

    def now(self) -> dict[int, Any]:
        """What they hold by now."""
        misses = sum(cache.cache_info().misses for cache in self._caches)
        if misses != self._misses:
            self._misses = misses
            results = (result for cache in self._caches for result in _results(cache))
            self._found = {id(part): part for result in results for part in _mutable_parts(result)}
        return self._found


def _held(names: Any) -> Iterator[Any]:
    """The values of a module, and those of its classes."""
    for value in list(names.values()):
        yield value
        if issubclass(type(value), type):  # `isinstance` would be a use of what has stayed at rank 0
            yield from vars(value).values()


def _results(cache: Any) -> Iterator[Any]:
    """What a cache holds: one of limited size refers to it itself, another one in a dictionary."""
    if not cache.cache_info().currsize:
        return
    held = [each for each in gc.get_referents(cache) if each is not cache.__dict__]
    tables = [each for each in held if type(each) is dict]
    keys = {id(key) for table in tables for key in table}
    limited = cache.cache_parameters()["maxsize"] is not None
    if not limited:
        yield from (value for table in tables for value in table.values())
        return
    known = {*keys, *map(id, tables), id(cache.__wrapped__)}
    yield from (each for each in held if id(each) not in known and not isinstance(each, type))


def _mutable_parts(result: Any) -> list[Any]:
    try:
        return [part for part in parts_of(result) if is_mutable(part)]
    except UnknownPartError:
        return [result]
