"""A rank's private copy of a container that integers are added to, at full speed (OpenMP's privatization).

Integers may be added in any order. So a rank starts from the operator's identity, works natively, and
contributes its share at the end of each run. Combined in order, the shares of a dictionary also give the
sequential order of its keys.

Where the body reads an element that the container lacks, it must fail at once, as the sequential program
does; when the log is applied, the body has gone on. So ranks know which elements a container has
(`ContainerShape`).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from dlbrt.records import dataclass
from dlbrt.reductions.kinds import ContributionForm, ContributionKind
from dlbrt.reductions.operations import APPLY, PLAIN_KEYS, combining

#: The identity of each operator that has a number as its identity.
_ZEROS = {"+": 0, "-": 0, "|": 0, "^": 0, "&": -1}

#: A private copy is worth it up to this many elements for each iteration of the run.
_ELEMENTS_PER_ITERATION = 64


@dataclass(frozen=True, slots=True)
class PrivateCopySpec:
    """What a rank needs to make a private copy of a container; for a dictionary the shape is None."""

    shape: tuple[int, ...] | None
    dtype: str = ""

    def private(self, sign: str, iterations: int) -> Any:
        """A private copy for a run, filled with the identity; None if the run is too short to be worth it."""
        if self.shape is None:
            return _Counts()
        if np.prod(self.shape) > iterations * _ELEMENTS_PER_ITERATION:
            return None
        if self.dtype:
            zeros = np.zeros(self.shape, self.dtype)
            return np.invert(zeros, out=zeros) if _ZEROS[sign] else zeros
        return [_ZEROS[sign]] * self.shape[0]


class _Counts(dict[Any, Any]):
    """Counts from 0 for any key; ``defaults`` are other defaults that `get` was called with."""

    def __init__(self) -> None:
        super().__init__()
        self.defaults: dict[Any, Any] = {}

    def __missing__(self, key: Any) -> int:
        return 0

    def get(self, key: Any, default: Any = None) -> Any:
        if key in self:
            return self[key]
        if default != 0:
            self.defaults.setdefault(key, default)
        return 0


def private_copy_spec(kind: ContributionKind, real: Any) -> PrivateCopySpec | None:
    """How other ranks can make a private copy of ``real``; None if contributions must be logged."""
    if kind.form is not ContributionForm.ELEMENTS or kind.operator not in _ZEROS:
        return None
    if type(real) is np.ndarray and real.ndim and real.flags.writeable:
        exact = kind.integer and np.issubdtype(real.dtype, np.integer)
        loose = kind.any_order and kind.operator in "+-" and real.dtype.kind in "iufc"
        return PrivateCopySpec(real.shape, real.dtype.str) if exact or loose else None
    if not kind.integer:
        return None
    if type(real) is list and set(map(type, real)) <= {int}:
        return PrivateCopySpec((len(real),))
    return PrivateCopySpec(None) if kind.operator in "+-" and _counts(real) else None


def _counts(real: Any) -> bool:
    counter = type(real) is Counter or (type(real) is defaultdict and real.default_factory is int)
    return counter and set(map(type, real.values())) <= {int}


def share_of(private: Any, sign: str) -> Any:
    """What a run has contributed, as an operand of the log; None if nothing."""
    if isinstance(private, _Counts):
        return (list(private.items()), private.defaults) if private else None
    if isinstance(private, list):
        return private
    changed = np.flatnonzero(private != private.dtype.type(0) if _ZEROS[sign] == 0 else ~private)
    if 3 * len(changed) > private.size:
        return None, private
    return (changed, private.reshape(-1)[changed]) if len(changed) else None


def put_share(real: Any, share: Any, sign: str) -> None:
    """Combine a run's share with the real container."""
    apply = APPLY[combining(sign)]
    if isinstance(real, np.ndarray):
        _put_array(real, share, sign)
    elif isinstance(real, list):
        _put_list(real, share, sign)
    else:
        items, defaults = share
        for key, count in items:
            real[key] = apply(real[key] if key in real else defaults.get(key, 0), count)


def put_counts(real: Counter[Any], counts: Iterable[tuple[Any, int]]) -> None:
    """Add what a run has counted; numbers other than ``int`` that stand there by now grow one by one."""
    for key, count in counts:
        value: Any = real.get(key, 0)
        if type(value) is int:
            value += count
        else:
            for _ in range(count):
                value = value + 1
        real[key] = value


def _put_array(real: np.ndarray[Any, Any], share: tuple[Any, Any], sign: str) -> None:
    changed, values = share
    place: Any = ... if changed is None else np.unravel_index(changed, real.shape)
    real[place] = APPLY[combining(sign)](real[place], values)


def _put_list(real: list[Any], share: Sequence[Any], sign: str) -> None:
    apply, zero = APPLY[combining(sign)], _ZEROS[sign]
    for place, value in enumerate(share):
        if type(value) is not int or value != zero:
            real[place] = apply(real[place], value)


#: The largest number of keys that is sent to the other ranks.
_MAX_KEYS = 1 << 16


@dataclass(frozen=True, slots=True)
class ContainerShape:
    """The shape of an array, the length of a list, or the keys of a dictionary."""

    shape: tuple[int, ...] | int | None = None
    keys: tuple[Any, ...] = ()

    def reader(self) -> Callable[[Any], Any]:
        """A function of a key that raises what reading the element raises."""
        if self.shape is None:
            return dict.fromkeys(self.keys).__getitem__
        if isinstance(self.shape, int):
            return ([None] * self.shape).__getitem__
        return np.broadcast_to(np.int8(0), self.shape).__getitem__


def container_shape(kind: ContributionKind, real: Any) -> ContainerShape | None:
    """The shape of ``real``, where it stays the same while iterations update it."""
    read = kind.form is ContributionForm.ELEMENTS or kind.by_item
    if not read or kind.grows:
        return None
    if type(real) is np.ndarray:
        return ContainerShape(real.shape)
    if type(real) is list:
        return ContainerShape(len(real))
    fixed = (
        type(real) in (dict, OrderedDict) and len(real) <= _MAX_KEYS and set(map(type, real)) <= PLAIN_KEYS
    )
    return ContainerShape(keys=tuple(real)) if fixed else None
