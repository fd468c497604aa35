"""Choose the help of a finding by what stands at its place: what to write instead, in the program's names.

The catalogue has a row per code, and in it a help for each case told apart here. Where none of them fits, the
help of the code stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.contributions.updates import update_of
from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.names import full_name
from dlbc.analysis.uses import Node, bound_names, every_node, root_name, unparsed
from dlbc.diagnostics.catalogue import help_for
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.library.table import lookup

#: A case of the catalogue, and the fields of its help; None where no case fits.
Choice: TypeAlias = tuple[str, dict[str, str]] | None

_FRAME_ACCESS = frozenset({"loc", "iloc", "at", "iat"})
_JOINING = frozenset({"append", "concatenate", "vstack", "hstack", "concat"})
_TAKING = frozenset({"pop", "popleft", "popitem"})
_REMOVING = frozenset({"remove", "discard"})
_RECORDING = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
_INSERTING = frozenset({"bisect.insort", "bisect.insort_left", "bisect.insort_right"})

#: Operators that do to arrays of booleans what numpy's functions of that operator do.
_OF_BOOLEANS = {"or": "|", "and": "&"}


def with_fitting_help(finding: Diagnostic, context: AnalysisContext) -> Diagnostic:
    """The finding with the help for its case, if there is one."""
    choose = _CHOICES.get(finding.code)
    if choose is None:
        return finding
    placed = (n for s in context.body for n in every_node(s) if isinstance(n, ast.expr | ast.stmt))
    node = next((n for n in placed if context.place_of(n) == finding.place), None)
    node = node.value if isinstance(node, ast.Expr) else node
    choice = None if node is None else choose(node, context)
    return (
        finding if choice is None else replace(finding, help=help_for(finding.code, choice[0], **choice[1]))
    )


def _stores(context: AnalysisContext, name: str) -> Iterator[ast.Subscript]:
    """The subscripts by which the body stores into what is found through a name."""
    for node in (n for s in context.body for n in every_node(s)):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and _chain_root(node) == name:
            yield node


def _chain_root(node: ast.expr) -> str:
    """The name that a chain of attributes and subscripts begins with; empty for another expression."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _made_by(context: AnalysisContext, name: str) -> ast.expr | None:
    """The value that the last assignment before the loop gives to a name."""
    found: ast.expr | None = None
    for statement in statements_before(context.loop):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=value) if target == name:
                found = value
    return found


def _counts(node: ast.AST, context: AnalysisContext) -> bool:
    """Whether a target of the loop occurs in an expression."""
    return not {*context.names.targets}.isdisjoint(_names(node))


def _names(node: ast.AST) -> set[str]:
    return {part.id for part in every_node(node) if isinstance(part, ast.Name)}


# Stores that meet


def _of_stores(node: Node, context: AnalysisContext) -> Choice:
    """A data frame, a cache, scratch space, or an array that is also used as a whole."""
    name = _chain_root(node) if isinstance(node, ast.expr) else ""
    stores = list(_stores(context, name))
    tests = (n for s in context.body for n in every_node(s) if isinstance(n, ast.Compare))
    tested = (t for t in tests if isinstance(t.ops[0], ast.In | ast.NotIn))
    if any(unparsed(t.comparators[0]) == name for t in tested):
        return _contributed(name, context) or _filled(name, context) or ("cache", {"array": name})
    if (inner := _in_containers(name, context)) is not None:
        return inner
    if not stores and any(node is each for each in _run_through(context)):
        return "items", {"array": unparsed(node)}
    if not stores:  # a function that the body calls stores into it
        return ("argument", {"array": name, "index": context.names.index or "i"}) if name else None
    if (column := _column(stores[0], context)) is not None:
        return "frame", {"column": column, "index": context.names.index or "i"}
    if not any(_counts(store.slice, context) for store in stores):
        made = _made_by(context, name)
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
            column = unparsed(parts[-1]) if parts and isinstance(parts[-1], ast.Constant) else '"column"'
            return f"{frame}.iloc[:, {column}]" if attribute.startswith("i") else f"{frame}[{column}]"
        case ast.Subscript(value=ast.Subscript(value=ast.Name(id=frame), slice=ast.Constant()) as column):
            made = _made_by(context, frame)
            function = unparsed(made.func) if isinstance(made, ast.Call) else ""
            return unparsed(column) if context.module.imported_name(function).startswith("pandas.") else None
    return None


