"""What goes into the restructuring of a parallel loop, and what comes out.

The caller guarantees of a `Nest`: its iterations are independent (no iteration stores to an element that
another one reads or stores to); the subscripts of every access that is executed are in range and not
negative, and those that are names or constants are so even where a condition keeps the access from being
executed; no operation of the body raises; integers do not overflow; arrays are C-contiguous, with as many
dimensions as they have subscripts, and do not overlap. Neither is a positive ``step`` assumed, nor that
there are iterations. Where iterations must not overlap in time (``in_order``), all this is guaranteed only of
inner loops without other statements than assignments, conditionals and loops: iterations may be left early
elsewhere, and share arrays that each of them fills anew.

What a `Variant` needs beyond that stands in its fields. Its statements use ``numpy`` (for scratch rows),
``range``, ``min`` and ``max``.
"""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

#: An attribute of expressions: the text of the program that they stand for, where it is another one.
WRITTEN = "written"


@dataclass(frozen=True)
class Nest:
    """A parallel loop over ``range(first, last, step)``, and the roles of the names in its body.

    ``no_floats``: arrays that hold no floats, whatever arrays that no subscript uses hold. ``may_defer``:
    iterations need their order for checks alone, which put nothing back.
    """

    loop: ast.For
    first: str
    last: str
    step: str
    arrays: tuple[str, ...]
    numbers: tuple[str, ...]
    pure_calls: frozenset[str]
    taken: frozenset[str]
    in_order: bool = False
    no_floats: frozenset[str] = frozenset()
    may_defer: bool = False


@dataclass(frozen=True)
class Variant:
    """Statements with the effects of all iterations, to the bit.

    ``predicted`` is their time over that of the loop as written. They are right only where ``float_arrays``
    hold float64 and, if they take strips of ``strip`` iterations (more than 1), where the step is 1.
    """

    what: tuple[str, ...]
    body: tuple[ast.stmt, ...]
    float_arrays: frozenset[str]
    predicted: float
    strip: int = 1


@dataclass(frozen=True)
class Restructured:
    """The variants, best first; and why others are not possible."""

    variants: tuple[Variant, ...]
    reasons: tuple[str, ...]


class CannotRestructureError(Exception):
    """A transformation is not legal, or the body is not understood; the message says why."""
