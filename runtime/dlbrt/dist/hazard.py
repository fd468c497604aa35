"""What only the run can know: whether the arrays of a loop are what the proof took them for.

The compiler proves iterations independent under assumptions: names denote distinct memory, subscripts
do not wrap onto one another, what is stored to is a numpy array or a list. Each is checked here before
the loop; where one fails, the loop is run by rank 0 alone, as the sequential program would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from typing import Any

import numpy as np

from dlbrt.dist.field import Field
from dlbrt.dist.memory import Array

__all__ = ["hazard"]

#: Elements that an augmented assignment replaces.
_IMMUTABLE = frozenset({int, float, complex, bool, str, bytes, tuple, type(None), np.float64, np.int64, np.bool_})

#: Bound on numpy's exact overlap test; beyond it memory counts as overlapping.
_OVERLAP_WORK = 100_000


def hazard(fields: Sequence[Field], arrays: Sequence[Array], hidden: Set[int], n: int) -> str | None:
    """Why the n iterations may not run on several ranks, in words; None if they may.

    ``arrays`` are all the arrays that the loop can reach, those of the fields included; ``hidden`` the
    identities of arrays and lists that are also reached in another way than by a field's name.
    """
    stored = [field for field in fields if field.spec.stores]
    reasons = (reason for field in fields for reason in _of_field(field, n))
    overlaps = (reason for field in stored for reason in _overlaps(field, fields, arrays, hidden))
    return next(reasons, None) or next(overlaps, None)


def _of_field(field: Field, n: int) -> Iterable[str]:
    data = field.data
    if isinstance(data, np.ndarray):
        yield from _of_array(field, data)
    elif type(data) is list:
        yield from _of_list(field, data)
    else:
        yield f"{field.name} is a {type(data).__name__}, neither a numpy array nor a list"
        return
    if not field.stores_are_distinct(n):
        yield f"two iterations store to the same row of {field.name}"


def _of_array(field: Field, data: Array) -> Iterable[str]:
    if type(data) is not np.ndarray and type(data) is not np.memmap:
        yield f"{field.name} is a {type(data).__name__}, a kind of array that ranks cannot share rows of"
    elif data.dtype.hasobject:
        yield f"{field.name} holds Python objects"
    elif field.axis >= data.ndim:
        yield f"{field.name} has {data.ndim} dimensions; the loop indexes dimension {field.axis}"
    elif field.spec.stores and not data.flags.writeable:
        yield f"{field.name} is read-only"
    elif field.spec.stores and 0 in data.strides and data.size > 1:
        yield f"elements of {field.name} share memory with one another"


def _of_list(field: Field, data: list[Any]) -> Iterable[str]:
    if field.axis != 0:
        yield f"{field.name} is a list; the loop indexes its dimension {field.axis}"
    elif field.spec.in_place and field.spec.stores:
        yield from _of_elements(field, data)


def _of_elements(field: Field, data: list[Any]) -> Iterable[str]:
    changing = [element for element in data if type(element) not in _IMMUTABLE]
    if len(set(map(id, changing))) < len(changing):
        yield f"{field.name} holds the same object twice"
    if any(type(element) is not list and type(element) is not np.ndarray for element in changing):
        yield f"elements of {field.name} are changed in place and are not all numbers, lists or arrays"


def _overlaps(
    field: Field, fields: Sequence[Field], arrays: Sequence[Array], hidden: Set[int]
) -> Iterable[str]:
    if id(field.data) in hidden:
        yield f"{field.name} is also reached under another name"
    for other in fields:
        if other is not field and other.data is field.data and not _same_rows(field, other):
            yield f"{field.name} and {other.name or 'what the loop iterates over'} are the same object"
    if not isinstance(field.data, np.ndarray):
        return
    for array in arrays:
        if array is not field.data and _overlap(array, field.data):
            yield f"memory of {field.name} is also reached under another name"


def _same_rows(field: Field, other: Field) -> bool:
    """Whether another name of one object is used at the same element by the same iteration only."""
    return other.name == "" and not other.backwards and field.spec.rows is None and field.index.start == 0 == (
        field.index.step - 1
    )


def _overlap(one: Array, other: Array) -> bool:
    if not np.may_share_memory(one, other):
        return False
    try:
        return np.shares_memory(one, other, max_work=_OVERLAP_WORK)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True
