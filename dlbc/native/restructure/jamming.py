"""Two iterations of the parallel loop at a time.

Theorem. Iterations of the parallel loop are independent, so that ``for j: S(i, j)`` for one ``i`` and the
next may be run as ``for j: S(i, j); S(i + step, j)``: each iteration keeps its own order (unroll and jam:
Callahan, Cocke and Kennedy, *Estimating interlock and improving balance for pipelined architectures*,
1988). Loops are jammed if their bounds are the same in both iterations, scalars get a copy for each
iteration. A condition on the index of a jammed loop is the same in all of them but for a few iterations of
that loop (`splitting`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from dlbc.native.restructure.body import assigned, bounds, loop_targets, names, stored, target
from dlbc.native.restructure.forms import Form, name
from dlbc.native.restructure.nest import Nest
from dlbc.native.restructure.splitting import Integers, cut_innermost
from dlbc.native.restructure.trees import Fresh, assign, for_range, replaced, with_value


def jammed(
    nest: Nest, body: Sequence[ast.stmt], count: int, fresh: Fresh, integers: Integers
) -> list[ast.stmt] | None:
    """The parallel loop with ``count`` iterations of the body at a time; None if no loops can be jammed."""
    assert isinstance(nest.loop.target, ast.Name)
    variable = nest.loop.target.id
    jam = _Jam(variable, nest.step, body, count, fresh, integers)
    together = jam.block(body)
    if not jam.loops:
        return None
    end = fresh(f"{variable}_even")
    number = f"len(range({nest.first}, {nest.last}, {nest.step}))"
    return [
        assign(end, f"{nest.first} + {number} // {count} * {count} * {nest.step}"),
        for_range(variable, nest.first, end, together, f"{count} * {nest.step}"),
        for_range(variable, end, nest.last, [replaced(s, lambda _: None) for s in body], nest.step),
    ]


class _Jam:
    def __init__(
        self,
        variable: str,
        step: str,
        body: Sequence[ast.stmt],
        count: int,
        fresh: Fresh,
        integers: Integers,
    ) -> None:
        self._variable, self._step, self._count = variable, step, count
        self._fresh, self._integers = fresh, integers
        self._uniform = _uniform(body, variable)
        scalars = sorted(assigned(body) - loop_targets(body) - self._uniform)
        self._varying = frozenset(scalars) | stored(body) | {variable}
        self._copies = [
            {s: s if number == 0 else fresh(f"{s}_{number + 1}") for s in scalars} for number in range(count)
        ]
        self.loops = 0

    def block(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        waiting: list[ast.stmt] = []
        for each in block:
            if isinstance(each, ast.For) and not names(*bounds(each)) & self._varying:
                made += [*self._copied(waiting), *self._loop(each)]
                waiting = []
            elif self._is_uniform(each):
                made += [*self._copied(waiting), each]
                waiting = []
            else:
                waiting.append(each)
        return made + self._copied(waiting)

    def _is_uniform(self, each: ast.stmt) -> bool:
        return isinstance(each, ast.Assign) and bool(names(each.targets[0]) & self._uniform)

    def _loop(self, loop: ast.For) -> list[ast.stmt]:
        self.loops += 1
        first, last, step = map(ast.unparse, bounds(loop))
        made = for_range(target(loop), first, last, self.block(loop.body), step)
        assert isinstance(made, ast.For)
        return cut_innermost(made, self._integers, self._fresh) or [made]

    def _copied(self, block: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [self._copy(each, number) for number in range(self._count) for each in block]

    def _copy(self, each: ast.stmt, number: int) -> ast.stmt:
        def rename(tree: ast.expr) -> ast.expr | None:
            if isinstance(tree, ast.Name) and tree.id in self._copies[number]:
                return ast.Name(self._copies[number][tree.id], tree.ctx)
            return None

        renamed = replaced(each, rename)
        return with_value(renamed, self._variable, self._at(number)) if number else renamed

    def _at(self, number: int) -> Form:
        return name(self._variable) + name(self._step).times(number)


def _uniform(body: Sequence[ast.stmt], variable: str) -> frozenset[str]:
    """Scalars that have the same values in all iterations, and are not assigned to in conditionals."""
    below = [n for each in body for n in ast.walk(each)]
    found = assigned(body) - loop_targets(body)
    found -= assigned(n for n in below if isinstance(n, ast.If | ast.AugAssign))
    while True:
        varying = (assigned(body) - loop_targets(body) - found) | stored(body) | {variable}
        loops = [n for n in below if isinstance(n, ast.For) and names(n.iter) & varying]
        wrong = assigned(loops) | {
            scalar
            for each in below
            if isinstance(each, ast.Assign) and names(each.value) & varying
            for scalar in assigned([each])
        }
        if not found & wrong:
            return found
        found -= wrong
