"""What a loop brings to the other ranks if all of it is arrays and atoms: packed once, and used again.

Loops of iterative programs run thousands of times on the same arrays, each for a millisecond. Finding out
that one can be shared, and pickling its arguments, takes longer than that. Both depend on nothing but what
`form_of` compares, where the arguments are plain arrays, numbers and texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from dlbrt.data.field import Field, form_of_subscripts
from dlbrt.data.memory import array_location
from dlbrt.data.object_state import ATOMS
from dlbrt.data.space import RangeSpace, Space
from dlbrt.mpi.routines.loop_residents import LoopResidents
from dlbrt.mpi.values.kernels import SentKernel
from dlbrt.mpi.values.packing import Packed
from dlbrt.mpi.values.pickles import met_by_pickler
from dlbrt.mpi.values.program_modules import ModuleData
from dlbrt.records import dataclass
from dlbrt.reductions.contributions import ContributionDescription

#: What a payload depends on: equal forms, equal payloads.
Form = tuple[Any, ...]

#: Data of the program's modules is compared up to this many values.
_MAX_VALUES = 64


@dataclass(frozen=True, slots=True)
class PlainPayload:
    """A packed payload without its arrays, so that it keeps none of them alive.

    ``slots`` names the arguments whose arrays have the slots, ``met`` are the objects that the pickler met.
    """

    sent: SentKernel
    descriptions: dict[str, ContributionDescription]
    body: bytes
    slots: tuple[str, ...]
    met: list[Any]

    def packed(self, named: Mapping[str, Any]) -> Packed:
        """The payload with the arguments' arrays."""
        slots = [named[name] for name in self.slots]
        return Packed(self.body, slots, {id(value): number for number, value in enumerate(slots)})


def plain_payload(
    packed: Packed,
    named: Mapping[str, Any],
    sent: SentKernel,
    descriptions: dict[str, ContributionDescription],
) -> PlainPayload | None:
    """What can be used again of a payload whose form is known; None where arrays are inside other objects."""
    names = {id(value): name for name, value in named.items()}
    if packed.inside or packed.arrays or packed.exposing or not packed.numbers.keys() <= names.keys():
        return None
    slots = tuple(names[id(value)] for value in packed.slots)
    return PlainPayload(sent, descriptions, packed.body, slots, met_by_pickler(packed.pickler))


def form_of(
    named: Mapping[str, Any],
    fields: Sequence[Field],
    space: Space,
    loop_residents: LoopResidents,
    described: Set[str],
    data: ModuleData,
) -> Form | None:
    """What the payload of a loop depends on, besides its kernel and descriptions; None if this is not known.

    Arrays count as where they lie in memory, and by which names they are one object. ``described`` are the
    names of what iterations contribute to; ``data`` is that of the program's modules.
    """
    modules = _of_modules(data)
    if type(space) is not RangeSpace or modules is None or not described <= named.keys():
        return None
    values = space.values
    found: list[Any] = [values.start, values.stop, values.step, modules]
    first: dict[int, str] = {}
    for name, value in named.items():
        if type(value) is np.ndarray:
            if value.dtype.hasobject or not _owns_memory(value) or name in described:
                return None
            same, stays = first.setdefault(id(value), name), value in loop_residents
            found.append((name, same, array_location(value), value.flags.writeable, stays))
        elif type(value) in ATOMS or isinstance(value, np.number | np.bool_):
            found.append((name, type(value), None if name in described else repr(value)))
        else:
            return None
    for each in fields:
        forms = form_of_subscripts(each.spec.rows), form_of_subscripts(each.spec.writes)
        if each.inspected or each.made or each.iterated or None in forms or id(each.data) not in first:
            return None
        spec = each.spec
        kind = spec.distribution, spec.axis, spec.mode, spec.in_place, each.backwards
        found.append((each.name, first[id(each.data)], each.index.start, each.index.step, kind, forms))
    return tuple(found)


def _of_modules(data: ModuleData) -> Form | None:
    if sum(map(len, data.values())) > _MAX_VALUES:
        return None
    values = [(path, name, value) for path, held in data.items() for name, value in held.items()]
    if any(type(value) not in ATOMS for _, _, value in values):
        return None
    return (*data, *((path, name, type(value), repr(value)) for path, name, value in values))


def _owns_memory(array: np.ndarray[Any, Any]) -> bool:
    """Whether the memory is numpy's own, so that no other array has it at another address."""
    owner = array if array.base is None else array.base
    return type(owner) is np.ndarray and owner.base is None and bool(owner.flags.owndata)
