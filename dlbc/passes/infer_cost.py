"""Derive the work W(i) of one iteration: count what it executes, as a function of index and parameters.

Inner loops over ranges are summed in closed form; a branch whose condition is one on index, inner variables
and parameters is counted where it is taken, any other by its mean and its worst; functions of the module
are entered with their arguments. What depends on data (``while``, recursion, an unknown function) leaves
the work unknown, and the place says why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbc.ir.bounds import NO_ASSUMPTIONS
from dlbc.ir.cost import Cost, index_range
from dlbc.ir.count_code import CodeCounter
from dlbc.ir.count_expressions import CounterContext
from dlbc.ir.form import Variable, VariableKind
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.price import UncountableError
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames
from dlbc.ir.space import IndexSpace
from dlbc.ir.uses import bound_names, own_nodes, parameters_of, uses_of
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup

__all__ = ["infer_cost"]


def infer_cost(
    loop: AnnotatedLoop, names: LoopNames, module_names: ModuleNames, space: IndexSpace | None
) -> Cost:
    """The cost of one iteration of the loop; `Cost.why` says what stood in the way.

    Where no variable counts (``space`` is None), it is known if it is the same in every iteration.
    """
    index = Variable(VariableKind.INDEX, names.index or next(iter(names.targets), "_"))
    given = NO_ASSUMPTIONS if space is None else index_range(space)
    body = tuple(loop.node.body)
    counted = frozenset(_counted([loop.node.iter, *body]))
    region = CodeRegion(
        body, names.temporaries, module_names, names.index, integers=names.integers, range_arguments=counted
    )
    shared = CounterContext(_written(body), _local(loop, names))
    try:
        price = CodeCounter(region, shared, given).block(body)
    except UncountableError as reason:
        return Cost(index, None, why=str(reason))
    work = price.mean.simplified(given)
    worst = work if price.is_exact else price.worst.simplified(given)
    return Cost(index, work, worst, notes=tuple(dict.fromkeys(shared.notes)))


def _counted(roots: Sequence[ast.AST]) -> Iterator[str]:
    """Names in the arguments of a `range`, which takes integers alone."""
    for node in own_nodes(roots):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
            yield from (use.name for use in uses_of(node))


def _written(body: Sequence[ast.stmt]) -> frozenset[str]:
    """Names and dotted names of which the body stores elements, or that it makes longer or shorter."""
    found = set()
    for node in own_nodes(body):
        match node:
            case ast.Subscript(ctx=ast.Store() | ast.Del()):
                found.add(ast.unparse(_array_of(node)))
            case ast.Call(func=ast.Attribute(value=value, attr=method)) if lookup(f".{method}").effect in (
                EffectKind.MUTATE,
                EffectKind.ORDERED,
            ):
                found |= {ast.unparse(value), f"len({ast.unparse(value)})"}
    return frozenset(found)


def _array_of(node: ast.expr) -> ast.expr:
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


def _local(loop: AnnotatedLoop, names: LoopNames) -> frozenset[str]:
    """Names that mean, or may mean, something else in functions of the module than they do in the loop."""
    functions = [n for n in loop.path if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    own = {name for f in functions for name in (*bound_names(f.body), *(p.arg for p in parameters_of(f)))}
    return names.temporaries | own
