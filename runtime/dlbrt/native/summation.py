"""``np.sum`` and ``np.mean`` of a vector, compiled: additions in numpy's order.

numpy adds pairwise (``pairwise_sum`` in numpy/_core/src/umath/loops_utils.h.src): fewer than 8 elements one
by one, up to 128 in eight interleaved sums, more as the sum of two halves, the first a multiple of 8. So the
error grows with the logarithm of the length (N. J. Higham, "The accuracy of floating point summation", 1993).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload

from dlbrt.native import numerics

_BLOCK = 128


@njit(nogil=True)
def _one_by_one(a: Any, first: int, last: int, total: float) -> float:
    for i in range(first, last):
        total += a[i]
    return total


@njit(nogil=True)
def _interleaved(a: Any, first: int, n: int) -> float:
    """The sum of 8 to 128 elements."""
    s0, s1, s2, s3 = a[first], a[first + 1], a[first + 2], a[first + 3]
    s4, s5, s6, s7 = a[first + 4], a[first + 5], a[first + 6], a[first + 7]
    whole = first + n - n % 8
    for i in range(first + 8, whole, 8):
        s0 += a[i]
        s1 += a[i + 1]
        s2 += a[i + 2]
        s3 += a[i + 3]
        s4 += a[i + 4]
        s5 += a[i + 5]
        s6 += a[i + 6]
        s7 += a[i + 7]
    total = ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
    return float(_one_by_one(a, whole, first + n, total))


@njit(nogil=True)
def _pairwise(a: Any, first: int, n: int) -> float:
    if n < 8:
        return float(_one_by_one(a, first, first + n, -0.0))
    if n <= _BLOCK:
        return float(_interleaved(a, first, n))
    half = n // 2
    half -= half % 8
    return float(_pairwise(a, first, half) + _pairwise(a, first + half, n - half))


def _is_vector(a: Any, *elements: Any) -> bool:
    return isinstance(a, types.Array) and a.ndim == 1 and a.dtype in elements


@overload(numerics.np_sum, strict=False)
def _np_sum(a: Any) -> Any:
    if _is_vector(a, types.float64):
        return lambda a: 0.0 + _pairwise(a[:], 0, len(a)) if len(a) else 0.0
    if _is_vector(a, types.int64, types.boolean):

        def integers(a):  # type: ignore[no-untyped-def]
            total = np.uint64(0)  # wraps around, as numpy's does
            for i in range(len(a)):
                total += np.uint64(a[i])
            return np.int64(total)

        return integers
    return None


@overload(numerics.np_mean, strict=False)
def _np_mean(a: Any) -> Any:
    if _is_vector(a, types.float64):
        return lambda a: (0.0 + _pairwise(a[:], 0, len(a))) / len(a) if len(a) else np.nan
    return None
