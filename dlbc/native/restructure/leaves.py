"""The innermost loops of restructured code: chains of the same order, and what does not vary in front of
the loop.

Four iterations of a loop over ``k`` become one statement, each element's operations in their order::

    Z[i, j] = Z[i, j] + x0 * Y[k, j] + x1 * Y[k + 1, j] + ...        # ((Z + x0 * Y) + x1 * Y') + ...

This is the text of the four statements with ``Z[i, j]`` put in for what the one before stored. It is right
where nothing else touches the element in between (all accesses to the array have the same text) and where
the value does not change by being stored (the array holds float64, and the value is one).
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence

from dlbc.native.restructure.body import (
    accesses,
    assigned,
    bounds,
    element,
    elements,
    loop_targets,
    names,
    stored,
    target,
)
from dlbc.native.restructure.floats import is_float
from dlbc.native.restructure.forms import form, name
from dlbc.native.restructure.trees import (
    Fresh,
    assign,
    expression,
    for_range,
    if_true,
    replaced,
    shifted,
    with_value,
)


def can_chain(statements: Sequence[ast.stmt], over: str, indices: frozenset[str]) -> bool:
    """Whether the statements of consecutive iterations of a loop can be put into each other."""
    stores = stored(statements)
    if len(stores) != len(statements):
        return False
    return all(
        isinstance(each, ast.Assign)
        and over not in names(each.targets[0])
        and _is_link(each, stores, indices)
        for each in statements
    )


def _is_link(each: ast.Assign, stores: frozenset[str], indices: frozenset[str]) -> bool:
    place = each.targets[0]
    parts = element(place)
    if parts is None or names(*parts[1]) & stores or not is_float(each.value, (), indices):
        return False
    text = ast.unparse(place)
    own = [(ast.unparse(e), always) for e, always in elements(each.value) if names(e) & stores]
    return own == [(text, True)] and parts[0] not in indices


def chained(statements: Sequence[ast.stmt], over: str, count: int, start: str) -> list[ast.stmt]:
    """The statements of ``count`` iterations from ``start``, put into each other."""
    made: list[ast.stmt] = []
    for each in statements:
        assert isinstance(each, ast.Assign)
        place = ast.unparse(each.targets[0])
        value = with_value(each.value, over, shifted(start, 0))
        for number in range(1, count):
            value = _put_in(with_value(each.value, over, shifted(start, number)), place, value)
        whole = ast.Assign([copy.deepcopy(each.targets[0])], value, lineno=0, col_offset=0)
        made.append(ast.fix_missing_locations(whole))
    return made


def _put_in(value: ast.expr, place: str, before: ast.expr) -> ast.expr:
    def replace(each: ast.expr) -> ast.expr | None:
        return before if isinstance(each, ast.Subscript) and ast.unparse(each) == place else None

    return replaced(value, replace)


def innermost(
    variable: str, first: str, last: str, statements: Sequence[ast.stmt], fresh: Fresh
) -> list[ast.stmt]:
    """A loop over the statements, which has an iteration; loads that are the same in all stand before it."""
    hoisted: dict[str, str] = {}
    fixed = frozenset((variable,)) | assigned(statements) | stored(statements)

    def replace(each: ast.expr) -> ast.expr | None:
        text = ast.unparse(each)
        return ast.Name(hoisted[text], ast.Load()) if text in hoisted else None

    for each in statements:
        for found in _invariant(each, fixed):
            text = ast.unparse(found)
            if text not in hoisted:
                hoisted[text] = fresh("x1")
    body = [replaced(each, replace) for each in statements]
    return [
        *(assign(local, text) for text, local in hoisted.items()),
        *_sliced(variable, first, last, body, fresh),
    ]


def straight_loop(loop: ast.For, fresh: Fresh, before: Sequence[ast.stmt] = ()) -> list[ast.stmt]:
    """A loop over straight-line code that may have no iterations, behind what does not change in it."""
    first, last, _ = map(ast.unparse, bounds(loop))
    inner = innermost(target(loop), first, last, loop.body, fresh)
    return [if_true(f"{first} < {last}", [*before, *inner])]


def _sliced(variable: str, first: str, last: str, body: Sequence[ast.stmt], fresh: Fresh) -> list[ast.stmt]:
    """The loop with consecutive elements as slices, whose subscripts run from 0.

    A compiler then sees that no subscript is negative, so that none counts from the end of the array.
    Slices are taken only of elements that every iteration accesses: those exist.
    """
    changing = assigned(body) | stored(body) | loop_targets(body)
    slices: dict[str, tuple[str, str]] = {}
    for each in body:
        for found, always in _straight_elements(each):
            parts = element(found)
            assert parts is not None
            place = form(parts[1][-1])
            rest = place - name(variable)
            outer = names(*parts[1][:-1]) | rest.names
            if always and place.factor(variable) == 1 and not outer & (changing | {variable}):
                ends = ":".join((form(expression(end)) + rest).text for end in (first, last))
                index = ", ".join([*map(ast.unparse, parts[1][:-1]), ends])
                text = ast.unparse(found)
                if text not in slices:
                    slices[text] = fresh(f"{parts[0].lower()}_part"), f"{parts[0]}[{index}]"
    if not slices:
        return [for_range(variable, first, last, body)]
    place_name = fresh("p")

    def replace(each: ast.expr) -> ast.expr | None:
        known = slices.get(ast.unparse(each)) if isinstance(each, ast.Subscript) else None
        if known is None:
            return None
        assert isinstance(each, ast.Subscript)
        return ast.Subscript(ast.Name(known[0], ast.Load()), ast.Name(place_name, ast.Load()), each.ctx)

    where = form(expression(first)) + name(place_name)
    made = [with_value(replaced(each, replace), variable, where) for each in body]
    count = form(expression(last)) - form(expression(first))
    return [
        *(assign(local, text) for local, text in slices.values()),
        for_range(place_name, "0", count.text, made),
    ]


def _straight_elements(each: ast.stmt) -> Iterator[tuple[ast.Subscript, bool]]:
    """Elements in a statement that is no loop and no conditional."""
    if not isinstance(each, ast.For | ast.If):
        yield from elements(each)


def _invariant(tree: ast.AST, fixed: frozenset[str]) -> Iterator[ast.expr]:
    """The largest expressions with a load that are the same in all iterations, and always computed."""
    match tree:
        case ast.For() | ast.If():
            return
        case ast.BinOp() | ast.UnaryOp() | ast.Subscript(ctx=ast.Load()) if not names(tree) & fixed:
            if accesses([tree]):
                yield tree
            return
        case ast.IfExp(test=test):
            yield from _invariant(test, fixed)
            return
        case ast.BoolOp() | ast.Compare():
            return
    for child in ast.iter_child_nodes(tree):
        yield from _invariant(child, fixed)
