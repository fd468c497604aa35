"""A rank's own copy of a container that integers are added to, at full speed.

Integers may be added in any order, so a rank starts from zeros, works natively, and gives its share at the
end of each run. Of a dictionary, runs put together in order give the sequential order of the keys as well.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from dlbrt.effects.kinds import ContributionForm, ContributionKind
from dlbrt.effects.operations import APPLY, combining
from dlbrt.records import dataclass

__all__ = ["PrivateCopySpec", "private_copy_spec", "put_share", "share_of"]

#: Operators whose identity is a number, and that number.
_ZEROS = {"+": 0, "-": 0, "|": 0, "^": 0, "&": -1}

#: Elements that a run must pay for with one iteration, for a private copy to be worth it.
_ELEMENTS_PER_ITERATION = 64


@dataclass(frozen=True, slots=True)
class PrivateCopySpec:
    """What a rank needs to know of a container to make its own: of a dictionary, nothing."""

    shape: tuple[int, ...] | None
    dtype: str = ""

    def private(self, sign: str, iterations: int) -> Any:
        """A copy of zeros for a run; None where the run is too short for one."""
        if self.shape is None:
            return _Counts()
        if np.prod(self.shape) > iterations * _ELEMENTS_PER_ITERATION:
            return None
        if self.dtype:
            zeros = np.zeros(self.shape, self.dtype)
            return np.invert(zeros, out=zeros) if _ZEROS[sign] else zeros
        return [_ZEROS[sign]] * self.shape[0]


class _Counts(dict[Any, Any]):
    """Counts from 0, whatever key is asked for; ``defaults`` are what `get` was to take instead."""

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
    """How other ranks can make their own copy of ``real``; None where contributions must be logged."""
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
    """What a run has contributed, as it goes into the log; None where it is nothing."""
    if isinstance(private, _Counts):
        return (list(private.items()), private.defaults) if private else None
    if isinstance(private, list):
        return private
    changed = np.flatnonzero(private != private.dtype.type(0) if _ZEROS[sign] == 0 else ~private)
    if 3 * len(changed) > private.size:
        return None, private
    return (changed, private.reshape(-1)[changed]) if len(changed) else None


def put_share(real: Any, share: Any, sign: str) -> None:
    """Put a run's share to the real container."""
    apply = APPLY[combining(sign)]
    if isinstance(real, np.ndarray):
        _put_array(real, share, sign)
    elif isinstance(real, list):
        _put_list(real, share, sign)
    else:
        items, defaults = share
        for key, count in items:
            real[key] = apply(real[key] if key in real else defaults.get(key, 0), count)


def _put_array(real: np.ndarray[Any, Any], share: tuple[Any, Any], sign: str) -> None:
    changed, values = share
    place: Any = ... if changed is None else np.unravel_index(changed, real.shape)
    real[place] = APPLY[combining(sign)](real[place], values)


def _put_list(real: list[Any], share: Sequence[Any], sign: str) -> None:
    apply, zero = APPLY[combining(sign)], _ZEROS[sign]
    for place, value in enumerate(share):
        if type(value) is not int or value != zero:
            real[place] = apply(real[place], value)
