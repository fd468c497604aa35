"""Restructures a parallel loop so that compiled code is faster and gives the same bits.

What is tried: to sink the parallel loop itself, in strips; to sink inner loops with independent iterations;
and to jam iterations of the parallel loop, as it stands or with inner loops sunk. Each is legal by the
theorem of its module; the cost model says which ones are worth it.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from dlbc.native.restructure.body import accesses, check, loop_targets, names
from dlbc.native.restructure.cost import cost, waits_for_scalars
from dlbc.native.restructure.deferring import deferred, with_body
from dlbc.native.restructure.floats import index_names, integer_names
from dlbc.native.restructure.inner_loops import GAIN, InnerLoops, listed, stores_at, strips_of
from dlbc.native.restructure.jamming import jammed
from dlbc.native.restructure.lengths import with_lengths
from dlbc.native.restructure.nest import CannotRestructureError, Nest, Restructured, Variant
from dlbc.native.restructure.sinking import Sinking
from dlbc.native.restructure.splitting import Integers
from dlbc.native.restructure.trees import Fresh, for_range

_UNROLL_STRIPS = 8
_MOST = 2
_SIDE_BY_SIDE, _WAITING = 4, 0.5  # iterations that wait for different sums, and the time (measured)
_STRAIGHT = 0.7  # the time where loops become vector loops, at most
_JAM_GAIN = 0.85  # of what jamming saves in loads
_BUILTIN = ("range", "min", "max", "len", "numpy")


def restructure(nest: Nest) -> Restructured:
    """The faster forms of a parallel loop that give the same bits."""
    try:
        nest, lengths = with_lengths(nest, _fresh(nest))
        if not nest.in_order:
            check(nest)
        search = _Search(nest)
        variants = [replace(v, body=(*lengths, *v.body)) for v in search.variants() if v.predicted < GAIN]
    except CannotRestructureError as error:
        return Restructured((), (str(error),))
    except RecursionError:
        return Restructured((), ("the body is nested too deeply",))
    best = sorted(variants, key=lambda v: v.predicted)[:_MOST]
    return Restructured(tuple(best), tuple(dict.fromkeys(search.reasons)))


def _fresh(nest: Nest) -> Fresh:
    return Fresh({*nest.taken, *names(nest.loop), nest.first, nest.last, nest.step, *nest.numbers, *_BUILTIN})


class _Search:
    def __init__(self, nest: Nest, written: Sequence[ast.stmt] = ()) -> None:
        """``written``: what iterations do as written, where their checks are deferred."""
        self._nest, self._in_doubt = nest, written
        assert isinstance(nest.loop.target, ast.Name)
        self._variable = nest.loop.target.id
        self._body = nest.loop.body
        self._indices = index_names(self._body) | nest.no_floats
        own = frozenset((self._variable, nest.first, nest.last, nest.step))
        numbers = integer_names(self._body) & frozenset(nest.numbers)
        self._integers = Integers(own | numbers | loop_targets(self._body), nest.step)
        self._written = cost([with_body(nest.loop, written or nest.loop.body)])
        self.reasons: list[str] = []

    def variants(self) -> Iterator[Variant]:
        """All variants, whatever they cost."""
        if not self._nest.in_order:
            strips = self._attempt(self._strips)
        else:
            strips = self._attempt(self._deferred) if self._nest.may_defer else None
        if strips is not None:
            yield strips
        yield from self._with_inner()

    def _deferred(self) -> Variant | None:
        """Strips with their checks at the end."""
        search = _Search(deferred(self._nest, _fresh(self._nest)), self._body)
        made = search._strips()
        return (
            replace(made, what=(*made.what, "checks are made for each strip")) if made is not None else None
        )

    def _attempt(self, make: Callable[[], Variant | None]) -> Variant | None:
        try:
            return make()
        except CannotRestructureError as error:
            self.reasons.append(str(error))
            return None

    def _floats(self, changed: Sequence[ast.stmt]) -> frozenset[str]:
        """The arrays that must hold floats, if the loops that are changed keep values of theirs elsewhere."""
        return frozenset(each.array for each in accesses(changed)) - self._indices

    def _strips(self) -> Variant | None:
        """The parallel loop in strips, each sunk to the innermost place."""
        if not stores_at(self._body, self._variable):
            raise CannotRestructureError(
                f"not all elements that are stored to have {self._variable} as a subscript"
            )
        made = [self._strip_loop(sketch) for sketch in (True, False)]
        sketch, whole = (loop for loop, _ in made)
        sinking = made[1][1]
        if not sinking.is_long:
            return None
        predicted = cost(sketch) / self._written
        below = listed(sinking.sunk_below)
        what = [f"strips of {sinking.width} iterations of {self._variable} are innermost, below {below}"]
        if sinking.packed:
            what.append(f"columns of {listed(sinking.packed)} are copied for each strip")
        floats = self._floats(self._body if sinking.needs_floats else ())
        return Variant(tuple(what), tuple(whole), floats, predicted, strip=sinking.width)

    def _strip_loop(self, sketch: bool) -> tuple[list[ast.stmt], Sinking]:
        sinking = Sinking(
            self._nest.loop,
            self._indices,
            self._integers,
            _fresh(self._nest),
            _UNROLL_STRIPS,
            sketch,
            plain_exist=True,
            written=self._in_doubt,
        )
        loops = strips_of(sinking, f"max({self._nest.first}, 0)", self._nest.last)
        return [*sinking.allocations(), *loops], sinking

    def _with_inner(self) -> Iterator[Variant]:
        """Inner loops sunk, then two iterations jammed."""
        inner = InnerLoops(self._nest, self._indices, self._integers, _fresh(self._nest), self.reasons)
        body = inner.block(self._body, ())
        what = tuple(dict.fromkeys(inner.what))
        floats = self._floats(inner.needing_floats)
        sketches = inner.sketched(self._body)
        predicted = self._around(sketches)
        if inner.has_straight:
            predicted = min(predicted, _STRAIGHT)
        if what:
            yield Variant(what, (*inner.allocations, self._loop(body)), floats, predicted)
        pairs = None
        if self._nest.in_order:
            return
        if not inner.sunk:
            yield from self._side_by_side(sketches, what)
        elif not inner.allocations:
            pairs = jammed(self._nest, body, 2, inner.fresh, self._integers)
        if pairs is not None:
            both = (*what, f"two iterations of {self._variable} are run side by side")
            yield Variant(both, (*inner.allocations, *pairs), floats, predicted * _JAM_GAIN)

    def _side_by_side(self, sketches: Sequence[ast.stmt], cuts: Sequence[str]) -> Iterator[Variant]:
        """Several iterations at a time, where the inner loops wait for their sums."""
        together = jammed(self._nest, self._body, _SIDE_BY_SIDE, _fresh(self._nest), self._integers)
        if together is not None and waits_for_scalars(sketches):
            what = f"{_SIDE_BY_SIDE} iterations of {self._variable} are run side by side"
            yield Variant((what, *cuts), tuple(together), frozenset(), _WAITING)

    def _loop(self, body: Sequence[ast.stmt]) -> ast.stmt:
        return for_range(self._variable, self._nest.first, self._nest.last, body, self._nest.step)

    def _around(self, body: Sequence[ast.stmt]) -> float:
        return cost([self._loop(body)]) / self._written
