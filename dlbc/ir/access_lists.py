"""What is asked of all accesses of a loop together: order, depth, which are of no concern."""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from dlbc.ir.access import Access
from dlbc.ir.loop import AnnotatedLoop

__all__ = ["depths_of", "escaping_arrays", "has_arithmetic_subscripts", "in_text_order", "without_private"]


def in_text_order(accesses: Sequence[Access]) -> list[Access]:
    """In the order of the text."""
    return sorted(accesses, key=lambda a: (getattr(a.node, "lineno", 0), getattr(a.node, "col_offset", 0)))


def without_private(accesses: Sequence[Access], loop: AnnotatedLoop) -> list[Access]:
    """Without those of scratch arrays: by the word of the user each iteration has its own."""
    private = {n for clause in loop.annotation.private for n in clause.names}
    return [a for a in accesses if a.root not in private]


def depths_of(accesses: Sequence[Access]) -> dict[str, int]:
    """By how many subscripts each array is indexed at most."""
    found: dict[str, int] = {}
    for access in accesses:
        found[access.array] = max(found.get(access.array, 0), len(access.subscripts))
    return found


def has_arithmetic_subscripts(access: Access) -> bool:
    """Whether it says by arithmetic alone where it stores: a dependence there is no question of order."""
    return all(s.full or (s.forms and not any(f.elements for f in s.forms)) for s in access.subscripts)


def escaping_arrays(accesses: Sequence[Access], cleared: Mapping[str, Collection[ast.AST]]) -> frozenset[str]:
    """Arrays (``self.A``) of which the object they belong to is handed on as a whole.

    ``cleared`` are places by array where that is known to do nothing to it.
    """
    found = set()
    for array in {a.array for a in accesses}:
        harmless = cleared.get(array, ())
        if any(array.startswith(a.array + ".") and a.node not in harmless for a in accesses):
            found.add(array)
    return frozenset(found)
