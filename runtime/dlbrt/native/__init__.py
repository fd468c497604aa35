"""Chunk functions of `jit` loops: compiled by numba, kept in a cache, with CPython's and numpy's bits.

Only `compiler`, `cache`, `lowering` and `ufunc_loops` import numba, and nothing imports them before a `jit`
loop runs. The helpers of `numerics` are plain Python functions; a generated program calls them as
``dlbrt.native.wide(x)``, in compiled code and where a loop runs as Python.
"""

from __future__ import annotations

from typing import Any

import numpy as numpy  # generated programs find it here, whatever they call it

from dlbrt.native import numerics


def __getattr__(name: str) -> Any:
    """The helpers of `numerics`."""
    if name in numerics.HELPERS:
        return getattr(numerics, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
