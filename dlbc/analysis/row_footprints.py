"""The rows along one axis that one access touches in an iteration, found from the form of the subscript."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import OF_ITERATION, ZERO, Apply, IntegerForm, Operator, Variable, VariableKind
from dlbc.ir.access import Access, InnerLoop

_ONE = IntegerForm.literal(1)


@dataclass(frozen=True, slots=True)
class RowRange:
    """Rows ``low`` to ``high`` (excluded), in terms of the index and of names from outside.

    ``text`` is how the range is written: as a subscript, or as ``slice(low, high)``.
    """

    low: IntegerForm
    high: IntegerForm
    text: str

    @property
    def single(self) -> bool:
        """Whether it is one row."""
        return self.high - self.low == _ONE

    @property
    def width(self) -> int | None:
        """The number of rows, if it is a literal."""
        return (self.high - self.low).constant

    @property
    def affine(self) -> bool:
        """Whether it is one row, affine in the index."""
        if self.low.depends_on((VariableKind.ITEM,)):
            return False
        moving = [a for a in self.low.atoms if not isinstance(a, Variable) and IntegerForm.of(a).depends_on()]
        indices = ([a for a in m if isinstance(a, Variable) and a.kind is VariableKind.INDEX]
                   for m, _ in self.low.terms)  # fmt: skip
        return self.single and not moving and all(len(found) <= 1 for found in indices)

    @property
    def of_data(self) -> bool:
        """Whether data selects the rows: elements of arrays, or items of what the loop runs over."""
        return self.low.of_data or self.high.of_data

    @property
    def first(self) -> RowRange:
        """The first row alone."""
        return RowRange(self.low, self.low + _ONE, str(self.low))

    def each(self) -> Iterator[RowRange]:
        """The single rows, if their number is a literal."""
        for offset in range(self.width or 0):
            row = self.low + IntegerForm.literal(offset)
            yield RowRange(row, row + _ONE, str(row))

    @property
    def depends_on_index(self) -> bool:
        """Whether the rows vary with the index."""
        return any(end.depends_on(OF_ITERATION) for end in (self.low, self.high))


def rows_of(access: Access, axis: int) -> RowRange | None:
    """The rows on ``axis``; None if they are not known, or if the access touches all."""
    if len(access.subscripts) <= axis:
        return None
    subscript = access.subscripts[axis]
    inner_loops = {b.variable: b for b in access.domain.inner_loops}
    if subscript.form is not None:
        low, high = _extent(subscript.form, inner_loops), _extent(subscript.form, inner_loops, highest=True)
        if low is None or high is None:
            return None
        if low == high:
            return RowRange(low, low + _ONE, subscript.text if low == subscript.form else str(low))
        return _sliced(low, high + _ONE)
    if subscript.span is None:
        return None
    start, stop, _ = subscript.span
    if stop is None or any(end is not None and (end.constant or 0) < 0 for end in (start, stop)):
        return None
    low = _extent(start or ZERO, inner_loops)
    high = _extent(stop, inner_loops, highest=True)
    return None if low is None or high is None else _sliced(low, high)


def _sliced(low: IntegerForm, high: IntegerForm) -> RowRange:
    rows = RowRange(low, high, f"slice({low}, {high})")
    return rows.first if rows.single else rows


def _extent(
    form: IntegerForm, inner_loops: Mapping[Variable, InnerLoop], *, highest: bool = False
) -> IntegerForm | None:
    """The least (greatest) value over the variables of inner loops, from the innermost loop outwards."""
    for variable, inner_loop in reversed(list(inner_loops.items())):
        factor = form.factor_of(variable)
        if factor is None:
            return None
        if factor.terms:
            grows = _is_positive(factor, inner_loops)
            if not grows and not _is_positive(-factor, inner_loops):
                return None
            end = _end(inner_loop, last=grows == highest)
            if end is None:
                return None
            form = form + (end - IntegerForm.of(variable)) * factor
    return None if form.depends_on((VariableKind.INNER,)) else form


def _is_positive(form: IntegerForm, inner_loops: Mapping[Variable, InnerLoop]) -> bool:
    """Whether it is positive wherever the inner loops have iterations.

    A loop over ``range(W - 2)`` has iterations if W is at least 3: with W = w + 3, a form without negative
    terms over such w >= 0 is at least its literal part.
    """
    least: dict[Variable, int] = {}
    for inner_loop in inner_loops.values():
        start, stop = inner_loop.start, inner_loop.stop
        if start is not None and stop is not None and (inner_loop.step or 0) > 0:
            turns = stop - start
            atoms = [atom for atom in turns.atoms if isinstance(atom, Variable)]
            if len(atoms) == 1 and turns.coefficient(atoms[0]) == 1:
                least[atoms[0]] = 1 - _literal(turns)
    shifted = form.replaced(lambda v: IntegerForm.of(v) + IntegerForm.literal(max(0, least.get(v, 0))))
    known = all(isinstance(atom, Variable) and least.get(atom, -1) >= 0 for atom in shifted.atoms)
    return known and _literal(shifted) > 0 and all(k > 0 for _, k in shifted.terms)


def _literal(form: IntegerForm) -> int:
    return next((k for monomial, k in form.terms if not monomial), 0)


def _end(inner_loop: InnerLoop, *, last: bool) -> IntegerForm | None:
    """The least (greatest) value of the variable; the greatest may be a bound that is not reached."""
    if inner_loop.step is None or inner_loop.start is None or inner_loop.stop is None:
        return None
    if inner_loop.step > 0:
        return inner_loop.stop - _ONE if last else inner_loop.start
    return inner_loop.start if last else inner_loop.stop + _ONE


def evaluable(form: IntegerForm, written: frozenset[str]) -> bool:
    """Whether it can be evaluated before the loop: it reads no elements of arrays that the loop stores to."""
    return not form.elements & written and not any(map(_varies_inside, form.atoms))


def _varies_inside(atom: Variable | Apply) -> bool:
    if isinstance(atom, Variable):
        return atom.kind is VariableKind.INNER or atom.out_of_scope
    return atom.operator is Operator.ELEMENT and not atom.operands
