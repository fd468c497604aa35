"""Under which conditions an iteration overwrites its whole row, element by element.

Theorem. Let a statement of the body be loops ``for v in range(n)``, one in the other, each directly in the
block of the one around it, and let the innermost block hold the assignment ``A[i, v, w, ...] = e``, whose
subscripts off the distributed axis are the loops' variables, each once. Let no loop be left early, no
variable be bound anew, and each ``n`` have one value for the whole run. Then an iteration that ends has
stored every element of its row where each ``n`` is at least the length of its variable's axis. If all other
accesses to the array come after the nest, or after the assignment in its block with the same subscripts, the
iteration reads no element that it has not stored itself.

Nothing encloses the assignment that could swallow an exception, so an iteration that does not end fails. What
it has left of the row is old then, and whoever runs it has to have the old row.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator, Sequence

from dlbc.analysis.uses import bound_names, own_nodes
from dlbc.ir.access import Access, AccessKind

_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.FloorDiv)


def overwritten_where(
    accesses: Sequence[Access],
    axis: int,
    loop: ast.For | ast.AsyncFor,
    *,
    stored: Collection[str],
    builtin: Callable[[str], bool],
) -> tuple[str, ...]:
    """The conditions of the theorem on the array of these accesses, all of one row; none if it fails.

    ``loop`` is the parallel loop; ``stored`` are the names that lead to what it stores to.
    """
    body = loop.body
    if any(_jumps(body)):
        return ()
    for store in accesses:
        found = _path(store.node, body) if store.kind is AccessKind.WRITE else None
        if found is None or not store.direct or store.in_place or not store.has_all_subscripts:
            continue
        loops, same_block, after = found
        others = [each for each in accesses if each is not store]
        if _is_nest(loops, builtin) and all(_is_later(each, store, same_block, after) for each in others):
            return _conditions(store, axis, loops, frozenset(bound_names([loop])), frozenset(stored))
    return ()


def _path(
    node: ast.AST, block: Sequence[ast.stmt]
) -> tuple[list[ast.For], Sequence[ast.stmt], Sequence[ast.stmt]] | None:
    """The loops around the assignment to ``node``, what follows in its block, and what follows the nest."""
    for number, statement in enumerate(block):
        after = block[number + 1 :]
        match statement:
            case ast.Assign(targets=targets) if node in targets:
                return [], after, ()
            case ast.For() if (found := _path(node, statement.body)) is not None:
                return [statement, *found[0]], found[1], after
    return None


def _is_nest(loops: Sequence[ast.For], builtin: Callable[[str], bool]) -> bool:
    """Whether they are loops over ``range(n)`` that are not left early, with variables that nothing binds."""
    if not loops:
        return False
    bound = bound_names([loops[0]])
    return all(
        isinstance(loop.target, ast.Name)
        and len(bound[loop.target.id]) == 1
        and not loop.orelse
        and _stop(loop, builtin) is not None
        and not any(_jumps(loop.body))
        for loop in loops
    )


def _stop(loop: ast.For, builtin: Callable[[str], bool] = lambda _: True) -> ast.expr | None:
    """What a loop over ``range(n)`` runs up to."""
    match loop.iter:
        case ast.Call(func=ast.Name(id="range"), args=[stop] | [ast.Constant(value=0), stop], keywords=[]):
            return stop if builtin("range") and not isinstance(stop, ast.Starred) else None
    return None


def _jumps(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The ``break`` and ``continue`` of the loop whose block it is."""
    for statement in block:
        match statement:
            case ast.Break() | ast.Continue():
                yield statement
            case ast.For() | ast.While() | ast.AsyncFor():
                yield from _jumps(statement.orelse)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                pass
            case _:
                for part in ast.iter_child_nodes(statement):
                    if isinstance(part, ast.stmt):
                        yield from _jumps([part])
                    elif isinstance(part, ast.ExceptHandler | ast.match_case):
                        yield from _jumps(part.body)


def _is_later(
    access: Access, store: Access, same_block: Sequence[ast.stmt], after: Sequence[ast.stmt]
) -> bool:
    """Whether it comes after the nest, or after the store with the same subscripts."""
    if not access.direct or access.in_place:
        return False
    if access.node in frozenset(own_nodes(after)):
        return True
    same = [each.text for each in access.subscripts] == [each.text for each in store.subscripts]
    return same and access.has_all_subscripts and access.node in frozenset(own_nodes(same_block))


def _conditions(
    store: Access, axis: int, loops: Sequence[ast.For], bound: frozenset[str], stored: frozenset[str]
) -> tuple[str, ...]:
    """That each loop runs to the end of the axis that its variable subscripts."""
    stops = {loop.target.id: _stop(loop) for loop in loops if isinstance(loop.target, ast.Name)}
    found: list[str] = []
    for place, subscript in enumerate(store.subscripts):
        if place == axis:
            continue
        stop = stops.pop(subscript.text, None)
        if stop is None or not _is_constant(stop, bound, stored):
            return ()
        found.append(f"{ast.unparse(stop)} >= {store.array}.shape[{place}]")
    return () if stops else tuple(found)


def _is_constant(node: ast.expr, bound: frozenset[str], stored: frozenset[str]) -> bool:
    """Whether an expression of names and shapes has one value while the loop runs."""
    match node:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Name(id=name):
            return name not in bound | stored
        case ast.BinOp(left=left, op=op, right=right):
            each_is = (_is_constant(each, bound, stored) for each in (left, right))
            return isinstance(op, _OPERATORS) and all(each_is)
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant()):
            return name not in bound
    return False
