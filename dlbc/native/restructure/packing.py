"""Columns of arrays that a strip reads again and again, copied so that the strip reads them forwards.

In a strip of iterations ``v`` consecutive elements ``X[v, k]`` lie a row apart. Where a loop that does not
change the element reads them many times, ``packed[k - a, v - s] = X[v, k]`` is made first, for all ``k`` of
``range(a, b)`` and all ``v`` of the strip, which begins at ``s``.

Theorem. The strip does not store to ``X``, so that a copy has the element's value at any time in it, and a
copy into a float64 array keeps a float64. An element is copied only if it exists: the access is executed in
each iteration of the loops around it (or could be, where a `Nest` says so), and those are not empty (tested
before) or over the copied ``k``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.restructure.body import ElementAccess, accesses, bounds, element, target
from dlbc.native.restructure.forms import Form, form, name
from dlbc.native.restructure.trees import Fresh, assign, expression, for_range, if_true, replaced


@dataclass(frozen=True)
class _Copy:
    """An access with a copy: its subscripts, the loop with which it changes, and when it is read."""

    access: ElementAccess
    packed: str
    over: ast.For | None
    guards: dict[str, None]

    @property
    def guard(self) -> str:
        """The condition that it is read in one of its places."""
        return " or ".join(self.guards)


class PackedColumns:
    """The copies of one sunk loop over ``variable``, whose strips begin at ``start`` and end at ``end``."""

    def __init__(
        self,
        variable: str,
        start: str,
        end: str,
        changing: frozenset[str],
        indices: frozenset[str],
        fresh: Fresh,
        plain_exist: bool,
    ) -> None:
        self._variable, self._start, self._end, self._fresh = variable, start, end, fresh
        self._changing, self._indices, self._plain_exist = changing, indices, plain_exist
        self._copies: dict[str, _Copy] = {}

    @property
    def made(self) -> bool:
        """Whether there are any."""
        return bool(self._copies)

    @property
    def arrays(self) -> tuple[str, ...]:
        """The arrays that are copied from."""
        return tuple(dict.fromkeys(copy.access.array for copy in self._copies.values()))

    @property
    def has_tables(self) -> bool:
        """Whether there are copies of more than one column."""
        return any(copy.over is not None for copy in self._copies.values())

    def applied(self, statements: Sequence[ast.stmt], around: Sequence[ast.For]) -> tuple[ast.stmt, ...]:
        """Statements below the loops that are taken around the strip, reading copies where it pays."""
        known: dict[str, _Copy] = {}
        for access in accesses(statements):
            over = self._loops_of(access, around) if self._exists(access) else None
            guard = self._guard(over, around) if over is not None else None
            if over is not None and guard is not None:
                key = self._key(access, over)
                if key not in self._copies:
                    packed = self._fresh(f"{access.array}_packed")
                    self._copies[key] = _Copy(access, packed, over[0] if over else None, {})
                known[key] = self._copies[key]
                known[key].guards[guard] = None

        def replace(each: ast.expr) -> ast.expr | None:
            parts = element(each)
            if parts is None or not isinstance(each.ctx, ast.Load):  # type: ignore[attr-defined]
                return None
            access = ElementAccess(*parts, is_store=False, always=True)
            over = self._loops_of(access, around)
            copy = known.get(self._key(access, over)) if over is not None else None
            return self._element(copy) if copy is not None else None

        return tuple(replaced(each, replace) for each in statements)

    def _exists(self, access: ElementAccess) -> bool:
        """Whether the element exists where the loops around the access have iterations."""
        plain = all(isinstance(each, ast.Name | ast.Constant) for each in access.subscripts)
        return access.always or (self._plain_exist and plain)

    def _loops_of(self, access: ElementAccess, around: Sequence[ast.For]) -> tuple[ast.For, ...] | None:
        """The loops with which the element changes, if it lies in a column that can be copied."""
        if access.is_store or access.array in self._changing | self._indices or not self._strided(access):
            return None
        inner = {target(loop): loop for loop in around}
        found: list[ast.For] = []
        for each in access.forms:
            own = each.names & inner.keys()
            if (each.names - {self._variable} - own) & self._changing or len(own) > 1:
                return None
            if own:
                (k,) = own
                if each.factor(k) != 1 or each.factor(self._variable) != 0:
                    return None
                found.append(inner[k])
        return tuple(found) if len(found) < 2 else None

    def _strided(self, access: ElementAccess) -> bool:
        factors = [each.factor(self._variable) for each in access.forms]
        return None not in factors and (any(factors[:-1]) or factors[-1] not in (0, 1, -1))

    def _guard(self, over: Sequence[ast.For], around: Sequence[ast.For]) -> str | None:
        """The condition of their being read, if that is more than once; None if it is not known."""
        others = [loop for loop in around if loop not in over]
        if not others or not all(self._is_fixed(loop) for loop in around):
            return None
        if any(form(bounds(loop)[2]).constant != 1 for loop in over):
            return None
        tests = (f"{form(first).text} < {form(last).text}" for first, last, _ in map(bounds, others))
        return " and ".join(dict.fromkeys(tests))

    def _is_fixed(self, loop: ast.For) -> bool:
        """Whether the bounds of a loop are the same throughout the strip, and its step is positive."""
        first, last, step = map(form, bounds(loop))
        fixed = not (first.names | last.names) & (self._changing | {self._variable})
        return fixed and step.constant is not None and step.constant > 0

    def _key(self, access: ElementAccess, over: Sequence[ast.For]) -> str:
        ranges = [ast.unparse(loop.iter) for loop in over]
        return f"{access.array}[{', '.join(each.text for each in access.forms)}] {ranges}"

    def _element(self, copy: _Copy) -> ast.expr:
        place = (name(self._variable) - name(self._start)).text
        if copy.over is not None:
            first = form(bounds(copy.over)[0])
            place = f"{(name(target(copy.over)) - first).text}, {place}"
        return expression(f"{copy.packed}[{place}]")

    def rows(self, width: int) -> Iterator[ast.stmt]:
        """Statements before all strips: the copies of single columns have one array each for all strips."""
        for copy in self._copies.values():
            if copy.over is None:
                yield assign(copy.packed, f"numpy.empty({width}, numpy.float64)")

    def statements(self) -> Iterator[ast.stmt]:
        """Statements at the beginning of a strip."""
        count = name(self._end) - name(self._start)
        alike: dict[str, dict[str, list[_Copy]]] = {}
        for copy in self._copies.values():
            if copy.over is not None:
                first, last, _ = map(form, bounds(copy.over))
                shape = f"max({(last - first).text}, 0), {count.text}"
                yield assign(copy.packed, f"numpy.empty(({shape}), numpy.float64)")
            over = ast.unparse(ast.Tuple([copy.over.target, copy.over.iter])) if copy.over is not None else ""
            alike.setdefault(copy.guard, {}).setdefault(over, []).append(copy)
        for guard, groups in alike.items():
            yield if_true(guard, [self._copied(copies, count) for copies in groups.values()])

    def _copied(self, copies: Sequence[_Copy], count: Form) -> ast.stmt:
        """A loop that makes copies over the same loop."""
        place, over = self._fresh("p"), copies[0].over
        inner = name(target(over)) - form(bounds(over)[0]) if over is not None else None
        where = place if inner is None else f"{inner.text}, {place}"
        at = name(self._start) + name(place)
        made = []
        for copy in copies:
            index = ", ".join(each.with_value(self._variable, at).text for each in copy.access.forms)
            made.append(assign(f"{copy.packed}[{where}]", f"{copy.access.array}[{index}]"))
        if over is not None:
            first, last, _ = map(form, bounds(over))
            made = [for_range(target(over), first.text, last.text, made)]
        return for_range(place, "0", count.text, made)
