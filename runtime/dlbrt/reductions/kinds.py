"""How a loop contributes to a value: the kinds that ``dlb.reductions`` and ``dlb.ordered`` declare.

Generated programs write ``total=REDUCE("+")`` for a name (as MPI_SUM with MPI_Reduce), ``hist=ELEMENTS("+")``
for the elements of a container, ``best=SELECT(">", "where")`` for a comparison that binds other names along
with the best value (as MPI_MAXLOC).
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from operator import attrgetter, itemgetter
from typing import Any

from dlbrt.records import dataclass

ARITHMETIC = ("+", "-", "*", "&", "|", "^")
COMPARISONS = ("<", "<=", ">", ">=")
_OPERATORS = (*ARITHMETIC, "max", "min", "and", "or")


class ContributionForm(Enum):
    """What iterations contribute, and what is kept of it until it is combined."""

    LOGGED = "each operand, with how it was used"
    EXTREME = "the operands that beat those before them on the same rank"
    PER_ITERATION = "one share for each iteration"
    PER_RUN = "one share for each run of iterations"
    LAST = "the last value of a run"
    SELECTION = "the best value of a run, with what was bound along with it"
    ELEMENTS = "updates of elements"
    ADDED = "calls and stores, as made"


@dataclass(frozen=True, slots=True)
class ContributionKind:
    """One value that a loop contributes to; see `ContributionForm` for what is kept."""

    form: ContributionForm
    operator: str = ""
    integer: bool = False
    any_order: bool = False
    grows: bool = False
    companions: tuple[str, ...] = ()
    by_item: bool = False
    none_first: bool = False
    by: str = ""

    @property
    def bound(self) -> bool:
        """Whether the loop binds the name anew, so that its value is a result of the loop."""
        return self.form not in (ContributionForm.ELEMENTS, ContributionForm.ADDED)

    @property
    def by_run(self) -> bool:
        """Whether what is kept belongs to a whole run, which must therefore be contiguous."""
        return self.form in (ContributionForm.PER_RUN, ContributionForm.LAST, ContributionForm.SELECTION)


#: The kind of a container that the loop only adds to.
ORDERED = ContributionKind(ContributionForm.ADDED)


def grouping(*, grows: bool) -> ContributionKind:
    """The kind of a container to whose items the loop only adds; ``grows``: it may add items too."""
    return ContributionKind(ContributionForm.ADDED, grows=grows, by_item=True)


def REDUCE(operator: str, *, several: bool = False, order: str | None = None) -> ContributionKind:
    """A name that each iteration updates by ``operator``: ``+ - * & | ^ max min and or``.

    ``several``: an iteration may update it more than once, and contributes the combined updates.
    ``order="any"``: contributions may be combined in any order. ValueError for an unknown operator or order.
    """
    _check(operator, _OPERATORS)
    any_order = _any_order(order)
    return ContributionKind(_form(operator, several, any_order), operator, any_order=any_order)


def ELEMENTS(
    operator: str, *, integer: bool = False, grows: bool = False, order: str | None = None
) -> ContributionKind:
    """A container whose elements iterations update by ``operator``, as in ``hist[b] += 1``.

    ``integer``: all contributions are integers. ``grows``: updates may add elements, as in
    ``d[k] = d.get(k, 0) + 1``. ``order`` as for `REDUCE`. ValueError for an unknown operator or order.
    """
    _check(operator, _OPERATORS)
    return ContributionKind(
        ContributionForm.ELEMENTS, operator, integer=integer, any_order=_any_order(order), grows=grows
    )


def SELECT(comparison: str, *companions: str, by: str = "", none_first: bool = False) -> ContributionKind:
    """A name bound to the best value, as in ``if v > best: best, where = v, i``; ``companions`` go with it.

    ``comparison`` is one of ``< <= > >=``; ``by`` is the part of values that is compared: ``[0]`` or
    ``["cost"]``, ``.cost``; ValueError for any other. ``none_first``: the first value takes the place of
    None, as in ``if best is None or v > best``.
    """
    _check(comparison, COMPARISONS)
    part_of(by)
    return ContributionKind(
        ContributionForm.SELECTION, comparison, companions=companions, none_first=none_first, by=by
    )


def part_of(by: str) -> Callable[[Any], Any]:
    """What is compared of a value, by its text; ValueError for another text."""
    if not by:
        return _whole
    if by.startswith(".") and by[1:].isidentifier():
        return attrgetter(by[1:])
    return itemgetter(key_of(by))


def key_of(by: str) -> int | str:
    """The key in a text such as ``[0]`` or ``["cost"]``; ValueError for another text."""
    inner = by[1:-1] if by.startswith("[") and by.endswith("]") else ""
    if inner.isdigit():
        return int(inner)
    if len(inner) > 1 and inner[0] == inner[-1] == '"':
        return inner[1:-1]
    raise ValueError(f'by: expected [0], ["cost"] or .cost, found {by!r}')


def _whole(value: Any) -> Any:
    return value


def LAST() -> ContributionKind:
    """An attribute that iterations store to, as in ``if e: self.found = e``: the last store counts."""
    return ContributionKind(ContributionForm.LAST)


def _check(operator: str, known: tuple[str, ...]) -> None:
    if operator not in known:
        raise ValueError(f"expected one of {' '.join(known)}, found {operator!r}")


def _any_order(order: str | None) -> bool:
    if order not in (None, "any"):
        raise ValueError(f"order: expected 'any', or nothing for the order of iterations, found {order!r}")
    return order is not None


def is_decided(kind: ContributionKind, value: Any) -> bool:
    """Whether ``value and e``, or ``value or e``, is the value, so that e is not evaluated."""
    if kind.form is not ContributionForm.PER_RUN or kind.operator not in ("and", "or"):
        return False
    try:
        return bool(value) == (kind.operator == "or")
    except Exception:  # arrays, or an object's own hook: the first iteration raises it again
        return False


def _form(operator: str, several: bool, any_order: bool) -> ContributionForm:
    if operator in ("max", "min"):
        return ContributionForm.EXTREME
    if operator in ("and", "or") or (any_order and operator != "-"):
        return ContributionForm.PER_RUN
    # Subtraction has no identity for every type (sets), so each operand is logged.
    return ContributionForm.PER_ITERATION if several and operator != "-" else ContributionForm.LOGGED
