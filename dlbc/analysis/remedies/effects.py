"""Help for effects: files, changes of what iterations share, and calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import partial

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import full_name
from dlbc.analysis.remedies.bodies import Choice, counts_with, made_by, names_in
from dlbc.analysis.uses import Node, every_node, root_name, unparsed

_TAKING = frozenset({"pop", "popleft", "popitem"})
_REMOVING = frozenset({"remove", "discard"})
_RECORDING = frozenset({"debug", "info", "warning", "error", "exception", "critical"})
_INSERTING = frozenset({"bisect.insort", "bisect.insort_left", "bisect.insort_right"})


def of_files(node: Node, context: AnalysisContext) -> Choice:
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
            return ("own", {"path": unparsed(path)}) if counts_with(path, context) else None
    return None


def of_change(node: Node, _: AnalysisContext) -> Choice:
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


def of_argument(node: Node, context: AnalysisContext) -> Choice:
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


def of_unseen(node: Node, context: AnalysisContext) -> Choice:
    """A logger's method, a function of a package that is installed, a method, or an object that is called."""
    if not isinstance(node, ast.Call):
        return None
    called = full_name(node.func, context.module)
    if called.startswith("logging.") or (
        isinstance(node.func, ast.Attribute) and node.func.attr in _RECORDING
    ):
        return "records", {}
    package = called.partition(".")[0]
    if package not in ("", "builtins", called):
        return "installed", {"package": package}
    if isinstance(node.func, ast.Name) and node.func.id not in context.module.functions:
        return "object", {}
    return ("method", {}) if isinstance(node.func, ast.Attribute) else None


def of_iterator(node: Node, context: AnalysisContext) -> Choice:
    """An endless count."""
    if isinstance(node, ast.Name) and context.names.index is not None:
        made = made_by(context, node.id)
        if isinstance(made, ast.Call) and full_name(made.func, context.module) == "itertools.count":
            return "count", {"name": node.id, "index": context.names.index}
    return None


def of_shared(node: Node, context: AnalysisContext) -> Choice:
    """A function that counts in a name of the module, or keeps there what it has computed."""
    name = root_name(node) if isinstance(node, ast.expr) else None
    for function in context.module.functions.get(name or "", ()):
        summary = context.summaries.of.get(function)
        if summary is not None and summary.rebinds:
            return "rebinds", {"function": summary.name, "name": next(iter(summary.rebinds))}
        for held in () if summary is None else summary.mutated_shared:
            if any(isinstance(n, ast.Compare) and held in names_in(n) for n in every_node(function)):
                return "cache", {"name": held}
    return None


def of_growing(node: Node, context: AnalysisContext) -> Choice:
    """A dictionary of dictionaries."""
    for outer in (n for s in context.body for n in every_node(s) if isinstance(n, ast.Subscript)):
        match outer:
            case ast.Subscript(ast.Subscript(held, first) as inner, second) if inner is node:
                texts = {"name": unparsed(held), "first": unparsed(first), "second": unparsed(second)}
                return "nested", texts
    return None
