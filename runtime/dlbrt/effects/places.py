"""Which elements a container has: where the body reads one that is missing, it fails at once, as by itself.

The alternative, to meet the failure when the log is applied, comes too late: the body has gone on by then.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from dlbrt.effects.kinds import ContributionForm, ContributionKind
from dlbrt.records import dataclass

__all__ = ["ContainerShape", "container_shape"]

#: Keys that are sent to the other ranks at most.
_MAX_KEYS = 1 << 16

#: Types whose objects are equal to their copies, and have the same hash.
_KEYS = frozenset({str, int, bytes, bool})


@dataclass(frozen=True, slots=True)
class ContainerShape:
    """The shape of an array, the length of a list, or the keys of a dictionary."""

    shape: tuple[int, ...] | int | None = None
    keys: tuple[Any, ...] = ()

    def reader(self) -> Callable[[Any], Any]:
        """A function of a key that fails as reading the element fails."""
        if self.shape is None:
            return dict.fromkeys(self.keys).__getitem__
        if isinstance(self.shape, int):
            return ([None] * self.shape).__getitem__
        return np.broadcast_to(np.int8(0), self.shape).__getitem__


def container_shape(kind: ContributionKind, real: Any) -> ContainerShape | None:
    """The places of ``real``, as far as they stay the same while iterations update it."""
    if kind.form is not ContributionForm.ELEMENTS or kind.grows:
        return None
    if type(real) is np.ndarray:
        return ContainerShape(real.shape)
    if type(real) is list:
        return ContainerShape(len(real))
    fixed = type(real) in (dict, OrderedDict) and len(real) <= _MAX_KEYS and set(map(type, real)) <= _KEYS
    return ContainerShape(keys=tuple(real)) if fixed else None
