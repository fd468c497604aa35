"""What a kernel says of its chunk functions, and whether arguments are what these were written for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from types import FunctionType
from typing import Any

import numpy as np

from dlbrt.native.arguments import NotCompiled
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class ChunkSpec:
    """What a kernel says of its chunk functions: the last one is in the order of the source.

    ``fits`` tells whether the subscripts of the iterations from the least to the greatest index are in
    range. ``axes``: how many each array has. ``columns``: for each result the arguments any of which makes
    it a number of numpy. ``stored``: arguments that are stored to; ``index_only``: whose elements are
    subscripts alone; ``arrays``: that are arrays, no lists; ``integers``: lists of
    integers; ``python``: that are numbers of Python, not of
    numpy; ``real``: that are not complex; ``floats``: of floats, ``restructured_floats`` those in all but the
    last form. ``strip``: so many consecutive iterations one of the other forms takes at
    once. ``in_place``: an iteration that is done again would read what it has stored. ``bits``: the most that
    integers may have. ``rows``: arrays whose row of the index each iteration stores to, with the axis, where
    Python may fail at what iterations leave to it.
    ``origin_columns``: for results that are numpy's in some iterations alone, the number of the result that
    says of which arguments each was computed, as bits that stand for ``origins``.
    ``notes``: as ``columns``, for the rows of notes, of which an iteration leaves any number; ``noted``: for
    results that are the number of the first of an iteration's notes, the rows of these. The next result is
    the number of the first note after them. ``note_origins``: as ``origin_columns``.
    """

    forms: Sequence[FunctionType]
    fits: FunctionType | None = None
    axes: Mapping[str, int] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    index_only: frozenset[str] = frozenset()
    arrays: frozenset[str] = frozenset()
    integers: frozenset[str] = frozenset()
    floats: frozenset[str] = frozenset()
    python: frozenset[str] = frozenset()
    real: frozenset[str] = frozenset()
    restructured_floats: frozenset[str] = frozenset()
    strip: int = 1
    columns: Sequence[frozenset[str]] = ()
    in_place: bool = False
    bits: int = 62
    rows: Mapping[str, int] = field(default_factory=dict)
    origins: Sequence[str] = ()
    origin_columns: Mapping[int, int] = field(default_factory=dict)
    notes: Sequence[frozenset[str]] = ()
    noted: Mapping[int, Sequence[int]] = field(default_factory=dict)
    note_origins: Mapping[int, int] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The arguments' names."""
        code = self.forms[-1].__code__
        return code.co_varnames[4 : code.co_argcount]


def check_index(largest: int, bits: int) -> None:
    """Raise NotCompiled where an index is so large that integers might exceed 64 bits."""
    if largest.bit_length() > bits:
        raise NotCompiled("the loop's index is so large that integers might exceed 64 bits")


def check(spec: ChunkSpec, named: Mapping[str, Any], admitted: Mapping[str, Any]) -> None:
    """Raise NotCompiled where the arguments are not what the functions were written for."""
    for name, value in named.items():
        if name in spec.arrays and not isinstance(value, np.ndarray):
            raise NotCompiled(f"`{name}` is no array")
        if name in spec.floats and not is_float(admitted[name]):
            raise NotCompiled(f"`{name}` holds no floats, for which alone this body is compiled")
        if name in spec.python and isinstance(value, np.ndarray):
            raise NotCompiled(f"`{name}` is an array, and this body is compiled for lists")
        if name in spec.python and isinstance(value, np.generic):
            raise NotCompiled(f"`{name}` is a number of numpy, whose powers may differ in their last bits")
        if name in spec.real and type(value) is complex:
            raise NotCompiled(f"`{name}` is complex, and Python may raise for absolute values")
        if isinstance(value, int | np.integer) and int(value).bit_length() > spec.bits:
            raise NotCompiled(f"`{name}` is so large that integers might exceed 64 bits")
        if isinstance(value, list) and name in spec.stored:
            raise NotCompiled(f"`{name}` is a list to which iterations store")
    arrays = {name: value for name, value in named.items() if isinstance(value, np.ndarray)}
    for name in spec.stored & arrays.keys():
        for other, value in arrays.items():
            if other != name and np.may_share_memory(arrays[name], value):
                raise NotCompiled(f"`{name}` and `{other}` may share memory")


def check_axes(spec: ChunkSpec, named: Mapping[str, Any]) -> None:
    """Raise NotCompiled where a subscript would be of a row."""
    for name, axes in spec.axes.items():
        found = getattr(named[name], "ndim", axes)
        if found != axes:
            raise NotCompiled(f"`{name}` has {found} axes and {axes} subscripts")


def check_integers(name: str, array: Any, bits: int) -> None:
    """Raise NotCompiled where elements are no integers with so many bits at most."""
    if not (isinstance(array, np.ndarray) and array.dtype == np.int64):
        raise NotCompiled(f"`{name}` holds no integers, for which alone this body is compiled")
    if array.size and max(-int(array.min()), int(array.max())).bit_length() > bits:
        raise NotCompiled(f"`{name}` has elements so large that integers might exceed 64 bits")


def is_integer(value: Any) -> bool:
    """Whether an argument is an array of integers."""
    return isinstance(value, np.ndarray) and value.dtype.kind in "iu"


def is_float(value: Any) -> bool:
    """Whether an argument is a float, or an array of floats of 64 bits."""
    return isinstance(value, float) or (isinstance(value, np.ndarray) and value.dtype == np.float64)