def _of_possible(node: Node, context: AnalysisContext) -> Choice:
    """Stores by subscripts that may meet: of a data frame, of scratch space, or of a dictionary."""
    choice = _of_stores(node, context)
    known = ("frame", "scratch", "counters", "pairs")
    return choice if choice is not None and choice[0] in known else None


def _of_proved(node: Node, context: AnalysisContext) -> Choice:
    """The same, an element that all update, or elements that another iteration stores to for certain."""
    name = _chain_root(node) if isinstance(node, ast.expr) else ""
    return (
        _of_element(name, context)
        or _of_possible(node, context)
        or (("other", {"array": name}) if name else None)
    )


def _of_element(name: str, context: AnalysisContext) -> Choice:
    """One element that all iterations update, of an array of which they read others."""
    changing = {*context.names.targets, *bound_names(context.body)}
    for statement in (n for s in context.body for n in every_node(s)):
        match statement:
            case ast.AugAssign(target=target) | ast.Assign(targets=[target]):
                update = update_of(statement, context.module)
                if update is not None and update.element and update.name == name:
                    return None if changing & _names(target) else ("element", {"element": unparsed(target)})
    return None


def _of_fixed(node: Node, context: AnalysisContext) -> Choice:
    choice = _of_stores(node, context)
    if choice is not None and choice[0] == "frame":
        return choice
    text = unparsed(node)
    if text.startswith("os.environ"):
        return "environment", {"text": text}
    if not isinstance(node, ast.Subscript):
        return None
    array = _chain_root(node)
    if (inner := _in_containers(array, context)) is not None:
        return inner
    if context.names.index is None:
        keyed = "keyed", {"array": array, "key": unparsed(node.slice)}
        asserted = context.loop.annotation.assume_independent is not None
        return ("asserted", {}) if asserted else keyed if _counts(node.slice, context) else None
    for part in (n for s in context.body for n in every_node(s)):
        match part:
            case ast.Subscript(ast.Subscript(ast.Name(id=held), row), ast.Constant(str()) as field) if (
                held == array and _counts(row, context)
            ):
                return "field", {"array": array, "field": unparsed(field), "row": unparsed(row)}
    return _of_element(_chain_root(node), context)


# Values carried over


def _of_carried(node: Node, context: AnalysisContext) -> Choice:
    """A value from the iteration before: a list that grows, a recurrence, or the item before."""
    if not isinstance(node, ast.Name):
        return None
    for statement in (n for s in context.body for n in every_node(s) if isinstance(n, ast.Assign)):
        if any(isinstance(target, ast.Name) and target.id == node.id for target in statement.targets):
            value = statement.value
            if node.id not in _names(value) and statement.lineno < node.lineno:
                return ("not run", {"name": node.id}) if _is_in_loop(statement, node, context) else None
            if node.id not in _names(value):
                return "previous", {"name": node.id, "value": unparsed(value)}
            if (written := _as_reduction(value, node.id, context)) is not None:
                return "reduction", {"name": node.id, "written": written}
            joins = isinstance(value, ast.Call) and unparsed(value.func).rpartition(".")[2] in _JOINING
            return ("grows" if joins else "recurrence"), {"name": node.id}
    return None


def _of_update(node: Node, context: AnalysisContext) -> Choice:
    """A recurrence, whose steps are used in between or are no steps of a reduction."""
    if not isinstance(node, ast.Assign) or not isinstance(node.targets[0], ast.Name):
        return None
    name, value = node.targets[0].id, node.value
    read = [n for s in context.body for n in every_node(s) if isinstance(n, ast.Name) and n.id == name]
    inside = [n for n in every_node(value) if isinstance(n, ast.Name) and n.id == name]
    elsewhere = len(read) > len(inside) + len(node.targets)
    deeper = isinstance(value, ast.BinOp) and inside and not {value.left, value.right} & set(inside)
    return ("recurrence", {"name": name}) if elsewhere or deeper else None


