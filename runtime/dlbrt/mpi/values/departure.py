"""Which objects stay behind at rank 0 when a loop is shared.

An object that cannot leave stays behind if no name in the body leads to it (`dlbrt.mpi.values.uses`). Where a
name does, the loop is not shared, and the reason names the path and says what to do.

Some objects are read by code of their own, before any iteration runs (``__setstate__``, ``getattr`` for a
method of a file). That code might use what stands for an object left behind, so they stay behind with it.
"""

from __future__ import annotations

import pickle
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from dlbrt.mpi.values.generators import reduction_of_global
from dlbrt.mpi.values.left_behind import CannotLeaveError, help_for, state_of
from dlbrt.mpi.values.program_modules import collect
from dlbrt.mpi.values.uses import Uses, is_bulky, is_pickled_by_attributes

#: Kinds of objects whose way of being read looks at nothing inside them.
_READ_AS_THEY_ARE = frozenset(
    {list, tuple, dict, set, frozenset, deque, OrderedDict, defaultdict, Counter, np.ndarray}
    | {types.FunctionType, types.ModuleType, types.CodeType, types.CellType}
)
_READING_HOOKS = ("__setstate__", "__reduce__", "__reduce_ex__", "__getnewargs__", "__getnewargs_ex__")


class Departure:
    """What leaves rank 0 for one run of a loop, and what stays.

    ``lean``: large objects stay that could leave, but to which no name in the body leads; ``lightened`` is
    whether there were any.
    """

    def __init__(self, kernel: object, named: Mapping[str, Any]) -> None:
        self._kernel, self._named = kernel, named
        self.lean = self.lightened = False
        self._known_uses: Uses | None = None
        self._read_early: dict[int, tuple[Any, str]] = {}
        self._behind: dict[int, Any] = {}
        self._by_name: dict[int, Any] = {}
        self._paths: dict[int, str] = {}
        self._states = b""

    def check(self, value: Any) -> None:
        """TypeError for an object that stays behind because reading it would use another one."""
        if id(value) in self._read_early:
            raise TypeError(self._read_early[id(value)][1])

    def goes_by_name(self, generator: Any) -> bool:
        """Whether a generator is a global one: it goes as its name, to the one that another rank has.

        Its state is watched on each rank, as that of ``random.choice`` is.
        """
        if (reduced := reduction_of_global(generator)) is None:
            return False
        module, name = reduced[1]
        self._by_name[id(generator)], self._paths[id(generator)] = generator, f"{module.__name__}.{name}"
        return True

    def leave(self, value: Any, error: BaseException) -> str:
        """Leave an object behind that cannot be sent because of ``error``; its path.

        CannotLeaveError where iterations may use it.
        """
        if (used := self._uses.used(value)) is not None:
            early = id(value) in self._read_early
            advice = f"let {type(value).__name__}.__getstate__ leave it out" if early else help_for(value)
            raise CannotLeaveError(f"{used or 'an object'} cannot go to other ranks ({error}); {advice}")
        path = self._uses.path(value)
        if not path:
            raise error
        self._behind[id(value)], self._paths[id(value)] = value, path
        return path

    def unused_bulk(self, value: Any) -> str | None:
        """The path of a large object that iterations do not use, if it is one; it stays.

        What pickling itself has made has no path.
        """
        if not is_bulky(value) or self._uses.used(value) is not None:
            return None
        path = self._uses.path(value)
        self.lightened |= path is not None
        return path

    @property
    def _uses(self) -> Uses:
        if self._known_uses is None:
            self._known_uses = Uses(self._kernel, self._named, collect())
        return self._known_uses

    def keep_what_reads(self, met: Iterable[Any]) -> bool:
        """Keep the objects among those ``met`` that would use others left behind as they are read.

        Returns whether there are new ones, so that everything has to be packed again.
        """
        before = len(self._read_early)
        kinds: dict[type, bool] = {}
        for value in met if self._behind else ():
            kind = type(value)
            if kind not in kinds:
                kinds[kind] = is_read_by_code(kind)
            if kinds[kind] and (held := _held(value, self._behind)):
                path = self._uses.path(held[0])
                text = f"{path} has to stay, and reading a {type(value).__name__} may use it"
                self._read_early[id(value)] = value, text
        return len(self._read_early) > before

    def begin(self) -> None:
        """The loop is about to be shared: note the states of what stays."""
        self._states = self._states_now()

    def may_have_been_used(self) -> bool:
        """Whether rank 0 may have used an object left behind since; True where it would not show."""
        hidden = any(state_of(value) is None for _, value in self._tracked)
        return hidden or self._states_now() != self._states

    def _states_now(self) -> bytes:
        return pickle.dumps([state_of(value) for _, value in self._tracked])

    @property
    def behind(self) -> Sequence[Any]:
        """The objects that stay."""
        return list(self._behind.values())

    @property
    def with_state(self) -> str | None:
        """The path of an object left behind that has a state, so that the order of uses matters, if any."""
        return next((self._paths[key] for key, value in self._tracked if state_of(value) != ()), None)

    @property
    def _tracked(self) -> Iterable[tuple[int, Any]]:
        """The objects of which rank 0 has the one that counts, with their identities."""
        return (self._behind | self._by_name).items()


def is_read_by_code(kind: type) -> bool:
    """Whether code runs as objects of a class are read that may look at what is inside them."""
    if kind in _READ_AS_THEY_ARE or issubclass(kind, type):
        return False
    hooks = (getattr(kind, name, None) for name in _READING_HOOKS)
    return any(isinstance(hook, types.FunctionType) for hook in hooks) or not is_pickled_by_attributes(kind)


def _held(value: Any, behind: Mapping[int, Any]) -> list[Any]:
    """The objects left behind that an object leads to, and that are used as it is read."""
    if id(value) in behind:
        return []
    if isinstance(value, types.MethodType):
        return [behind[id(value.__self__)]] if id(value.__self__) in behind else []
    return [behind[found] for found in Uses.reached_from(value) & behind.keys()]
