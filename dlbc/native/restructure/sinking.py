"""Sinking a loop with independent iterations to the innermost place.

Theorem. If the iterations of a loop over ``v`` are independent, then every execution that keeps the order
of the statement instances within each iteration computes the same bits. So for a strip of iterations

* a sequence of statements becomes a sequence of loops over ``v`` (distribution);
* ``for v: for k in range(a, b): S``, with bounds that are the same for all ``v``, becomes ``for k: for v:
  S``;
* with bounds that grow or fall with ``v``, the ``k`` that all iterations of the strip share are such a
  rectangle ``range(m0, m1)``; what an iteration does before ``m0`` comes before it, what it does from
  ``m1`` on after it;
* consecutive ``k`` are put into one loop over ``v`` (unroll and jam).

Scalars that live from one of these loops over ``v`` to another have an element of a row for each iteration
of the strip (scalar expansion); columns that a strip reads again and again are copied first (`packing`).
Both make strips necessary; without them, and with rectangles only, the whole loop is one strip. See Wolfe,
*More iteration space tiling*, 1989; Allen and Kennedy, *Optimizing compilers for modern architectures*,
2001, chapters 5 and 8.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.restructure.body import accesses, assigned, bounds, element, loop_targets, names, stored
from dlbc.native.restructure.body import target as variable_of
from dlbc.native.restructure.floats import float_scalars
from dlbc.native.restructure.forms import Form, constant, form, name
from dlbc.native.restructure.leaves import can_chain, chained, innermost
from dlbc.native.restructure.nest import CannotRestructureError
from dlbc.native.restructure.packing import PackedColumns
from dlbc.native.restructure.splitting import Integers, cut_innermost, sketched
from dlbc.native.restructure.trees import (
    Fresh,
    assign,
    expression,
    for_range,
    if_true,
    plain,
    replaced,
    shifted,
    with_value,
)

#: Iterations of a strip: rows of this length stay in the first-level cache.
WIDTH = 256

#: The same with copies of tables, of which a strip's part is to stay there.
NARROW = 64

_WIDE = 1024  # of strips without rows

_FULLY = 8  # a loop with a constant number of iterations up to this one is unrolled completely


@dataclass(frozen=True)
class Leaf:
    """Statements that are run by one loop over the sunk variable."""

    statements: tuple[ast.stmt, ...]


@dataclass(frozen=True)
class Outer:
    """A loop that is taken around the loops over the sunk variable."""

    loop: ast.For
    parts: tuple[Leaf | Outer, ...]
    grows: tuple[int, int]  # the factors of the sunk variable in its bounds

    @property
    def alone(self) -> tuple[ast.stmt, ...]:
        """The statements, if they are straight-line code for one loop."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Leaf):
            statements = self.parts[0].statements
            if not any(isinstance(each, ast.For | ast.If) for each in statements):
                return statements
        return ()


