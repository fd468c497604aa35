"""Restructures a parallel loop so that compiled code is faster and gives the same bits.

What is tried: to sink the parallel loop itself, in strips; to sink inner loops with independent iterations;
and to jam iterations of the parallel loop, as it stands or with inner loops sunk. Each is legal by the
theorem of its module; the cost model says which ones are worth it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from dlbc.native.restructure.body import accesses, bounds, check, check_inner, loop_targets, names, target
from dlbc.native.restructure.cost import cost, waits_for_scalars
from dlbc.native.restructure.floats import index_names, integer_names
from dlbc.native.restructure.forms import form
from dlbc.native.restructure.independence import Path, check_independent
from dlbc.native.restructure.jamming import jammed
from dlbc.native.restructure.leaves import from_slices
from dlbc.native.restructure.nest import CannotRestructureError, Nest, Restructured, Variant
from dlbc.native.restructure.sinking import Sinking
from dlbc.native.restructure.splitting import Integers, cut_innermost, sketched
from dlbc.native.restructure.trees import Fresh, assign, for_range

_GAIN = 0.8  # a variant has to be predicted to take this part of the time at most
_UNROLL, _UNROLL_STRIPS = 4, 8
_MOST = 2
_SIDE_BY_SIDE, _WAITING = (
    4,
    0.5,
)  # iterations that wait for different sums, and the time this takes (measured)
_JAM_GAIN = 0.85  # of what jamming saves in loads
_BUILTIN = ("range", "min", "max", "len", "numpy")


def restructure(nest: Nest) -> Restructured:
    """The faster forms of a parallel loop that give the same bits."""
    try:
        if not nest.in_order:
            check(nest)
        search = _Search(nest)
        variants = [v for v in search.variants() if v.predicted < _GAIN]
    except CannotRestructureError as error:
        return Restructured((), (str(error),))
    except RecursionError:
        return Restructured((), ("the body is nested too deeply",))
    best = sorted(variants, key=lambda v: v.predicted)[:_MOST]
    return Restructured(tuple(best), tuple(dict.fromkeys(search.reasons)))


class _Search:
    def __init__(self, nest: Nest) -> None:
        self._nest = nest
        assert isinstance(nest.loop.target, ast.Name)
        self._variable = nest.loop.target.id
        self._body = nest.loop.body
        self._indices = index_names(self._body) | nest.no_floats
        own = frozenset((self._variable, nest.first, nest.last, nest.step))
        numbers = integer_names(self._body) & frozenset(nest.numbers)
        self._integers = Integers(own | numbers | loop_targets(self._body), nest.step)
        self._written = cost([nest.loop])
        self.reasons: list[str] = []

    def variants(self) -> Iterator[Variant]:
        """All variants, whatever they cost."""
        strips = None if self._nest.in_order else self._attempt(self._strips)
        if strips is not None:
            yield strips
        yield from self._with_inner()

    def _attempt(self, make: Callable[[], Variant | None]) -> Variant | None:
        try:
            return make()
        except CannotRestructureError as error:
            self.reasons.append(str(error))
            return None

    def _fresh(self) -> Fresh:
        nest = self._nest
        return Fresh(
            {*nest.taken, *names(nest.loop), nest.first, nest.last, nest.step, *nest.numbers, *_BUILTIN}
        )

    def _floats(self, needed: bool) -> frozenset[str]:
        return frozenset(self._nest.arrays) - self._indices if needed else frozenset()

    def _strips(self) -> Variant | None:
        """The parallel loop in strips, each sunk to the innermost place."""
        if not _stores_at(self._body, self._variable):
            raise CannotRestructureError(
                f"not all elements that are stored to have {self._variable} as a subscript"
            )
        made = [self._strip_loop(sketch) for sketch in (True, False)]
        sketch, whole = (loop for loop, _ in made)
        sinking = made[1][1]
        if not sinking.is_long:
            return None
        predicted = cost(sketch) / self._written
        below = _listed(sinking.sunk_below)
        what = [f"strips of {sinking.width} iterations of {self._variable} are innermost, below {below}"]
        if sinking.packed:
            what.append(f"columns of {_listed(sinking.packed)} are copied for each strip")
        floats = self._floats(sinking.needs_floats)
        return Variant(tuple(what), tuple(whole), floats, predicted, unit_step=True)

    def _strip_loop(self, sketch: bool) -> tuple[list[ast.stmt], Sinking]:
        sinking = Sinking(self._nest.loop, self._indices, self._fresh(), _UNROLL_STRIPS, sketch)
        loops = _strips(sinking, f"max({self._nest.first}, 0)", self._nest.last)
        return [*sinking.allocations(), *loops], sinking

    def _with_inner(self) -> Iterator[Variant]:
        """Inner loops sunk, then two iterations jammed."""
        inner = _InnerLoops(self._nest, self._indices, self._integers, self._fresh(), self.reasons)
        body = inner.block(self._body, ())
        what = tuple(dict.fromkeys([*inner.what, *inner.sliced]))
        floats = self._floats(inner.needs_floats)
        sketches = inner.sketched(self._body)
        predicted = self._around(sketches)
        if what:
            yield Variant(what, (*inner.allocations, self._loop(body)), floats, predicted)
        pairs = None
        if self._nest.in_order:
            return
        if not inner.sunk:
            yield from self._side_by_side(sketches, inner.what)
        elif not inner.allocations:
            pairs = jammed(self._nest, body, 2, inner.fresh, self._integers)
        if pairs is not None:
            both = (*what, f"two iterations of {self._variable} are run side by side")
            yield Variant(both, (*inner.allocations, *pairs), floats, predicted * _JAM_GAIN)

    def _side_by_side(self, sketches: Sequence[ast.stmt], cuts: Sequence[str]) -> Iterator[Variant]:
        """Several iterations at a time, where the inner loops wait for their sums."""
        together = jammed(self._nest, self._body, _SIDE_BY_SIDE, self._fresh(), self._integers)
        if together is not None and waits_for_scalars(sketches):
            what = f"{_SIDE_BY_SIDE} iterations of {self._variable} are run side by side"
            yield Variant((what, *cuts), tuple(together), frozenset(), _WAITING)

    def _loop(self, body: Sequence[ast.stmt]) -> ast.stmt:
        return for_range(self._variable, self._nest.first, self._nest.last, body, self._nest.step)

    def _around(self, body: Sequence[ast.stmt]) -> float:
        return cost([self._loop(body)]) / self._written


class _InnerLoops:
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
        self.sliced: list[str] = []
        self.sunk = False
        self.allocations: list[ast.stmt] = []
        self.needs_floats = False
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
            slices = from_slices(each, self.fresh) if understood else None
            if slices is not None:
                self.sliced.append(f"the loop over {target(each)} takes its elements from slices")
                self._sketches[id(each)] = slices
                return slices
            body = self.block(each.body, path)
            return [ast.For(each.target, each.iter, body, [], lineno=0, col_offset=0)]
        if isinstance(each, ast.If):
            body, other = self.block(each.body, path), self.block(each.orelse, path)
            return [ast.If(each.test, body, other, lineno=0, col_offset=0)]
        return [each]

    def _sunk(self, loop: ast.For, path: Path) -> list[ast.stmt] | None:
        if not any(isinstance(n, ast.For) for each in loop.body for n in ast.walk(each)):
            return None
        try:
            check_independent(loop, path)
            sketch, tried = self._made(loop, Fresh(self.fresh.all), True)
            if not tried.is_long or cost(sketch) >= _GAIN * cost([loop]):
                return None
            made, sinking = self._made(loop, self.fresh, False)
        except CannotRestructureError as error:
            self._reasons.append(str(error))
            return None
        self.allocations += sinking.allocations()
        self.needs_floats |= sinking.needs_floats
        self._sketches[id(loop)] = sketch
        self.sunk = True
        below = _listed(sinking.sunk_below)
        self.what.append(f"the loop over {sinking.variable} is innermost, below {below}")
        return made

    def _made(self, loop: ast.For, fresh: Fresh, sketch: bool) -> tuple[list[ast.stmt], Sinking]:
        sinking = Sinking(loop, self._indices, fresh, _UNROLL, sketch)
        first, last, _ = bounds(loop)
        known = form(first).constant
        safe = known is not None and known >= 0
        start = form(first).text
        if not safe and _stores_at(loop.body, sinking.variable):
            start = f"max({start}, 0)"
        return _strips(sinking, start, form(last).text), sinking


def _strips(sinking: Sinking, first: str, last: str) -> list[ast.stmt]:
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


def _stores_at(body: Sequence[ast.stmt], variable: str) -> bool:
    """Whether every element that is stored to has the variable as a subscript.

    Iterations in which it is negative then have no effects, since subscripts are not negative. A compiler
    that knows the variable not to be negative need not ask whether to count from the end.
    """
    stores = [each for each in accesses(body) if each.is_store]
    return bool(stores) and all(
        any(isinstance(s, ast.Name) and s.id == variable for s in each.subscripts) for each in stores
    )


def _listed(variables: Sequence[str]) -> str:
    return " and ".join(dict.fromkeys(variables))
