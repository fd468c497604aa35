"""Stores to parts of arrays as loops over their elements: ``A[i, 1:n] += x * B[1:n]``.

numpy computes the whole right-hand side before it stores. Element by element gives the same if

* what is no part of an array is computed before the loop,
* a part of the array that is stored to is the same slice of it, so that each element is read before it is
  stored to, and by its own iteration alone,
* all parts have the same length: numpy repeats those of length 1.

``+ - * /`` of arrays have the bits of these operators on their elements.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.facts import NotCompilableError, array_of, subscripts_of

_ELEMENTWISE = (ast.Add, ast.Sub, ast.Mult, ast.Div)


@dataclass(frozen=True)
class SliceLoops:
    """The statements, of which the last one is the loop, and the names that they bind; what must not be
    negative for them to be right, and what must be ``arrays``, no lists.
    """

    statements: tuple[ast.stmt, ...]
    names: tuple[str, ...]
    not_negative: tuple[ast.expr, ...]
    arrays: tuple[ast.expr, ...]


@dataclass(frozen=True)
class _Part:
    """An array with subscripts, and the bounds of its slices."""

    base: ast.expr
    subscripts: tuple[ast.expr, ...]
    bounds: tuple[tuple[ast.expr, ast.expr], ...]

    def element(self, offsets: Sequence[ast.expr], context: ast.expr_context) -> ast.expr:
        """The element at these distances from the beginnings of the slices."""
        left = iter(offsets)
        starts = iter(start for start, _ in self.bounds)
        found = [_sum(next(starts), next(left)) if isinstance(s, ast.Slice) else s for s in self.subscripts]
        key = found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
        return ast.Subscript(self.base, key, context)


class SliceStore:
    """One store to a part of an array; ``axes_of`` tells how many axes an array of the iteration has, 0 of
    anything else.
    """

    def __init__(self, fresh: Callable[[str], str], axes_of: Callable[[ast.expr], int]) -> None:
        self._fresh, self._axes_of = fresh, axes_of
        self._before: list[ast.stmt] = []
        self._names: list[str] = []
        self._needed: list[ast.expr] = []
        self._arrays: list[ast.expr] = []

    def loops(self, target: ast.Subscript, value: ast.expr, op: ast.operator | None) -> SliceLoops | None:
        """The store as loops; None if it is one to an element."""
        missing = 0 if _slices(target) else max((self._axes_of(n) for n in self._parts(value)), default=0)
        if not _slices(target) and not missing:
            return None
        if op is not None and not isinstance(op, _ELEMENTWISE):
            raise NotCompilableError("this operator on parts of arrays is left to Python", target)
        own = self._part(target, missing)
        counters = [self._name("at") for _ in own.bounds]
        offsets = [
            _less(ast.Name(c, ast.Load()), start) for c, (start, _) in zip(counters, own.bounds, strict=True)
        ]
        element = self._element(value, own, offsets)
        place = _with_counters(own, counters)
        store: ast.stmt = ast.Assign([place], element) if op is None else ast.AugAssign(place, op, element)
        for counter, (start, stop) in reversed(list(zip(counters, own.bounds, strict=True))):
            bounds = [stop] if _is_zero(start) else [start, stop]
            over = ast.Call(ast.Name("range", ast.Load()), bounds, [])
            store = ast.For(ast.Name(counter, ast.Store()), over, [store], [])
        statements = (*self._before, store)
        return SliceLoops(statements, tuple(self._names), tuple(self._needed), tuple(self._arrays))

    def _parts(self, value: ast.expr) -> Iterator[ast.expr]:
        """The arrays as a whole, and the parts of arrays, that are computed with."""
        match value:
            case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _ELEMENTWISE):
                yield from self._parts(left)
                yield from self._parts(right)
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                yield from self._parts(operand)
            case _ if self._axes_of(value) or _slices(value):
                yield value

    def _element(self, value: ast.expr, own: _Part, offsets: Sequence[ast.expr]) -> ast.expr:
        """An element of a value: of its parts, and of what is the same for all elements."""
        match value:
            case ast.Constant() | ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return value
            case _ if not any(True for _ in self._parts(value)):
                name = self._name("value")
                self._before.append(ast.Assign([ast.Name(name, ast.Store())], value))
                return ast.Name(name, ast.Load())
            case ast.BinOp(left=left, op=op, right=right):
                return ast.BinOp(self._element(left, own, offsets), op, self._element(right, own, offsets))
            case ast.UnaryOp(op=op, operand=operand):
                return ast.UnaryOp(op, self._element(operand, own, offsets))
        part = self._part(value, self._axes_of(value))
        if len(part.bounds) != len(own.bounds):
            raise NotCompilableError("these parts of arrays have different numbers of axes", value)
        same = [ast.dump(a) == ast.dump(b) for a, b in zip(_ends(part), _ends(own), strict=True)]
        if ast.dump(part.base) == ast.dump(own.base) and not (all(same) and _alike(part, own)):
            raise NotCompilableError("another part of the array that is stored to is read", value)
        for (start, stop), (first, last) in zip(part.bounds, own.bounds, strict=True):
            longer = ast.BinOp(
                ast.BinOp(stop, ast.Sub(), start), ast.Sub(), ast.BinOp(last, ast.Sub(), first)
            )
            self._needed += [longer, ast.UnaryOp(ast.USub(), longer)]
        return part.element(offsets, ast.Load())

    def _part(self, node: ast.expr, missing: int) -> _Part:
        """An array with subscripts; slices of whole axes stand for those that are ``missing``."""
        if isinstance(node, ast.Subscript) and _slices(node.value):
            raise NotCompilableError("a part of a part of an array is left to Python", node)
        base, subscripts = array_of(node), [*subscripts_of(node), *(ast.Slice() for _ in range(missing))]
        subscripts = [s if isinstance(s, ast.Slice) else self._once(s, "at") for s in subscripts]
        bounds = [
            self._bounds(base, axis, each)
            for axis, each in enumerate(subscripts)
            if isinstance(each, ast.Slice)
        ]
        self._arrays.append(base)
        return _Part(base, tuple(subscripts), tuple(bounds))

    def _bounds(self, base: ast.expr, axis: int, part: ast.Slice) -> tuple[ast.expr, ast.expr]:
        if part.step is not None:
            raise NotCompilableError("a slice with a step is left to Python", part)
        length = ast.Subscript(ast.Attribute(base, "shape", ast.Load()), ast.Constant(axis), ast.Load())
        start = self._bound(part.lower, length) if part.lower is not None else ast.Constant(0)
        stop = self._bound(part.upper, length) if part.upper is not None else length
        return start, stop

    def _bound(self, node: ast.expr, length: ast.expr) -> ast.expr:
        """A bound of a slice that does not count from the end."""
        node = self._once(node, "bound")
        match node:
            case ast.Constant():
                return node
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                if not isinstance(operand, ast.Constant):
                    self._needed.append(_less(operand, ast.Constant(1)))
                return _less(length, operand)
        self._needed.append(node)
        return node

    def _once(self, node: ast.expr, stem: str) -> ast.expr:
        """A number that loads from arrays, computed before the loop."""
        if not any(isinstance(n, ast.Subscript | ast.Call) for n in ast.walk(node)):
            return node
        name = self._name(stem)
        self._before.append(ast.Assign([ast.Name(name, ast.Store())], node))
        return ast.Name(name, ast.Load())

    def _name(self, stem: str) -> str:
        self._names.append(self._fresh(stem))
        return self._names[-1]


def _slices(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Slice) for each in subscripts_of(node))


def _ends(part: _Part) -> list[ast.expr]:
    return [end for bounds in part.bounds for end in bounds]


def _alike(one: _Part, other: _Part) -> bool:
    """Whether slices stand in the same places."""
    kinds = [[isinstance(s, ast.Slice) for s in part.subscripts] for part in (one, other)]
    return kinds[0] == kinds[1]


def _with_counters(part: _Part, counters: Sequence[str]) -> ast.Subscript:
    """The element of the part that is stored to, whose slices the counters run over."""
    left = iter(counters)
    found = [ast.Name(next(left), ast.Load()) if isinstance(s, ast.Slice) else s for s in part.subscripts]
    key = found[0] if len(found) == 1 else ast.Tuple(found, ast.Load())
    return ast.Subscript(copy.deepcopy(part.base), key, ast.Store())


def _less(one: ast.expr, other: ast.expr) -> ast.expr:
    return one if _is_zero(other) else ast.BinOp(one, ast.Sub(), other)


def _is_zero(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value == 0


def _sum(start: ast.expr, offset: ast.expr) -> ast.expr:
    """Their sum; of a start and what has been counted from it, what has been counted."""
    match offset:
        case ast.BinOp(left=counter, op=ast.Sub(), right=right) if ast.dump(right) == ast.dump(start):
            return counter
    return offset if _is_zero(start) else ast.BinOp(start, ast.Add(), offset)
