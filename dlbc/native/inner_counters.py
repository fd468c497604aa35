"""The last values of inner loops' counters, which Python finds from the bounds.

At a module's level, and in a notebook's cell, all names are there after the loop, so what an inner
``for j in range(n)`` has counted is, too. Compiled iterations need not say what ``j`` was at their end: it is
``range(n)[-1]``, if that has any number, and nothing otherwise.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Container, Iterator, Mapping, Sequence

from dlbc.analysis.uses import bound_names, every_node
from dlbc.ir.region import ModuleNames

#: Builtins that bounds may call.
_IN_BOUNDS = frozenset({"range", "len", "min", "max"})


def last_counters(
    body: Sequence[ast.stmt], names: Collection[str], readable: Container[str], module: ModuleNames
) -> dict[str, list[ast.stmt]]:
    """Statements that bind those of ``names`` to what iterations leave which nothing but inner loops count.

    These loops stand under no condition, end as their bounds say, and read nothing for them but each other's
    counters and what is ``readable`` after the iteration.
    """
    bound = bound_names(body)
    nests = list(_nests(body, (), bound, readable, module))
    counted: dict[str, int] = {}
    for nest in nests:
        name = _counter(nest[-1])
        counted[name] = counted.get(name, 0) + 1
    whole = {name for name in names if counted.get(name) == len(bound.get(name, ()))}
    return {n: [_last(nest) for nest in nests if _counter(nest[-1]) == n] for n in names if n in whole}


def _counter(loop: ast.For) -> str:
    assert isinstance(loop.target, ast.Name)
    return loop.target.id


def _nests(
    body: Sequence[ast.stmt],
    around: tuple[ast.For, ...],
    bound: Mapping[str, object],
    readable: Container[str],
    module: ModuleNames,
) -> Iterator[tuple[ast.For, ...]]:
    """The loops of a body that end as their bounds say, each with the loops around it."""
    counters = {_counter(each) for each in around}
    for statement in body:
        match statement:
            case ast.For(target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range")) as run):
                read = {n.id for n in every_node(run) if isinstance(n, ast.Name)}
                known = all(
                    each in counters
                    or (each in readable and each not in bound)
                    or (each in _IN_BOUNDS and module.builtin(each))
                    for each in read
                )
                left = any(isinstance(n, ast.Break | ast.Return) for n in every_node(statement))
                if known and not left and name not in counters:
                    nest = (*around, statement)
                    yield nest
                    yield from _nests(statement.body, nest, bound, readable, module)


def _last(nest: Sequence[ast.For]) -> ast.stmt:
    """A loop that only counts: all of a counter's values where the loops within need them, else the last."""
    found: ast.stmt = ast.Pass()
    needed: set[str] = set()
    for loop in reversed(nest):
        run: ast.expr = copy.deepcopy(loop.iter)
        needed |= {n.id for n in every_node(loop.iter) if isinstance(n, ast.Name)}
        if _counter(loop) not in needed:
            last = ast.Slice(ast.UnaryOp(ast.USub(), ast.Constant(1)), None, None)
            run = ast.Subscript(run, last, ast.Load())
        found = ast.For(ast.Name(_counter(loop), ast.Store()), run, [found], [])
    return ast.fix_missing_locations(ast.copy_location(found, nest[-1]))
