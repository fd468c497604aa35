"""Which elements of a value the contract leaves open after an exception that the program has caught.

Iterations behind the failing one may have stored theirs. The runtime notes the rows; here they are found
again by address, whichever view of the memory leads to them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]


class NotedRows(Protocol):
    """Rows of an array along an axis, or elements of a list; ``rows`` is None where it may be any of them."""

    @property
    def data(self) -> Any:
        """The array, or the list."""

    @property
    def axis(self) -> int:
        """Of an array."""

    @property
    def rows(self) -> Sequence[int] | None:
        """Their numbers."""


class OpenElements:
    """What some rows leave open; none of their arrays or lists is freed."""

    def __init__(self, noted: Iterable[NotedRows] = ()) -> None:
        self._noted = list(noted)

    def of_list(self, value: object) -> frozenset[int]:
        """The open elements of a list."""
        found = (each for each in self._noted if each.data is value)
        return frozenset(k for each in found for k in _numbers(each, len(each.data)))

    def of_array(self, value: Array) -> Array | None:
        """Whether each element is open, as an array of that shape; None if none is."""
        import numpy as np

        found = np.zeros(value.shape, bool)
        for each in self._noted:
            array = each.data
            if isinstance(array, np.ndarray) and value.size and np.may_share_memory(array, value):
                rows = list(_numbers(each, array.shape[each.axis]))
                opened = np.moveaxis(_addresses(array), each.axis, 0)[rows]
                found |= np.isin(_addresses(value), opened)
        return found if found.any() else None


def _numbers(each: NotedRows, length: int) -> Iterable[int]:
    return range(length) if each.rows is None else each.rows


def _addresses(array: Array) -> Array:
    """Where each element of an array begins."""
    import numpy as np

    found = np.full(array.shape, array.ctypes.data, np.int64)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        shape = [1] * array.ndim
        shape[axis] = length
        found += (np.arange(length, dtype=np.int64) * stride).reshape(shape)
    return found
