"""What the watch compares: pickles of objects as they are, arrays and lists of slots as their numbers."""

from __future__ import annotations

import copyreg
import io
import pickle
import sys
import types
from collections.abc import Mapping, Sequence
from typing import Any

import cloudpickle
import numpy as np

from dlbrt.mpi.values.generators import is_seed, reduction_of_global, state_of_seed
from dlbrt.mpi.values.left_behind import LeftBehind, path_of, stand_in, state_of
from dlbrt.mpi.values.packing import Packed, Packer, own_reduction
from dlbrt.mpi.values.pickles import Numbering
from dlbrt.mpi.values.program_modules import is_of_program
from dlbrt.mpi.values.uses import attributes_of


def _is_reduced_by_program(kind: type) -> bool:
    """Whether the program says in which way objects of a class are pickled; that may leave something out."""
    hooks = (getattr(kind, name, None) for name in ("__reduce__", "__reduce_ex__", "__getstate__"))
    by_table = kind in copyreg.dispatch_table and is_of_program(kind)
    return by_table or any(isinstance(hook, types.FunctionType) and is_of_program(hook) for hook in hooks)


def _left_out(obj: Any, reduced: Any) -> dict[str, Any]:
    """The attributes of an object that its own way of being pickled leaves out, those that can be sent."""
    state = reduced[2] if isinstance(reduced, tuple) and len(reduced) > 2 else None
    names = state if isinstance(state, dict) else {}
    hidden = {name: value for name, value in attributes_of(obj) if names.get(name, obj) is not value}
    return {name: value for name, value in hidden.items() if _can_be_packed(value)}


def _can_be_packed(value: Any) -> bool:
    try:
        Packer(io.BytesIO(), Packed(), Numbering()).dump(value)
    except BaseException:  # objects' own pickling hooks may raise anything
        return False
    return True


class _SnapshotPacker(Packer):
    """cloudpickle with the arrays and lists of slots as their numbers; other arrays by value.

    Of objects left behind (``states``, by identity) it has the state that can be compared, if any.
    """

    states: Mapping[int, bytes]

    def reducer_override(self, obj: Any) -> Any:
        if type(obj) is LeftBehind:
            return stand_in, (path_of(obj),)
        if obj is sys.__stdout__ or obj is sys.__stderr__:
            return stand_in, ("a standard stream",)  # what is written to it is noticed there
        if id(obj) in self.states:
            return stand_in, (type(obj).__name__,), self.states[id(obj)]
        if is_seed(obj):
            return stand_in, ("SeedSequence",), state_of_seed(obj)
        if (reduced := reduction_of_global(obj)) is not None:
            return reduced
        if isinstance(obj, self._generators) and (state := state_of(obj)) is not None:
            return stand_in, (type(obj).__name__,), state
        if type(obj) is np.ndarray and id(obj) not in self._packed.numbers:
            return cloudpickle.Pickler.reducer_override(self, obj)
        reduced = super().reducer_override(obj)
        if type(obj) is types.FunctionType and isinstance(reduced, tuple):
            reduced[2][1].pop("_cloudpickle_submodules", None)  # those imported by now, by anyone
        if reduced is NotImplemented and _is_reduced_by_program(type(obj)):
            reduced = own_reduction(obj, self.dispatch_table)
            hidden = _left_out(obj, reduced)
            return (stand_in, (type(obj).__name__,), (reduced, hidden)) if hidden else reduced
        return reduced

    def persistent_id(self, obj: Any) -> int | None:
        return self._packed.numbers.get(id(obj)) if type(obj) is list else None


def snapshot(values: Mapping[str, Any], slots: Sequence[Any], behind: Sequence[Any] = ()) -> bytes:
    """A pickle of ``values``, to be compared with a later one; of ``slots`` it holds the numbers alone.

    Objects left ``behind`` are compared by what a use of them changes. Raises whatever the pickler raises for
    objects that cannot leave this process.
    """
    packed, file = Packed(slots=list(slots)), io.BytesIO()
    packed.numbers.update((id(value), number) for number, value in enumerate(slots))
    packer = _SnapshotPacker(file, packed, Numbering())
    packer.states = {id(value): pickle.dumps(state_of(value)) for value in behind}
    packer.dump(dict(values))
    return file.getvalue()
