"""The rows of the array table: ``BLOCK(0, "rw", rows=...)``, ``CYCLIC(...)``, ``WHOLE("r")``.

``WHOLE("rw")``, without an axis, is gathered element by element.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from dlbrt.contract import Distribution, Mode
from dlbrt.data.footprint import SubscriptFunction
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ArraySpec:
    """How one array of a loop is distributed and used.

    ``axis`` is the dimension that ``rows`` subscripts; None if the loop's index does not subscript the array.
    ``writes`` are the subscripts stored to, ``rows`` all subscripts touched; None stands for the index
    itself. They are affine in the index, except with ``inspect``: then they may be anything, slices without a
    step too. ``in_place``: stores go through elements (``A[i][j] = e``), which keep their identity.
    ``of`` gives the array where it is found under a key; None where its name does. ``overwritten`` tells
    whether each iteration that ends overwrites its rows before it reads any of them.
    """

    distribution: Distribution
    axis: int | None
    mode: Mode
    rows: SubscriptFunction | None = None
    writes: SubscriptFunction | None = None
    in_place: bool = False
    inspect: bool = False
    of: Callable[[], Any] | None = None
    overwritten: Callable[[], Any] | None = None

    @property
    def stored(self) -> SubscriptFunction | None:
        """The subscripts stored to."""
        return self.writes if self.writes is not None else self.rows

    @property
    def reads(self) -> bool:
        """Whether the loop needs the old contents."""
        return self.mode is not Mode.WRITE

    @property
    def stores(self) -> bool:
        """Whether the loop stores to the array."""
        return self.mode is not Mode.READ


def root_of(name: str) -> str:
    """The name that an access path begins with."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def index_name(spec: ArraySpec) -> str:
    """The name of the index in the subscripts, which is the program's."""
    for subscripts in (spec.rows, spec.writes):
        code = getattr(subscripts, "__code__", None)
        if code is not None and code.co_argcount:
            return str(code.co_varnames[0])
    return "i"


class DistributionSpec:
    """A distribution as generated programs write it: called, it describes an array."""

    def __init__(self, distribution: Distribution) -> None:
        self.distribution = distribution

    def __call__(
        self,
        *place: int | str,
        rows: SubscriptFunction | None = None,
        writes: SubscriptFunction | None = None,
        in_place: bool = False,
        inspect: bool = False,
        of: Callable[[], Any] | None = None,
        overwritten: Callable[[], Any] | None = None,
    ) -> ArraySpec:
        """How an array is distributed: ``BLOCK(axis, mode)``, ``CYCLIC(axis, mode)`` or ``WHOLE(mode)``.

        ``axis`` is the dimension that the loop's index subscripts; ``mode`` is ``"r"`` where iterations
        only read the array, ``"w"`` where they overwrite their rows, ``"rw"`` for both. ``rows`` are the
        subscripts that an iteration accesses and ``writes`` those that it stores to, each a function of the
        index, such as ``lambda i: (i - 1, i + 1)``; None: the index itself. The others are as `ArraySpec`
        has them. Raises ValueError for an unknown mode.
        """
        axis = place[0] if len(place) > 1 else None
        axis = None if axis is None else int(axis)
        mode = Mode(place[-1])
        return ArraySpec(self.distribution, axis, mode, rows, writes, in_place, inspect, of, overwritten)

    def __reduce__(self) -> str:
        return self.distribution.name


BLOCK = DistributionSpec(Distribution.BLOCK)
CYCLIC = DistributionSpec(Distribution.CYCLIC)
WHOLE = DistributionSpec(Distribution.WHOLE)