def _is_in_loop(statement: ast.stmt, read: ast.Name, context: AnalysisContext) -> bool:
    """Whether a statement is in an inner loop that a read comes after."""
    inner = (n for s in context.body for n in every_node(s) if isinstance(n, ast.For | ast.While))
    return any((loop.end_lineno or 0) < read.lineno and statement in every_node(loop) for loop in inner)


def _as_reduction(value: ast.expr, name: str, context: AnalysisContext) -> str | None:
    """How ``name = np.maximum(name, e)`` is written as a reduction; None where it is none."""
    match value:
        case ast.Call(func=function, args=[_, _] as args, keywords=[]) if name in map(unparsed, args):
            operator = lookup(full_name(function, context.module)).operator
            given = ", ".join(map(unparsed, args))
            others = [text for text in map(unparsed, args) if text != name]
            if operator in ("max", "min"):
                return f"{unparsed(function)}({given}, out={name})"
            return (
                f"{name} {_OF_BOOLEANS[operator]}= {others[0]}"
                if operator in _OF_BOOLEANS and others
                else None
            )
    return None


# Effects


def _of_files(node: Node, context: AnalysisContext) -> Choice:
    """A stream from before the loop, or a file of the iteration's own."""
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=stream), attr="write" | "writelines" as method)):
            own = stream in context.names.temporaries
            return None if own else ("stream", {"stream": stream, "text": f"{stream}.{method}(...)"})
        case ast.Call(func=ast.Name(id="print"), keywords=keywords):
            streams = [unparsed(k.value) for k in keywords if k.arg == "file"]
            text = f"print(..., file={streams[0]})" if streams else ""
            return ("stream", {"stream": streams[0], "text": text}) if streams else None
        case ast.Call(func=ast.Attribute(value=writer, attr="writerow"), args=[row]):
            return "rows", {"writer": unparsed(writer), "row": unparsed(row)}
        case ast.Call(func=function) if full_name(function, context.module).startswith("subprocess."):
            return "started", {}
        case ast.Call(func=function, args=[ast.expr() as path, *_]):
            if unparsed(function).startswith("os."):
                return "process", {"function": unparsed(function)}
            return ("own", {"path": unparsed(path)}) if _counts(path, context) else None
    return None


def _of_change(node: Node, _: AnalysisContext) -> Choice:
    """A method that changes a container: one that takes an item out, or puts them in order."""
    match node:
        case ast.Call(func=ast.Attribute(value=holder, attr=method)):
            name = unparsed(holder)
            removes = method in _REMOVING or (method == "pop" and not _is_place(node.args))
            if removes and node.args:
                return "removed", {"name": name, "item": unparsed(node.args[0])}
            if method in _TAKING:
                return "taken", {"name": name}
            return ("sorted", {"name": name}) if method == "sort" else None
    return None


def _is_place(args: Sequence[ast.expr]) -> bool:
    """Whether `pop` is given a place in a list, which is a number if it is written down, or nothing."""
    if len(args) != 1:
        return not args
    number = args[0].operand if isinstance(args[0], ast.UnaryOp) else args[0]
    return isinstance(number, ast.Constant) and isinstance(number.value, int)


def _of_argument(node: Node, context: AnalysisContext) -> Choice:
    """A method that changes its object, a place for results, or an array that is passed as a whole."""
    index = context.names.index or "i"
    if isinstance(node, ast.Attribute):
        return "method", {"name": unparsed(node.value), "method": node.attr}
    if isinstance(node, ast.Call):
        out = next((unparsed(k.value) for k in node.keywords if k.arg == "out"), None)
        called = full_name(node.func, context.module)
        if called in _INSERTING and len(node.args) > 1:
            return "in_order", {"name": unparsed(node.args[0]), "item": unparsed(node.args[1])}
        if called == "struct.pack_into" and len(node.args) > 1:
            return "packed", {"name": unparsed(node.args[1]), "index": index}
        if isinstance(node.func, ast.Attribute) and node.func.attr in context.module.methods:
            return "method", {"name": unparsed(node.func.value), "method": node.func.attr}
        if out is not None:
            return "out", {"array": out, "index": index}
        passed = (n.id for n in node.args if isinstance(n, ast.Name))
        return next((_sliced(s) for s in map(partial(_bound_to, context), passed) if s is not None), None)
    if isinstance(node, ast.Name):
        return "argument", {"name": node.id, "index": index}
    return None