class Sinking:
    """One loop to be sunk, in a body whose index names are known.

    ``sketch`` leaves out what is small in long loops: edges of triangles and remainders. ``plain_exist``: see
    `Nest`, of elements with plain subscripts. ``written``: what an iteration does where there is doubt in its
    strip (`deferring`).
    """

    def __init__(
        self,
        loop: ast.For,
        indices: frozenset[str],
        integers: Integers,
        fresh: Fresh,
        unroll: int,
        sketch: bool,
        plain_exist: bool = False,
        written: Sequence[ast.stmt] = (),
    ) -> None:
        self._written = written
        self._integers = integers
        self.variable = variable_of(loop)
        self._body = loop.body
        self._fresh, self._unroll, self._sketch, self._indices = fresh, unroll, sketch, indices
        self._varying = (assigned(loop.body) - loop_targets(loop.body)) | stored(loop.body)
        self.start, self.end = fresh(f"{self.variable}_first"), fresh(f"{self.variable}_end")
        parts = tuple(self._split(loop.body))
        self.sunk_below = tuple(variable_of(each.loop) for each in _outers(parts))
        self.rows = self._expanded(loop, parts)
        changing = self._varying | loop_targets(loop.body)
        self._packed = PackedColumns(
            self.variable, self.start, self.end, changing, indices, fresh, plain_exist
        )
        self.parts = tuple(self._packing(parts, ()))
        self.needs_floats = bool(self.rows) or self._packed.made
        self.needs_strips = self.needs_floats or any(any(each.grows) for each in _outers(parts))
        self.width = NARROW if self._packed.has_tables else WIDTH if self.needs_strips else _WIDE

    def _split(self, block: Sequence[ast.stmt]) -> Iterator[Leaf | Outer]:
        together: list[ast.stmt] = []
        for each in block:
            grows = self._growth(each)
            if grows is None and not isinstance(each, ast.Expr):
                together.append(each)
                continue
            if together:
                yield Leaf(tuple(together))
                together = []
            if grows is None:
                yield Leaf((each,))
                continue
            assert isinstance(each, ast.For)
            yield Outer(each, tuple(self._split(each.body)), grows)
        if together:
            yield Leaf(tuple(together))

    def _growth(self, each: ast.stmt) -> tuple[int, int] | None:
        """The factors of the sunk variable in the bounds of a loop that can be taken outside of it."""
        if not isinstance(each, ast.For):
            return None
        first, last, step = bounds(each)
        if names(first, last, step) & self._varying or self.variable in names(step):
            return None
        lower, upper = form(first).factor(self.variable), form(last).factor(self.variable)
        if lower is None or upper is None or ((lower or upper) and form(step).constant != 1):
            return None
        return lower, upper

    def _packing(self, parts: Sequence[Leaf | Outer], around: tuple[ast.For, ...]) -> Iterator[Leaf | Outer]:
        """The parts, reading copies of columns where that pays."""
        for part in parts:
            if isinstance(part, Leaf):
                yield Leaf(self._packed.applied(part.statements, around))
            else:
                yield Outer(part.loop, tuple(self._packing(part.parts, (*around, part.loop))), part.grows)

    def _expanded(self, loop: ast.For, parts: Sequence[Leaf | Outer]) -> dict[str, str]:
        """The rows of the scalars that live in more than one loop over the sunk variable."""
        scalars = assigned(loop.body) - loop_targets(loop.body)
        found = [names(*leaf.statements) & scalars for leaf in _leaves(parts)]
        crossing = sorted(s for s in scalars if sum(s in each for each in found) > 1)
        floats = float_scalars(loop.body, scalars, self._indices)
        for scalar in crossing:
            if scalar not in floats:
                raise CannotRestructureError(f"{scalar} may hold other values than floats")
        return {scalar: self._fresh(f"{scalar}_row") for scalar in crossing}

    @property
    def is_long(self) -> bool:
        """Whether a loop has been sunk below one that compilers do not unroll completely by themselves."""
        return any(count is None or abs(count) > _FULLY for count in map(_trips, _outers(self.parts)))

    @property
    def packed(self) -> tuple[str, ...]:
        """The arrays with columns that are copied for each strip."""
        return self._packed.arrays

    def allocations(self) -> list[ast.stmt]:
        """Statements that make the rows."""
        rows = [assign(row, f"numpy.empty({self.width}, numpy.float64)") for row in self.rows.values()]
        return [*rows, *self._packed.rows(self.width)]

    def strip(self, first: str, last: str) -> list[ast.stmt]:
        """What runs the iterations of one strip, which are not none."""
        return [*self._packed.statements(), *self._emitted(self.parts, first, last)]

    def _emitted(self, parts: Sequence[Leaf | Outer], first: str, last: str) -> Iterator[ast.stmt]:
        for part in parts:
            if isinstance(part, Leaf):
                yield from self._lanes(part, first, last)
            elif any(part.grows):
                yield from self._triangle(part, first, last)
            else:
                lower, upper, _ = map(form, bounds(part.loop))
                yield from self._rectangle(part, lower, upper, first, last)

    def _lanes(self, leaf: Leaf, first: str, last: str) -> list[ast.stmt]:
        """The loop over the sunk variable; in parts where a condition on it changes."""
        match leaf.statements:
            case [ast.Expr(value=ast.Name(id=doubt))]:
                return [] if self._sketch else [self._as_written_in_doubt(doubt)]
        loop = for_range(self.variable, first, last, self._own(leaf.statements))
        assert isinstance(loop, ast.For)
        if self._sketch:
            parts = sketched(loop, self._integers)
            parts = [] if loop in parts else parts
        else:
            parts = cut_innermost(loop, self._integers, self._fresh) or []
        return parts or innermost(self.variable, first, last, loop.body, self._fresh)

    def _as_written_in_doubt(self, doubt: str) -> ast.stmt:
        count = (name(self.end) - name(self.start)).text
        again = for_range(self.variable, self.start, self.end, self._written)
        return if_true(f"{self.rows[doubt]}[0:{count}].any()", [again, ast.Continue()])

    def _own(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements with rows for scalars."""
        place = form(ast.Name(self.variable)) - name(self.start)

        def replace(each: ast.expr) -> ast.expr | None:
            if isinstance(each, ast.Name) and each.id in self.rows:
                return ast.Subscript(ast.Name(self.rows[each.id], ast.Load()), place.tree, each.ctx)
            return None

        return [
            replaced(plain(each) if isinstance(each, ast.AugAssign) else each, replace) for each in statements
        ]

    def _rectangle(self, part: Outer, lower: Form, upper: Form, first: str, last: str) -> Iterator[ast.stmt]:
        """A loop with the same bounds for all iterations of the strip."""
        variable = variable_of(part.loop)
        step = form(bounds(part.loop)[2])
        own = self._own(part.alone)
        indices = self._indices - frozenset(self.rows.values())
        if not own or step.constant != 1 or not can_chain(own, variable, indices) or self._unroll == 1:
            inner = list(self._emitted(part.parts, first, last))
            yield for_range(variable, lower.text, upper.text, inner, step.text)
            return
        self.needs_floats = True
        count = (upper - lower).constant
        if count is not None and 0 < count <= _FULLY and lower.constant is not None:
            whole = [with_value(each, variable, name(variable)) for each in own]
            yield from self._completely(whole, variable, lower.constant, count, first, last)
            return
        yield from self._unrolled(own, variable, lower, upper, first, last)

    def _completely(
        self, own: Sequence[ast.stmt], variable: str, lower: int, count: int, first: str, last: str
    ) -> Iterator[ast.stmt]:
        made = [
            with_value(each, variable, constant(lower)) for each in chained(own, variable, count, variable)
        ]
        yield from innermost(self.variable, first, last, made, self._fresh)

    def _unrolled(
        self, own: Sequence[ast.stmt], variable: str, lower: Form, upper: Form, first: str, last: str
    ) -> Iterator[ast.stmt]:
        middle, count = self._fresh(f"{variable}_rest"), self._unroll
        copies = self._reversed(own, variable, lower, upper, first)
        many = chained(own, variable, count, variable)
        many = copies.applied(many)
        loop = innermost(self.variable, first, last, many, self._fresh)
        before = f"{lower.text} + " if lower.terms else ""
        made = [
            assign(middle, f"{before}max({(upper - lower).text}, 0) // {count} * {count}"),
            for_range(variable, lower.text, middle, loop, str(count)),
        ]
        if not self._sketch:
            one = copies.applied(own)
            rest = innermost(self.variable, first, last, one, self._fresh)
            made.append(for_range(variable, middle, upper.text, rest))
        if copies.made and not self._sketch:
            yield if_true(f"{lower.text} < {upper.text}", [*copies.made, *made])
        else:
            yield from made

    def _reversed(
        self, own: Sequence[ast.stmt], variable: str, lower: Form, upper: Form, first: str
    ) -> ReversedCopies:
        copies = ReversedCopies(self.variable, variable, self.start, self.end, self._fresh, self._indices)
        if first == self.start and self.needs_strips:
            copies.make(own, lower, upper, self._varying | loop_targets(self._body))
        return copies

    def _triangle(self, part: Outer, first: str, last: str) -> Iterator[ast.stmt]:
        """The rectangle that all iterations of the strip share, and the edges before and after it."""
        lower, upper = map(form, bounds(part.loop)[:2])
        at_start, at_end = name(self.start), name(self.end) - constant(1)
        if (first, last) != (self.start, self.end):  # a triangle in an edge
            at_start, at_end = name(self._fresh("v")), name(self._fresh("v"))
            yield assign(at_start.text, first)
            yield assign(at_end.text, f"{last} - 1")
        ends = (at_start, at_end) if part.grows[0] >= 0 else (at_end, at_start)
        least, most = (lower.with_value(self.variable, end) for end in ends)
        ends = (at_start, at_end) if part.grows[1] >= 0 else (at_end, at_start)
        shortest, longest = (upper.with_value(self.variable, end) for end in ends)
        k = variable_of(part.loop)
        begin, stop = name(self._fresh(f"{k}_all")), name(self._fresh(f"{k}_stop"))
        yield assign(begin.text, most.text)
        yield assign(stop.text, f"max({begin.text}, {shortest.text})")
        if part.grows[0] and not self._sketch:
            yield self._before(part, least, begin, first, last)
        yield from self._rectangle(part, begin, stop, first, last)
        if part.grows[1] and not self._sketch:
            yield self._after(part, stop, longest, first, last)

    def _before(self, part: Outer, least: Form, begin: Form, first: str, last: str) -> ast.stmt:
        lower, upper = map(form, bounds(part.loop)[:2])
        k = variable_of(part.loop)
        if part.grows[0] not in (1, -1) or part.grows[1]:
            return self._as_written(part, lower.text, f"min({begin.text}, {upper.text})", first, last)
        rest = lower.with_value(self.variable, constant(0))
        if part.grows[0] == 1:
            inner = self._emitted(part.parts, first, f"min({last}, {(shifted(k, 1) - rest).text})")
        else:
            inner = self._emitted(part.parts, f"max({first}, {(rest - name(k)).text})", last)
        return for_range(k, least.text, f"min({begin.text}, {upper.text})", list(inner))

    def _after(self, part: Outer, stop: Form, longest: Form, first: str, last: str) -> ast.stmt:
        upper = form(bounds(part.loop)[1])
        k = variable_of(part.loop)
        if part.grows[1] not in (1, -1):
            return self._as_written(part, stop.text, upper.text, first, last)
        rest = upper.with_value(self.variable, constant(0))
        if part.grows[1] == 1:
            inner = self._emitted(part.parts, f"max({first}, {(shifted(k, 1) - rest).text})", last)
        else:
            inner = self._emitted(part.parts, first, f"min({last}, {(rest - name(k)).text})")
        return for_range(k, stop.text, longest.text, list(inner))

    def _as_written(self, part: Outer, lower: str, upper: str, first: str, last: str) -> ast.stmt:
        inner = for_range(variable_of(part.loop), lower, upper, self._own(part.loop.body))
        return for_range(self.variable, first, last, [inner])


class ReversedCopies:
    """Arrays read backwards, such as ``C[k - i]``, copied so that the loop over ``i`` reads them forwards.

    With ``K`` the last ``k`` and ``s`` the first ``i``, ``row[x]`` is ``C[K - s - x]``; then ``C[k - i]`` is
    ``row[(K - k) + (i - s)]``. All elements copied are read by the strip, so that they exist.
    """

    def __init__(
        self, variable: str, over: str, start: str, end: str, fresh: Fresh, indices: frozenset[str]
    ) -> None:
        self._variable, self._over, self._start, self._end = variable, over, start, end
        self._fresh, self._indices = fresh, indices
        self._rows: dict[str, tuple[str, Form]] = {}
        self.made: list[ast.stmt] = []

    def make(self, own: Sequence[ast.stmt], lower: Form, upper: Form, varying: frozenset[str]) -> None:
        """Find the accesses to be copied."""
        found = accesses(own)
        for each in found:
            *others, last = each.forms
            key = self._key(each.array, each.subscripts)
            if key is None or key in self._rows:
                continue
            alike = [a for a in found if self._key(a.array, a.subscripts) == key]
            if not all(a.always and a.forms == each.forms for a in alike):
                continue
            fixed = [*others, last - name(self._over) + name(self._variable)]
            inner = {self._variable, self._over}
            if each.array in varying | self._indices or any(f.names & (varying | inner) for f in fixed):
                continue
            self._copy(key, each.array, others, last, lower, upper)

    def _key(self, array: str, subscripts: Sequence[ast.expr]) -> str | None:
        """What accesses share that differ by a constant in ``over`` alone."""
        last = form(subscripts[-1])
        if last.factor(self._variable) != -1 or last.factor(self._over) != 1:
            return None
        rest = last - constant(dict(last.terms).get("", 0))
        return f"{array}[{[form(s).text for s in subscripts[:-1]]}, {rest.text}]"

    def _copy(self, key: str, array: str, others: list[Form], last: Form, lower: Form, upper: Form) -> None:
        row, place = self._fresh(f"{array}_reversed"), self._fresh("p")
        top = last.with_value(self._over, upper - constant(1)).with_value(self._variable, name(self._start))
        count = (upper - lower) + name(self._end) - name(self._start) - constant(1)
        index = ", ".join([*(f.text for f in others), (top - name(place)).text])
        self.made.append(assign(row, f"numpy.empty({count.text}, numpy.float64)"))
        body = [assign(f"{row}[{place}]", f"{array}[{index}]")]
        self.made.append(for_range(place, "0", count.text, body))
        self._rows[key] = row, top

    def applied(self, own: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements, reading the copies."""

        def replace(each: ast.expr) -> ast.expr | None:
            parts = element(each)
            key = self._key(*parts) if parts else None
            if parts is None or key is None or key not in self._rows:
                return None
            row, top = self._rows[key]
            place = top - form(parts[1][-1]).with_value(self._variable, name(self._start))
            return expression(f"{row}[{(place + name(self._variable) - name(self._start)).text}]")

        return [replaced(each, replace) for each in own]


def _trips(part: Outer) -> int | None:
    first, last, _ = map(form, bounds(part.loop))
    return (last - first).constant


def _outers(parts: Sequence[Leaf | Outer]) -> Iterator[Outer]:
    for part in parts:
        if isinstance(part, Outer):
            yield part
            yield from _outers(part.parts)


def _leaves(parts: Sequence[Leaf | Outer]) -> Iterator[Leaf]:
    for part in parts:
        if isinstance(part, Leaf):
            yield part
        else:
            yield from _leaves(part.parts)
