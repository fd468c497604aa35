"""The inner loops of a body: sunk, cut in parts, or over slices of what they access, where it pays."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.native.restructure.body import (
    accesses,
    assigned,
    bounds,
    check_inner,
    stored,
    target,
)
from dlbc.native.restructure.cost import carries, cost, is_vector
from dlbc.native.restructure.forms import form
from dlbc.native.restructure.independence import Path, check_independent
from dlbc.native.restructure.leaves import straight_loop
from dlbc.native.restructure.nest import CannotRestructureError, Nest
from dlbc.native.restructure.sinking import Sinking
from dlbc.native.restructure.splitting import Integers, cut_innermost, sketched
from dlbc.native.restructure.trees import Fresh, assign, for_range

#: A form has to be predicted to take this part of the time at most.
GAIN = 0.8

_UNROLL = 4


class InnerLoops:
    """Sinks those inner loops for which it pays, outer ones first, and cuts innermost ones."""

    def __init__(
        self,
        nest: Nest,
        indices: frozenset[str],
        integers: Integers,
        fresh: Fresh,
        reasons: list[str],
    ) -> None:
        self._nest, self._indices, self._integers = nest, indices, integers
        self.fresh, self._reasons = fresh, reasons
        self.what: list[str] = []
        self.sunk = self.has_straight = False
        self.allocations: list[ast.stmt] = []
        self.needing_floats: list[ast.stmt] = []
        self._sketches: dict[int, list[ast.stmt]] = {}

    def block(self, block: Sequence[ast.stmt], path: Path) -> list[ast.stmt]:
        """The statements with inner loops sunk."""
        made: list[ast.stmt] = []
        for index, each in enumerate(block):
            here = (*path, (block, index))
            understood = not isinstance(each, ast.For) or self._understands(each, path)
            sunk = self._sunk(each, here) if isinstance(each, ast.For) and understood else None
            made += sunk if sunk is not None else self._below(each, here, understood)
        return made

    def _understands(self, loop: ast.For, path: Path) -> bool:
        """Whether a loop may be changed, where not all of the body is understood."""
        if not self._nest.in_order:
            return True
        around = [s for block, k in path if isinstance(s := block[k], ast.For)]
        try:
            check_inner(self._nest, loop, map(target, around))
        except CannotRestructureError as error:
            self._reasons.append(str(error))
            return False
        return True

    def sketched(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The statements as the cost model is to see them."""
        made: list[ast.stmt] = []
        for each in block:
            made += self._sketches.get(id(each)) or [self._sketched_below(each)]
        return made

    def _sketched_below(self, each: ast.stmt) -> ast.stmt:
        if isinstance(each, ast.For):
            return ast.For(each.target, each.iter, self.sketched(each.body), [], lineno=0, col_offset=0)
        if isinstance(each, ast.If):
            return ast.If(
                each.test, self.sketched(each.body), self.sketched(each.orelse), lineno=0, col_offset=0
            )
        return each

    def _below(self, each: ast.stmt, path: Path, understood: bool) -> list[ast.stmt]:
        if isinstance(each, ast.For):
            parts = cut_innermost(each, self._integers, self.fresh) if understood else None
            if parts is not None:
                self.what.append(f"the loop over {target(each)} is cut in parts")
                self._sketches[id(each)] = sketched(each, self._integers)
                return parts
            if understood and self._should_be_straight(each, path):
                self.what.append(f"the loop over {target(each)} is over slices")
                self.has_straight = True
                return straight_loop(each, self.fresh)
            body = self.block(each.body, path)
            return [ast.For(each.target, each.iter, body, [], lineno=0, col_offset=0)]
        if isinstance(each, ast.If):
            body, other = self.block(each.body, path), self.block(each.orelse, path)
            return [ast.If(each.test, body, other, lineno=0, col_offset=0)]
        return [each]

    def _should_be_straight(self, loop: ast.For, path: Path) -> bool:
        """Whether a compiler would vectorise an innermost loop, but that it may begin at a negative index.

        It would count from the end of an array there, and so take an element here, another one there.
        """
        variable = target(loop)
        first, last, step = map(form, bounds(loop))
        around = {target(each) for each in (block[k] for block, k in path[:-1]) if isinstance(each, ast.For)}
        begins_well = all(factor > 0 and text in around | {""} for text, factor in first.terms)
        plain = not any(isinstance(n, ast.For | ast.If) for s in loop.body for n in ast.walk(s))
        fixed = not (first.names | last.names) & (assigned(loop.body) | stored(loop.body))
        if begins_well or not plain or not fixed or step.constant != 1:
            return False
        return is_vector(loop.body, variable) and not carries(loop.body, variable)

    def _sunk(self, loop: ast.For, path: Path) -> list[ast.stmt] | None:
        if not any(isinstance(n, ast.For) for each in loop.body for n in ast.walk(each)):
            return None
        try:
            check_independent(loop, path)
            sketch, tried = self._made(loop, Fresh(self.fresh.all), True)
            if not tried.is_long or cost(sketch) >= GAIN * cost([loop]):
                return None
            made, sinking = self._made(loop, self.fresh, False)
        except CannotRestructureError as error:
            self._reasons.append(str(error))
            return None
        self.allocations += sinking.allocations()
        self.needing_floats += [loop] if sinking.needs_floats else []
        self._sketches[id(loop)] = sketch
        self.sunk = True
        below = listed(sinking.sunk_below)
        self.what.append(f"the loop over {sinking.variable} is innermost, below {below}")
        return made

    def _made(self, loop: ast.For, fresh: Fresh, sketch: bool) -> tuple[list[ast.stmt], Sinking]:
        sinking = Sinking(loop, self._indices, self._integers, fresh, _UNROLL, sketch)
        first, last, _ = bounds(loop)
        known = form(first).constant
        safe = known is not None and known >= 0
        start = form(first).text
        if not safe and stores_at(loop.body, sinking.variable):
            start = f"max({start}, 0)"
        return strips_of(sinking, start, form(last).text), sinking


def strips_of(sinking: Sinking, first: str, last: str) -> list[ast.stmt]:
    """The loop over the strips of a sunk loop; where it needs no rows, all of it is one strip.

    Compilers then see that it begins at a number that is not negative, and need not ask at each subscript.
    """
    if not sinking.needs_strips:
        return [
            assign(sinking.start, first),
            assign(sinking.end, last),
            *sinking.strip(sinking.start, sinking.end),
        ]
    end = assign(sinking.end, f"min({sinking.start} + {sinking.width}, {last})")
    body = [end, *sinking.strip(sinking.start, sinking.end)]
    return [for_range(sinking.start, first, last, body, str(sinking.width))]


def stores_at(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether every element that is stored to has the variable as a subscript.

    Iterations in which it is negative then have no effects, since subscripts are not negative. A compiler
    that knows the variable not to be negative need not ask whether to count from the end.
    """
    stores = [each for each in accesses(body) if each.is_store]
    return bool(stores) and all(
        any(isinstance(s, ast.Name) and s.id == variable for s in each.subscripts) for each in stores
    )


def listed(variables: Sequence[str]) -> str:
    """Names, for a message."""
    return " and ".join(dict.fromkeys(variables))