def _bound_to(context: AnalysisContext, name: str) -> ast.Subscript | None:
    """The slice of something that the body binds a name to."""
    for statement in (n for s in context.body for n in every_node(s)):
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.Subscript(slice=ast.Slice()) as made):
                if target == name:
                    return made
    return None


def _sliced(made: ast.Subscript) -> Choice:
    return "sliced", {"slice": unparsed(made), "name": unparsed(made.value)}


def _of_augmented(node: Node, _: AnalysisContext) -> Choice:
    """An update in place, with its operator."""
    if not isinstance(node, ast.AugAssign):
        return None
    value = unparsed(node.value) if isinstance(node.value, ast.Name | ast.Constant) else "(...)"
    text = unparsed(ast.BinOp(ast.Name("x"), node.op, ast.Name("y"))).split()[1]
    return "operator", {"name": unparsed(node.target), "operator": text, "value": value}


def _of_unseen(node: Node, context: AnalysisContext) -> Choice:
    """A method of a logger, or a function of a package that is installed."""
    if not isinstance(node, ast.Call):
        return None
    called = full_name(node.func, context.module)
    if called.startswith("logging.") or (
        isinstance(node.func, ast.Attribute) and node.func.attr in _RECORDING
    ):
        return "records", {}
    package = called.partition(".")[0]
    return ("installed", {"package": package}) if package and package != called else None


def _of_iterator(node: Node, context: AnalysisContext) -> Choice:
    """An endless count."""
    if isinstance(node, ast.Name) and context.names.index is not None:
        made = _made_by(context, node.id)
        if isinstance(made, ast.Call) and full_name(made.func, context.module) == "itertools.count":
            return "count", {"name": node.id, "index": context.names.index}
    return None


def _of_shared(node: Node, context: AnalysisContext) -> Choice:
    """A function that counts in a name of the module, or keeps there what it has computed."""
    name = root_name(node) if isinstance(node, ast.expr) else None
    for function in context.module.functions.get(name or "", ()):
        summary = context.summaries.of.get(function)
        if summary is not None and summary.rebinds:
            return "rebinds", {"function": summary.name, "name": next(iter(summary.rebinds))}
        for held in () if summary is None else summary.mutated_shared:
            if any(isinstance(n, ast.Compare) and held in _names(n) for n in every_node(function)):
                return "cache", {"name": held}
    return None


def _of_growing(node: Node, context: AnalysisContext) -> Choice:
    """A dictionary of dictionaries."""
    for outer in (n for s in context.body for n in every_node(s) if isinstance(n, ast.Subscript)):
        match outer:
            case ast.Subscript(ast.Subscript(held, first) as inner, second) if inner is node:
                texts = {"name": unparsed(held), "first": unparsed(first), "second": unparsed(second)}
                return "nested", texts
    return None


_CHOICES: dict[str, Callable[[Node, AnalysisContext], Choice]] = {
    "DLB301": _of_proved,
    "DLB302": _of_possible,
    "DLB303": _of_fixed,
    "DLB304": _of_fixed,
    "DLB306": _of_stores,
    "DLB307": _of_fixed,
    "DLB310": _of_carried,
    "DLB311": _of_update,
    "DLB315": _of_augmented,
    "DLB402": _of_files,
    "DLB407": _of_change,
    "DLB409": _of_shared,
    "DLB410": _of_argument,
    "DLB412": _of_unseen,
    "DLB417": _of_iterator,
    "DLB420": _of_growing,
}
