"""Cutting a loop where a condition on its index changes, or where it comes to an element that it also reads.

Theorem. ``for j in range(a, b): S`` is the same as ``range(a, c)``, ``range(c, d)`` and ``range(d, b)`` one
after the other, if a <= c <= d <= b (index-set splitting: Banerjee, *Speedup of ordinary programs*, 1979).
With ``c`` and ``d`` around an integer ``e`` that does not change in the loop, all ``j`` of the first part are
less than ``e`` and all of the last one greater. So there

* a comparison of ``j`` with ``e`` has one value, and conditionals on it are gone;
* ``A[i, e]`` is not stored to, if the loop stores to ``A`` at ``A[i, j]`` alone: a part that is not empty may
  load it once, if each iteration reads it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.restructure.body import (
    ElementAccess,
    accesses,
    assigned,
    bounds,
    names,
    stored,
    target,
)
from dlbc.native.restructure.forms import Form, constant, form, name
from dlbc.native.restructure.leaves import straight_loop
from dlbc.native.restructure.trees import Fresh, assign, for_range, replaced

_MOST_CUTS = 2  # of one loop: each makes three of it


@dataclass(frozen=True)
class Integers:
    """Names that surely stand for integers, one of them for the step of the parallel loop."""

    names: frozenset[str]
    step: str


@dataclass(frozen=True)
class _Cut:
    """Where a loop is cut: at the least and behind the greatest of some values, which are in order."""

    points: tuple[Form, ...]
    loads: frozenset[str]

    def least(self, last: str) -> str:
        """The text of the least value, or ``last`` if that is less."""
        return f"min({', '.join(p.text for p in self._ends)}, {last})"

    def behind(self, last: str) -> str:
        """The text of what comes after the greatest value, or ``last`` if that is less."""
        if len(self.points) == 1:
            return f"min({(self.points[0] + constant(1)).text}, {last})"
        return f"min(max({', '.join(p.text for p in self._ends)}) + 1, {last})"

    @property
    def _ends(self) -> tuple[Form, ...]:
        """Values with the least and the greatest one: the ends, if they lie at equal distances."""
        if len(self.points) == 1:
            return self.points
        first, second, *_ = self.points
        regular = all(p == first + (second - first).times(k) for k, p in enumerate(self.points))
        return (first, self.points[-1]) if regular else self.points


@dataclass(frozen=True)
class _Part:
    """A part of a loop, the points that it does not have, and what may be loaded once for it."""

    loop: ast.For
    without: frozenset[Form] = frozenset()
    loads: frozenset[str] = frozenset()


def cut_innermost(loop: ast.For, integers: Integers, fresh: Fresh) -> list[ast.stmt] | None:
    """A loop without other ones in parts; None where nothing is gained."""
    whole = _Part(loop)
    if any(isinstance(n, ast.For) for each in loop.body for n in ast.walk(each)):
        return None
    return list(_parts(whole, integers, fresh, _MOST_CUTS)) if _find(whole, integers) else None


def _parts(part: _Part, integers: Integers, fresh: Fresh, cuts: int) -> Iterator[ast.stmt]:
    """The statements of a part of a loop, which is cut further up to so many times."""
    found = _find(part, integers) if cuts else None
    if found is None:
        yield from _emitted(part, fresh)
        return
    variable = target(part.loop)
    first, last, _ = (ast.unparse(bound) for bound in bounds(part.loop))
    low, high = fresh(f"{variable}_low"), fresh(f"{variable}_high")
    yield assign(low, f"max({first}, {found.least(last)})")
    yield assign(high, f"max({low}, {found.behind(last)})")
    yield from _parts(_side(part, found, first, low, -1), integers, fresh, cuts - 1)
    between = _between(part.loop.body, variable, found)
    if not _is_empty(between):
        yield for_range(variable, low, high, between)
    yield from _parts(_side(part, found, high, last, 1), integers, fresh, cuts - 1)


def _side(part: _Part, found: _Cut, first: str, last: str, side: int) -> _Part:
    """The part before (-1) or behind (1) a cut."""
    variable = target(part.loop)
    loop = for_range(variable, first, last, _decided(part.loop.body, variable, found.points, side))
    assert isinstance(loop, ast.For)
    return _Part(loop, part.without | frozenset(found.points), part.loads | found.loads)


def _between(body: Sequence[ast.stmt], variable: str, found: _Cut) -> list[ast.stmt]:
    if len(found.points) == 1:
        return _decided(body, variable, found.points, 0)
    return [replaced(each, lambda _: None) for each in body]


def _is_empty(body: Sequence[ast.stmt]) -> bool:
    return all(isinstance(each, ast.Pass) for each in body)


def sketched(loop: ast.For, integers: Integers) -> list[ast.stmt]:
    """The long part of a loop that can be cut, for the cost model; of others the loop."""
    found = _find(_Part(loop), integers)
    if found is None:
        return [loop]
    first, last, _ = (ast.unparse(bound) for bound in bounds(loop))
    return list(_emitted(_side(_Part(loop), found, first, last, 1), Fresh(names(loop))))


def _emitted(part: _Part, fresh: Fresh) -> Iterator[ast.stmt]:
    """The statements of a part: where those are straight-line code, what does not change stands before the
    loop.
    """
    loop, body = part.loop, part.loop.body
    if _is_empty(body):
        return
    if any(isinstance(n, ast.For | ast.If) for each in body for n in ast.walk(each)):
        yield loop
        return
    surely = {_text(each) for each in accesses(body) if each.always and not each.is_store}
    held = {text: fresh(f"{text.partition('[')[0].lower()}_held") for text in sorted(part.loads & surely)}

    def replace(each: ast.expr) -> ast.expr | None:
        text = ast.unparse(each) if isinstance(each, ast.Subscript) else ""
        return ast.Name(held[text], ast.Load()) if text in held else None

    made = [replaced(each, replace) for each in body]
    before = [assign(local, text) for text, local in held.items()]
    whole = ast.For(loop.target, loop.iter, made, [], lineno=0, col_offset=0)
    yield from straight_loop(whole, fresh, before)


def _text(access: ElementAccess) -> str:
    return f"{access.array}[{', '.join(map(ast.unparse, access.subscripts))}]"


def _find(part: _Part, integers: Integers) -> _Cut | None:
    """The values next to which a loop is to be cut: those that differ from the first one by a constant and a
    multiple of the step.
    """
    loop = part.loop
    variable = target(loop)
    first, last, step = bounds(loop)
    changing = assigned(loop.body) | stored(loop.body) | {variable}
    if form(step).constant != 1 or names(first, last) & changing:
        return None
    found = [(point, "") for point in _compared(loop.body, variable, integers.names - changing)]
    found += _met(loop.body, variable, integers.names - changing, changing)
    found = [each for each in found if each[0] not in part.without]
    if not found:
        return None
    alike = [each for each in found if (each[0] - found[0][0]).names <= {integers.step}]
    points = dict.fromkeys(point for point, _ in alike)
    return _Cut(tuple(points), frozenset(load for _, load in alike if load))


def _compared(body: Sequence[ast.stmt], variable: str, usable: frozenset[str]) -> Iterator[Form]:
    """The values with which an index is compared."""
    for each in (n for statement in body for n in ast.walk(statement)):
        if isinstance(each, ast.Compare):
            difference = _difference(each, variable)
            if difference is not None and _is_sum(difference[1], usable):
                yield difference[1]


def _difference(test: ast.Compare, variable: str) -> tuple[int, Form] | None:
    """``s`` and ``e`` if the left side less the right one is ``s * (variable - e)``, with s = 1 or -1."""
    if len(test.ops) != 1:
        return None
    whole = form(test.left) - form(test.comparators[0])
    factor = whole.factor(variable)
    if factor not in (1, -1):
        return None
    return factor, (whole - name(variable).times(factor)).times(-factor)


def _is_sum(value: Form, usable: frozenset[str]) -> bool:
    """Whether a value is a sum of known integers."""
    return all(text == "" or text in usable for text, _ in value.terms)


def _met(
    body: Sequence[ast.stmt], variable: str, usable: frozenset[str], changing: frozenset[str]
) -> Iterator[tuple[Form, str]]:
    """The values at which the loop stores to an element that all iterations read, and the texts of those."""
    found = accesses(body)
    for load in found:
        stores = [each for each in found if each.is_store and each.array == load.array]
        points = {_meeting(load.forms, store.forms, variable) for store in stores}
        if load.is_store or len(points) != 1 or names(*load.subscripts) & changing:
            continue
        (point,) = points
        if point is not None and _is_sum(point, usable):
            yield point, _text(load)


def _meeting(load: Sequence[Form], store: Sequence[Form], variable: str) -> Form | None:
    """The value of the index for which a store is to the element of a load, which does not change with it."""
    unlike = [(one, other) for one, other in zip(load, store, strict=True) if one != other]
    if len(unlike) != 1:
        return None
    ((fixed, moving),) = unlike
    if moving.factor(variable) != 1:
        return None
    return fixed - (moving - name(variable))


def _decided(body: Sequence[ast.stmt], variable: str, points: Sequence[Form], side: int) -> list[ast.stmt]:
    """The statements, where the index is less (-1) or greater (1) than all points, or is the only one (0)."""
    decider = _Decider(variable, frozenset(points), side)
    return decider.block([replaced(each, lambda _: None) for each in body])


class _Decider(ast.NodeTransformer):
    def __init__(self, variable: str, points: frozenset[Form], side: int) -> None:
        self._variable, self._points, self._side = variable, points, side

    def block(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for each in block:
            found = self.visit(each)
            made += found if isinstance(found, list) else [found]
        return made

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        difference = _difference(node, self._variable)
        if difference is None or difference[1] not in self._points:
            return node
        sign = difference[0] * self._side
        match node.ops[0]:
            case ast.Eq():
                return ast.Constant(sign == 0)
            case ast.NotEq():
                return ast.Constant(sign != 0)
            case ast.Lt():
                return ast.Constant(sign < 0)
            case ast.LtE():
                return ast.Constant(sign <= 0)
            case ast.Gt():
                return ast.Constant(sign > 0)
            case ast.GtE():
                return ast.Constant(sign >= 0)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        ends = isinstance(node.op, ast.Or)
        values: list[ast.expr] = []
        for position, each in enumerate(node.values):
            value = self.visit(each)
            truth = value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None
            if truth is (not ends) and position < len(node.values) - 1:
                continue
            values.append(value)
            if truth is ends:
                break
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        operand = self.visit(node.operand)
        if isinstance(node.op, ast.Not) and isinstance(operand, ast.Constant):
            return ast.Constant(not operand.value)
        return ast.UnaryOp(node.op, operand)

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            chosen: ast.expr = self.visit(node.body if test.value else node.orelse)
            return chosen
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.block(node.body if test.value else node.orelse) or [ast.Pass()]
        return ast.If(test, self.block(node.body), self.block(node.orelse))
