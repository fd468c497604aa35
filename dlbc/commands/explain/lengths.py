"""Lengths that the text shows: ``len(x)`` after ``x = [0.0] * n``, as expressions over other names.

A name counts if the loop's scope binds it once, by a statement that has run before the loop, and nothing
there makes a list longer or shorter. An expression counts if its names are bound once too, so that it has the
same value where the loop begins.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dlbc.analysis.enclosing_statements import statements_before
from dlbc.analysis.uses import bound_in, every_node, pairs_assigned, parameters_of, uses_of
from dlbc.ir.loop import AnnotatedLoop
from dlbc.library.row import CostKind
from dlbc.library.table import lookup

#: Methods after which a list or an array may have another length.
_RESIZING = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "resize"})

#: Methods of generators of random numbers that take lengths first, as one argument or as several.
_DRAWN = frozenset({"random", "standard_normal", "random_sample"})
_DRAWN_BY_AXES = frozenset({"rand", "randn"})

Lengths = tuple[ast.expr, ...]


def shown_lengths(loop: AnnotatedLoop, modules: Mapping[str, str]) -> dict[str, ast.expr]:
    """Texts such as ``len(x)`` and ``x.shape[1]`` with the expressions that they equal, in the text's order.

    Names that are bound to a length have theirs as well (``n = len(x)``). ``modules``: modules by the names
    that the program gives them.
    """
    reader = _Reader(loop, modules)
    return {key: value for key, value in reader.pairs() if reader.is_steady(*_names_in(value))}


def with_lengths(known: Mapping[str, int | float]) -> dict[str, int | float]:
    """The numbers with ``A.shape[0]`` added for ``len(A)``, and vice versa."""
    found = dict(known)
    for key, value in known.items():
        if key.startswith("len(") and key.endswith(")"):
            found.setdefault(f"{key[4:-1]}.shape[0]", value)
        elif key.endswith(".shape[0]"):
            found.setdefault(f"len({key.removesuffix('.shape[0]')})", value)
    return found


def is_length(text: str) -> bool:
    """Whether it is the length of an axis of a name, which a user can give."""
    return _is_length(_parsed(text))


class _Reader:
    def __init__(self, loop: AnnotatedLoop, modules: Mapping[str, str]) -> None:
        self._loop, self._modules = loop, modules
        self._bound = bound_in(loop.scope)
        nodes = list(every_node(loop.path[0]))
        self._resized = {name for node in nodes for name in _resized(node)}
        self._sliced = {name for node in nodes for name in _sliced(node)}
        shared = (node.names for node in nodes if isinstance(node, ast.Global | ast.Nonlocal))
        self._shared = {name for names in shared for name in names}
        given = () if isinstance(loop.scope, ast.Module | ast.ClassDef) else parameters_of(loop.scope)
        self._given = {each.arg for each in given}

    def pairs(self) -> Iterator[tuple[str, ast.expr]]:
        for statement in statements_before(self._loop):
            for target, value in pairs_assigned(statement):
                match target, value:
                    case ast.Name(id=name), _ if self._is_made_here(name):
                        yield from self._of_name(name, value)
                    case ast.Tuple(elts=parts), ast.Attribute(value=ast.Name(id=array), attr="shape"):
                        for axis, part in enumerate(parts):
                            if isinstance(part, ast.Name) and self._is_made_here(part.id):
                                yield part.id, _parsed(f"{array}.shape[{axis}]")

    def is_steady(self, *names: str) -> bool:
        """Whether the names mean the same wherever the scope reads them."""
        return all(
            len(self._bound.get(name, ())) + (name in self._given) <= 1 and name not in self._shared
            for name in names
        )

    def _is_made_here(self, name: str) -> bool:
        return self.is_steady(name) and name not in self._resized

    def _of_name(self, name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
        if _is_length(value):
            yield name, value
        is_list = not (isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute))
        lengths = () if is_list and name in self._sliced else self._lengths(value)
        for axis, length in enumerate(lengths):
            yield f"{name}.shape[{axis}]", length
            if not axis:
                yield f"len({name})", length

    def _lengths(self, node: ast.expr) -> Lengths:
        """The lengths of what an expression makes; none if they are not known."""
        match node:
            case ast.List(elts=parts) if not any(isinstance(part, ast.Starred) for part in parts):
                return (ast.Constant(len(parts)),)
            case ast.BinOp(left=ast.List(elts=[_]), op=ast.Mult(), right=times):
                return (times,)
            case ast.BinOp(left=ast.List() as part, op=ast.Mult(), right=times):
                return tuple(ast.BinOp(each, ast.Mult(), times) for each in self._lengths(part))
            case ast.BinOp(left=part, right=ast.Constant()) | ast.BinOp(left=ast.Constant(), right=part):
                return self._lengths(part)
            case ast.ListComp(generators=[ast.comprehension(iter=iterable, ifs=[])]):
                return self._counted(iterable)
            case ast.Call(func=ast.Name(id="list" | "sorted"), args=[iterable]):
                return self._counted(iterable)
            case ast.Call(func=ast.Attribute(value=array, attr="copy"), args=[]):
                return self._counted(array)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=module), attr=name), args=[first, *_]) if (
                self._modules.get(module) == "numpy"
            ):
                return self._of_numpy(f"numpy.{name}", node, first)
            case ast.Call(func=ast.Attribute(attr=name)):
                return _drawn(name, node)
        return ()

    def _counted(self, iterable: ast.expr) -> Lengths:
        """The length of what a comprehension, or a list, is made of."""
        match iterable:
            case ast.Call(func=ast.Name(id="range"), args=[stop], keywords=[]):
                return (stop,)
            case ast.Call(func=ast.Name(id="range"), keywords=[]) | ast.Name():
                return (ast.Call(ast.Name("len", ast.Load()), [iterable], []),)
        return self._lengths(iterable)[:1]

    def _of_numpy(self, name: str, call: ast.Call, first: ast.expr) -> Lengths:
        row = lookup(name)
        if name == "numpy.arange":
            return (first,) if len(call.args) == 1 else ()
        if name == "numpy.linspace":
            number = [*call.args[2:3], *(k.value for k in call.keywords if k.arg == "num")]
            return (number[0] if number else ast.Constant(50),)
        if row.cost is CostKind.CREATION:
            return _axes(first)
        if name in ("numpy.array", "numpy.asarray") or (row.computes and len(call.args) == 1):
            return self._counted(first)
        return ()


def _drawn(name: str, call: ast.Call) -> Lengths:
    """The lengths of an array of random numbers."""
    if size := next((k.value for k in call.keywords if k.arg == "size"), None):
        return _axes(size)
    if name in _DRAWN and call.args:
        return _axes(call.args[0])
    return tuple(call.args) if name in _DRAWN_BY_AXES else ()


def _axes(node: ast.expr) -> Lengths:
    return tuple(node.elts) if isinstance(node, ast.Tuple | ast.List) else (node,)


def _is_length(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name()]):
            return True
        case ast.Subscript(value=ast.Attribute(value=ast.Name(), attr="shape"), slice=ast.Constant()):
            return True
    return False


def _resized(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _RESIZING:
            yield name
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Del()):
            yield name


def _sliced(node: ast.AST) -> Iterator[str]:
    """Names of which a slice is stored to, which changes the length of a list."""
    match node:
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Slice(), ctx=ast.Store()):
            yield name


def _parsed(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


def _names_in(node: ast.expr) -> set[str]:
    return {use.name for use in uses_of(node)}
