"""Help for stores that meet: of data frames, caches, scratch space, counters, elements that all update."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.contributions.updates import update_of
from dlbc.analysis.remedies.bodies import Choice, chain_root, counts_with, made_by, names_in, stores_through
from dlbc.analysis.uses import Node, bound_names, every_node, unparsed

_FRAME_ACCESS = frozenset({"loc", "iloc", "at", "iat"})


def of_stores(node: Node, context: AnalysisContext) -> Choice:
    """A data frame, a cache, scratch space, or an array that is also used as a whole."""
    name = chain_root(node) if isinstance(node, ast.expr) else ""
    stores = list(stores_through(context, name))
    tests = (n for s in context.body for n in every_node(s) if isinstance(n, ast.Compare))
    tested = (t for t in tests if isinstance(t.ops[0], ast.In | ast.NotIn))
    if any(unparsed(t.comparators[0]) == name for t in tested):
        return _contributed(name, context) or _filled(name, context) or ("cache", {"array": name})
    if (own := _item_used(name, context)) is not None:
        return own
    if (inner := _in_containers(name, context) or _under_computed_key(name, context)) is not None:
        return inner
    if not stores and any(node is each for each in _run_through(context)):
        return "items", {"array": unparsed(node)}
    if not stores:  # a function that the body calls stores into it
        return ("argument", {"array": name, "index": context.names.index or "i"}) if name else None
    if (column := _column(stores[0], context)) is not None:
        return "frame", {"column": column, "index": context.names.index or "i"}
    made_inside = name in context.names.temporaries
    held = _array_of(stores[0])
    if held and not made_inside and ContainerKinds(context).is_dictionary(held):
        return "keyed_items", {"array": held}
    if not made_inside and not any(counts_with(store.slice, context) for store in stores):
        made = made_by(context, name)
        text = f"`{name} = {unparsed(made)}`" if made is not None else f"what makes `{name}`"
        return "scratch", {"array": name, "made": text}
    return "whole", {"array": name}


def _in_containers(name: str, context: AnalysisContext) -> Choice:
    """Counters in lists under keys (``d[k][0] += 1``), or items of dictionaries that ``setdefault`` makes."""
    for node in (n for s in context.body for n in every_node(s)):
        match node:
            case ast.AugAssign(
                ast.Subscript(ast.Subscript(ast.Name(id=held), key), ast.Constant(int() | str())),
                ast.Add(),
                value,
            ) if held == name and ContainerKinds(context).is_dictionary(name):
                return "counters", {"array": name, "key": unparsed(key), "value": unparsed(value)}
            case ast.Subscript(
                ast.Call(ast.Attribute(ast.Name(id=held), "setdefault"), args=[key, _]), second, ast.Store()
            ) if held == name:
                return "pairs", {"array": name, "first": unparsed(key), "second": unparsed(second)}
    return None


def _under_computed_key(name: str, context: AnalysisContext) -> Choice:
    """An update under a key that a call gives, ``d[f(x)] = d.get(f(x), 0) + 1``."""
    for node in (n for s in context.body for n in every_node(s)):
        match node:
            case ast.Assign([ast.Subscript(ast.Name(id=held), key) as target], value) if (
                held == name in names_in(value) and any(isinstance(n, ast.Call) for n in every_node(key))
            ):
                text = f"{unparsed(target)} = {unparsed(value)}".replace(unparsed(key), "key")
                return "computed_key", {"key": unparsed(key), "stored": text}
    return None


def _item_used(name: str, context: AnalysisContext) -> Choice:
    """An item of a dictionary that iterations store, and use under the same key."""
    nodes = [n for s in context.body for n in every_node(s)]
    items = [n for n in nodes if isinstance(n, ast.Subscript)]
    for node in nodes:
        match node:
            case ast.Assign([ast.Subscript(held, key) as item], value) if chain_root(held) == name:
                array = unparsed(held)
                alike = [n for n in items if n is not item and unparsed(n) == unparsed(item)]
                later = not {*every_node(value)}.issuperset(alike)
                if later and ContainerKinds(context).is_dictionary(array):
                    fields = {"array": array, "key": unparsed(key), "value": unparsed(value)}
                    return "named" if isinstance(value, ast.Name) else "item", fields
    return None


def _run_through(context: AnalysisContext) -> Iterator[ast.expr]:
    """What loops and comprehensions in the body run through."""
    for node in (n for s in context.body for n in every_node(s)):
        if isinstance(node, ast.For | ast.comprehension):
            yield from node.iter.args if isinstance(node.iter, ast.Call) else (node.iter,)


def _contributed(name: str, context: AnalysisContext) -> Choice:
    """A dictionary in which iterations count or group, after a test whether it has the key."""
    nodes = [n for s in context.body for n in every_node(s)]
    for node in nodes:
        match node:
            case ast.AugAssign(ast.Subscript(ast.Name(id=held), key), op, value) if held == name:
                sign = (
                    unparsed(ast.BinOp(ast.Name("a"), op, ast.Name("b"))).removeprefix("a").removesuffix("b")
                )
                begun = [n.value for n in nodes if isinstance(n, ast.Assign) and _stores_under(n, name, key)]
                first = unparsed(begun[0]) if begun and isinstance(begun[0], ast.Constant) else "0"
                operation = f"{sign.strip()} {unparsed(value)}"
                return "counted", {
                    "array": name,
                    "key": unparsed(key),
                    "first": first,
                    "operation": operation,
                }
            case ast.Call(
                func=ast.Attribute(ast.Subscript(ast.Name(id=held), key), attr="append"), args=[value]
            ) if held == name:
                return "grouped", {"array": name, "key": unparsed(key), "value": unparsed(value)}
    return None


def _stores_under(node: ast.Assign, name: str, key: ast.expr) -> bool:
    return unparsed(node.targets[0]) == f"{name}[{unparsed(key)}]"


def _filled(name: str, context: AnalysisContext) -> Choice:
    """The call that does what ``if k not in name: name[k] = []`` does, where the item is added to."""
    nodes = [n for s in context.body for n in every_node(s)]
    added = {unparsed(n.value) for n in nodes if isinstance(n, ast.Attribute)}
    for node in nodes:
        match node:
            case ast.If(
                test=ast.Compare(left=key, ops=[ast.NotIn()], comparators=[ast.Name(id=tested)]),
                body=[ast.Assign(targets=[ast.Subscript(value=ast.Name(id=stored)) as item], value=value)],
                orelse=[],
            ) if tested == stored == name and unparsed(item) in added:
                call = f"{name}.setdefault({unparsed(key)}, {unparsed(value)})"
                return "group", {"array": name, "call": call}
    return None


def _column(store: ast.Subscript, context: AnalysisContext) -> str | None:
    """The column of a data frame that is stored to (`df.loc[i, "y"]`, `df["y"][i]`), as text."""
    match store:
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=frame), attr=attribute), slice=inside) if (
            attribute in _FRAME_ACCESS
        ):
            parts = inside.elts if isinstance(inside, ast.Tuple) else []
            if not parts:  # a series, or rows of a frame
                return f"{frame}[:]"
            column = unparsed(parts[-1]) if isinstance(parts[-1], ast.Constant) else '"column"'
            return f"{frame}.iloc[:, {column}]" if attribute.startswith("i") else f"{frame}[{column}]"
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant()) as column):
            made = made_by(context, frame)
            function = unparsed(made.func) if isinstance(made, ast.Call) else ""
            return unparsed(column) if context.module.imported_name(function).startswith("pandas.") else None
    return None


def of_possible(node: Node, context: AnalysisContext) -> Choice:
    """Stores by subscripts that may meet: of a data frame, of scratch space, or of a dictionary."""
    choice = of_stores(node, context)
    known = ("frame", "scratch", "counters", "pairs", "computed_key", "item", "named", "keyed_items")
    return choice if choice is not None and choice[0] in known else None


def of_accumulated(node: Node, context: AnalysisContext) -> Choice:
    """Scratch space that each iteration fills before it updates it."""
    name = unparsed(node.target) if isinstance(node, ast.AugAssign) else ""
    for statement in context.body:
        if name in names_in(statement):
            return ("filled", {"name": name}) if _fills(statement, name) else None
    return None


def _fills(statement: ast.stmt, name: str) -> bool:
    """Whether the statement stores to all elements of the array, as far as the text shows it."""
    match statement:
        case ast.Assign(targets=[ast.Subscript(ast.Name(id=held), part)], value=value):
            return held == name and unparsed(part) in (":", "...") and name not in names_in(value)
        case ast.Expr(ast.Call(func=ast.Attribute(ast.Name(id=held), "fill"))):
            return held == name
        case ast.Expr(ast.Call(func=ast.Attribute(attr="copyto"), args=[ast.Name(id=held), *given])):
            return held == name and not any(name in names_in(each) for each in given)
    return False


def of_proved(node: Node, context: AnalysisContext) -> Choice:
    """The same, an element that all update, or elements that another iteration stores to for certain."""
    name = chain_root(node) if isinstance(node, ast.expr) else ""
    return (
        _of_element(name, context)
        or of_possible(node, context)
        or (("other", {"array": _array_of(node)}) if name and isinstance(node, ast.expr) else None)
    )


def _array_of(stored: ast.expr) -> str:
    """The array that is stored to: `self.score` of ``self.score[i]``, `rows` of ``rows[i].x[0]``."""
    held = stored
    while isinstance(held, ast.Subscript):
        held = held.value
    within = any(isinstance(part, ast.Subscript | ast.Call) for part in every_node(held))
    return chain_root(stored) if within else unparsed(held)


def _of_element(name: str, context: AnalysisContext) -> Choice:
    """One element that all iterations update, of an array of which they read others."""
    changing = {*context.names.targets, *bound_names(context.body)}
    for statement in (n for s in context.body for n in every_node(s)):
        match statement:
            case ast.AugAssign(target=target) | ast.Assign(targets=[target]):
                update = update_of(statement, context.module)
                if update is not None and update.element and update.name == name:
                    return None if changing & names_in(target) else ("element", {"element": unparsed(target)})
    return None


def of_fixed(node: Node, context: AnalysisContext) -> Choice:
    """Stores to what does not change with the iteration: fields of rows, keys, the environment."""
    choice = of_stores(node, context)
    if choice is not None and choice[0] == "frame":
        return choice
    text = unparsed(node)
    if text.startswith("os.environ"):
        return "environment", {"text": text}
    if not isinstance(node, ast.Subscript):
        return None
    array = chain_root(node)
    if (inner := _item_used(array, context) or _in_containers(array, context)) is not None:
        return inner
    if context.names.index is None:
        if context.loop.annotation.assume_independent is not None:
            return "asserted", {}
        fixed = not counts_with(node.value, context)
        keyed = "keyed", {"array": unparsed(node.value), "key": unparsed(node.slice)}
        return keyed if fixed and counts_with(node.slice, context) else None
    for part in (n for s in context.body for n in every_node(s)):
        match part:
            case ast.Subscript(ast.Subscript(ast.Name(id=held), row), ast.Constant(str()) as field) if (
                held == array and counts_with(row, context)
            ):
                return "field", {"array": array, "field": unparsed(field), "row": unparsed(row)}
    return _of_element(chain_root(node), context)
