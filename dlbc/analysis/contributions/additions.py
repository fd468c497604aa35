"""Recognise the statements by which iterations add to a container, or to its items, from their text alone.

``items.append(e)``, ``self.items.extend(e)``, ``d[k] = e``, ``lo[k], hi[k] = f(k)``, ``groups[k].append(e)``,
``groups.setdefault(k, []).append(e)``. The pass checks that the rest of the body leaves the container alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbrt.records import dataclass

from dlbc.analysis.names import full_name
from dlbc.ir.access_path import AccessPath, path_of
from dlbc.ir.region import ModuleNames
from dlbc.library.table import lookup

#: Methods that add to a container and return nothing.
_ADDING = frozenset({"append", "extend", "appendleft", "extendleft", "add", "insert", "update"})

#: Methods whose last argument becomes an item.
_SINGLE = frozenset({"append", "appendleft", "add", "insert", "setdefault"})

#: Methods that write to a stream.
_WRITING = frozenset({"write", "writelines"})


@dataclass(frozen=True)
class Addition:
    """A statement that adds to the container at ``path``, or to an item of it; ``root``: the name in it.

    ``writes``: it writes text, which is an addition where the container is a text in memory.
    """

    path: AccessPath
    root: ast.Name
    effect: ast.expr | ast.stmt
    by_item: bool = False
    writes: bool = False


def additions_of(node: ast.stmt) -> Iterator[Addition]:
    """What the statement adds; nothing, where it is of another form."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=receiver, attr=method)) as call):
            if any(isinstance(part, ast.Starred) for part in call.args):
                return
            at = path_of(receiver)
            if at is not None and method in _WRITING and len(call.args) == 1 and not call.keywords:
                yield Addition(*at, call, writes=True)
            elif method == "setdefault" or (method in _ADDING and (call.args or call.keywords)):
                yield from _calls_on(receiver, call)
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), keywords=keywords) as call):
            for keyword in keywords:
                if keyword.arg == "file" and (at := path_of(keyword.value)) is not None:
                    yield Addition(*at, call, writes=True)
        case ast.Assign(targets=targets):
            for part in (part for target in targets for part in _parts(target)):
                if isinstance(part, ast.Subscript) and (at := path_of(part.value)) is not None:
                    yield Addition(*at, node)


def puts_new(addition: Addition, module: ModuleNames) -> bool:
    """Whether all that becomes an item of the container is surely made there, so that nothing else has it."""
    match addition.effect:
        case ast.Assign(targets=[ast.Subscript()], value=value):
            return _is_made(value, module)
        case ast.Call(func=ast.Attribute(value=ast.Call(args=[_, first]))):
            return _is_made(first, module)  # of ``d.setdefault(k, first).append(e)``
        case ast.Call(func=ast.Attribute(attr=method), args=given, keywords=[]) if not addition.by_item:
            within = given[-1:] if method in _SINGLE else ()
            return bool(within) and all(_is_made(value, module) for value in within)
    return addition.by_item


def _is_made(node: ast.expr, module: ModuleNames) -> bool:
    match node:
        case ast.Call(func=function):
            row = lookup(full_name(function, module))
            return row.is_new or row.container
    displays = (ast.Dict, ast.List, ast.Set, ast.Tuple, ast.DictComp, ast.ListComp, ast.SetComp)
    return isinstance(node, (*displays, ast.Constant, ast.JoinedStr))


def _parts(target: ast.expr) -> Iterator[ast.expr]:
    """What an assignment stores to: the target, or each in it (``lo[k], hi[k] = f(k)``)."""
    if isinstance(target, ast.Tuple | ast.List):
        for part in target.elts:
            yield from _parts(part)
    else:
        yield target


def _calls_on(receiver: ast.expr, call: ast.Call) -> Iterator[Addition]:
    """A call that adds to a container, or to the item that a subscript or `setdefault` takes from one."""
    at = path_of(receiver)
    if at is not None:
        yield Addition(*at, call)
        return
    match receiver:
        case ast.Subscript(value=held, slice=key) if not isinstance(key, ast.Slice | ast.Tuple):
            at = path_of(held)
        case ast.Call(func=ast.Attribute(value=held, attr="setdefault"), args=[_, _], keywords=[]):
            at = path_of(held)
    if at is not None:
        yield Addition(*at, call, by_item=True)
