"""What a loop brings to the other ranks if all of it is arrays and atoms: packed once, and used again.

Loops of iterative programs run thousands of times on the same arrays, each for a millisecond. Finding out
that one can be shared, and pickling its arguments, takes longer than that. Both depend on nothing but what
`form_of` compares, where the arguments are plain arrays, numbers and texts.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import chain, islice
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np

from dlbrt.data.field import Field, form_of_subscripts
from dlbrt.data.memory import address
from dlbrt.data.object_state import ATOMS
from dlbrt.data.space import RangeSpace, Space
from dlbrt.mpi.routines.loop_residents import LoopResidents
from dlbrt.mpi.values.kernels import SentKernel
from dlbrt.mpi.values.packing import Packed
from dlbrt.mpi.values.program_modules import MAIN, ModuleData
from dlbrt.mpi.values.set_pickles import met_by_pickler
from dlbrt.records import dataclass
from dlbrt.reductions.contributions import ContributionDescription

#: What a payload depends on: equal forms, equal payloads.
Form = tuple[Any, ...]

#: Data of the program's modules is compared where it has fewer parts: types and values, of names too.
_MAX_PARTS = 512

_CONTAINERS = frozenset({list, tuple, dict})
_NAMED = frozenset({FunctionType, BuiltinFunctionType, type})


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

    Arrays count as where they lie in the memory that they share with others, and by which names they are one
    object. ``described`` are the names of what iterations contribute to; ``data`` is that of the program's
    modules.
    """
    modules = _of_modules(data)
    if type(space) is not RangeSpace or modules is None or not described <= named.keys():
        return None
    values = space.values
    found: list[Any] = [values.start, values.stop, values.step, modules]
    first: dict[int, str] = {}
    owners: dict[int, int] = {}
    for name, value in named.items():
        if type(value) is np.ndarray:
            owner = value if value.base is None else value.base
            if value.dtype.hasobject or not _owns_memory(owner) or name in described:
                return None
            same, stays = first.setdefault(id(value), name), value in loop_residents
            place = owners.setdefault(id(owner), len(owners)), address(value) - address(owner)
            kind = value.shape, value.strides, value.dtype, value.flags.writeable
            found.append((name, same, place, kind, stays))
        elif type(value) in ATOMS or isinstance(value, np.number | np.bool_):
            found.append((name, type(value), None if name in described else repr(value)))
        else:
            return None
    for each in fields:
        forms = form_of_subscripts(each.spec.rows), form_of_subscripts(each.spec.writes)
        if each.inspected or each.made or each.iterated or None in forms or id(each.data) not in first:
            return None
        spec = each.spec
        how = spec.distribution, spec.axis, spec.mode, spec.in_place, each.backwards
        found.append((each.name, first[id(each.data)], each.index.start, each.index.step, how, forms))
    return tuple(found)


class _UnknownFormError(Exception):
    """A value of which it is not known what its pickle depends on."""


def _of_modules(data: ModuleData) -> Form | None:
    try:
        found = tuple(islice(_parts_of(data, {}), _MAX_PARTS))
    except _UnknownFormError:
        return None
    return found if len(found) < _MAX_PARTS else None


def _parts_of(value: Any, seen: dict[int, int]) -> Iterator[object]:
    """What the pickle of a value depends on; ``seen`` numbers the containers that were met before.

    A container that is met twice is one object on the other ranks too.
    """
    kind = type(value)
    yield kind
    if kind in ATOMS or isinstance(value, np.number | np.bool_):
        yield repr(value)
    elif kind in _NAMED and _goes_by_name(value):
        yield id(value)
    elif kind not in _CONTAINERS:
        raise _UnknownFormError
    elif id(value) in seen:
        yield seen[id(value)]
    else:
        seen[id(value)] = len(seen)
        yield len(value)
        for part in chain.from_iterable(value.items()) if kind is dict else value:
            yield from _parts_of(part, seen)


def _goes_by_name(value: Any) -> bool:
    """Whether a function or class is found under its name in a module that other ranks import as well."""
    module = sys.modules.get(value.__module__)
    return value.__module__ not in MAIN and getattr(module, value.__qualname__, None) is value


def _owns_memory(owner: Any) -> bool:
    """Whether it is an array whose memory is numpy's own: no other array has that at another address."""
    return type(owner) is np.ndarray and owner.base is None and bool(owner.flags.owndata)
