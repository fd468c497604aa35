"""What is noted while a body is lowered: places of tests, demands on arguments, the arrays that it makes."""

from __future__ import annotations

import ast
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.native.extents import Linear
from dlbc.native.local_arrays import LocalArray
from dlbc.native.scalars import Scalar


@dataclass
class Level:
    """A place at which it is tested whether subscripts are in range: before a chunk, or before a loop.

    ``depth``: how many loops are around. ``conditional``: how many conditions. ``stored_before``: whether the
    iteration may have stored by then. ``changing``: names that the loop binds. ``tests`` that have been made,
    and the statements that make them.
    """

    depth: int = 0
    conditional: int = 0
    stored_before: bool = False
    changing: set[str] = field(default_factory=set)
    tests: set[str] = field(default_factory=set)
    statements: list[ast.stmt] = field(default_factory=list)


@dataclass
class Demands:
    """What a body asks of the arguments of its chunk function, by their names in it.

    ``used``: those that occur. ``subscripts`` are arrays whose elements subscribe others; of ``values`` they
    are used otherwise, too. ``integers`` have to be lists of integers, ``floats`` to be floats, ``shaped``
    arrays, ``python`` numbers of Python, ``real`` no complex ones. ``axes``: how many each array has.
    ``pure_calls``: functions that may raise, and
    do nothing else.
    """

    used: dict[str, None] = field(default_factory=dict)
    subscripts: set[str] = field(default_factory=set)
    values: set[str] = field(default_factory=set)
    integers: set[str] = field(default_factory=set)
    floats: set[str] = field(default_factory=set)
    shaped: set[str] = field(default_factory=set)
    python: set[str] = field(default_factory=set)
    real: set[str] = field(default_factory=set)
    axes: dict[str, int] = field(default_factory=dict)
    pure_calls: set[str] = field(default_factory=set)


@dataclass
class OwnArrays:
    """The arrays that iterations make, with ``lengths`` and ``elements`` of those made so far.

    ``buffers`` are made once for the chunk, by the statements of ``prologue``. ``sizes``: lengths that are
    tested before the chunk, so that they are not negative.
    """

    allocations: dict[str, LocalArray]
    lengths: dict[str, tuple[Linear, ...]] = field(default_factory=dict)
    elements: dict[str, Scalar] = field(default_factory=dict)
    buffers: set[str] = field(default_factory=set)
    sizes: set[str] = field(default_factory=set)
    prologue: list[ast.stmt] = field(default_factory=list)
