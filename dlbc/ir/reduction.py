"""Values that iterations contribute to, and effects that are kept in iteration order."""

from __future__ import annotations

import ast
from dataclasses import dataclass

__all__ = ["Ordered", "Reduction"]


@dataclass(frozen=True)
class Reduction:
    """A name that iterations update and do not otherwise read.

    ``operator``: ``+ - * & | ^ max min and or`` of the update, or the comparison ``< <= > >=`` of
    ``if new < name: name, companions = new, ...``. ``element``: elements of the object named are updated
    (``hist[b] += 1``), not the name. ``several``: an iteration may update a name more than once, and its
    share is put together before it is combined. ``integer``: each contribution is surely an integer.
    ``any_order``: the user gave up iteration order. ``updates`` are the statements.
    """

    name: str
    operator: str
    updates: tuple[ast.stmt, ...]
    element: bool = False
    several: bool = False
    integer: bool = False
    any_order: bool = False
    companions: tuple[str, ...] = ()


@dataclass(frozen=True)
class Ordered:
    """A container that the body only adds to (``append extend add [key]=``); replayed in iteration order."""

    name: str
    effects: tuple[ast.expr | ast.stmt, ...]
