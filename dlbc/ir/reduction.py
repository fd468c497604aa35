"""Values that iterations contribute to, and effects that are kept in iteration order."""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

__all__ = ["IterationContributions", "OrderedContainer", "Reduction"]

#: Operators by which a copy that begins as nothing is put to the container afterwards.
_FROM_NOTHING = frozenset("+-|^&")


@dataclass(frozen=True)
class Reduction:
    """A name that iterations update and do not otherwise read.

    ``operator``: ``+ - * & | ^ max min and or`` of the update (``-`` where any update subtracts), or the
    comparison ``< <= > >=`` of ``if new < name: name, companions = new, ...``. ``element``: elements of the
    object named are updated (``hist[b] += 1``), not the name. ``several``: an iteration may update a name
    more than once, and its share can be put together before it is combined. ``integer``: each contribution
    is surely an integer. ``grows``: updates may add elements. ``any_order``: the user gave up iteration
    order. ``updates`` are the statements.
    """

    name: str
    operator: str
    updates: tuple[ast.stmt, ...]
    element: bool = False
    multiple_updates: bool = False
    integer: bool = False
    any_order: bool = False
    may_insert: bool = False
    companions: tuple[str, ...] = ()

    @property
    def uses_copies(self) -> bool:
        """Whether ranks add to copies of the container, if it holds integers; with `order=any`, numbers."""
        return self.element and self.operator in _FROM_NOTHING and (self.integer or self.any_order)


@dataclass(frozen=True)
class OrderedContainer:
    """A container that the body only adds to (``append extend add [key]=``); replayed in iteration order."""

    name: str
    effects: tuple[ast.expr | ast.stmt, ...]


@dataclass(frozen=True)
class IterationContributions:
    """What the iterations of a loop contribute to.

    ``disputed``: names whose elements are stored to by subscripts alone: if iterations are proved to store to
    elements of their own these are stores like others, and no contributions. ``settled``: names carried from
    one iteration to the next that are explained here, by a reduction or by a diagnostic. ``claimed``: calls
    that are such a contribution. ``arrays``: those of the disputed that are only stored to, and surely are
    arrays or lists. ``hashed``: containers that surely are dictionaries.
    """

    reductions: tuple[Reduction, ...] = ()
    ordered: tuple[OrderedContainer, ...] = ()
    maybe_stores: frozenset[str] = frozenset()
    explained: frozenset[str] = frozenset()
    contributing_calls: frozenset[ast.AST] = frozenset()
    arrays: frozenset[str] = frozenset()
    dictionaries: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are bound: those of reductions, and what goes with them."""
        bound = (r for r in self.reductions if not r.element)
        return tuple(name for r in bound for name in (r.name, *r.companions))

    @property
    def containers(self) -> tuple[str, ...]:
        """The names of objects that are changed in place."""
        return (*(r.name for r in self.reductions if r.element), *(o.name for o in self.ordered))

    def without(self, names: frozenset[str]) -> IterationContributions:
        """The rest, where the objects of these names take plain stores."""
        return IterationContributions(
            tuple(r for r in self.reductions if r.name not in names),
            tuple(o for o in self.ordered if o.name not in names),
            self.maybe_stores - names,
            self.explained,
            self.contributing_calls,
            self.arrays - names,
            self.dictionaries - names,
        )
