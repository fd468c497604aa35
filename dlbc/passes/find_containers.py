"""Find names of containers whose items may change in place, of containers of numbers, and of iterators.

A copy of a list holds the list's own items; a copy of an array does not. A name means the same wherever it
stands in the module: it is a list if anything bound to it may be a list, and a list of numbers if everything
bound to it is one.

Reading changes an iterator, and a defaultdict. Such a name counts at the place where it is bound, an
attribute by its name alone. An iterator that comes as an argument, or out of a container, is not seen here:
the runtime checks what it sends.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.analysis.uses import every_node, own_nodes, unparsed
from dlbc.ir.region import FunctionNode, ModuleNames
from dlbc.library.table import lookup

_DISPLAYS = ast.List | ast.Tuple | ast.Set | ast.Dict
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp
_NUMBERS = frozenset({"int", "float", "complex", "len", "abs", "round", "bool", "str"})
_ADDING = frozenset({"append", "extend", "insert", "update", "setdefault"})
_CONTAINERS = frozenset({"list", "tuple", "dict", "set", "sorted", "deque", "defaultdict"})

_MANAGERS = frozenset({"contextlib.contextmanager", "contextlib.asynccontextmanager"})

Places = frozenset[ast.AST | str]


def find_lists(tree: ast.Module) -> tuple[frozenset[str], frozenset[str]]:
    """Names and attributes of containers whose items may change; names of containers of numbers and text."""
    lists: set[str] = set()
    plain: set[str] = set()
    others: set[str] = set()
    assigned: set[ast.AST] = set()
    nodes = list(every_node(tree))
    for target, value in (pair for node in nodes for pair in _assignments(node)):
        assigned.add(target)
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        (plain if _is_plain(value) else others).add(name)
        if _is_list(value) and not _is_plain(value):
            lists.add(name)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and node not in assigned:
            others.add(node.id)
        others |= {node.arg} if isinstance(node, ast.arg) else set()
    filled = set(_filled(nodes))
    return frozenset(lists | (plain & filled)), frozenset(plain - others - filled)


def _assignments(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets if isinstance(target, ast.Name | ast.Attribute))
        case ast.AnnAssign(target=ast.Name() | ast.Attribute() as target, value=ast.expr() as value):
            yield target, value


def _filled(nodes: list[ast.AST]) -> Iterator[str]:
    """Names of containers into which something other than numbers is put later."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=attr), args=args):
                if attr in _ADDING and not all(map(_is_number, args)):
                    yield name
            case ast.Assign(targets=[ast.Subscript(value=ast.Name(id=name))], value=value):
                if not _is_number(value):
                    yield name


def _is_list(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(left=left, right=right):
            return _is_list(left) or _is_list(right)
        case ast.Call(func=ast.Name(id=name)):
            return name in _CONTAINERS
    return isinstance(node, _DISPLAYS | _COMPREHENSIONS)


def _is_plain(node: ast.expr) -> bool:
    """Whether it is a container of numbers and text."""
    match node:
        case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) | ast.Dict(values=parts):
            return all(map(_is_number, parts))
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return _is_plain(left) or _is_plain(right)
        case ast.ListComp(elt=item, generators=[turn]) | ast.DictComp(value=item, generators=[turn]):
            counted = ast.unparse(turn.iter).startswith("range(") and isinstance(turn.target, ast.Name)
            return _is_number(item, {turn.target.id} if counted else set())  # type: ignore[attr-defined]
    return False


def _is_number(node: ast.expr, known: set[str] | frozenset[str] = frozenset()) -> bool:
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name(id=name):
            return name in known
        case ast.BinOp(left=left, right=right):
            return _is_number(left, known) and _is_number(right, known)
        case ast.UnaryOp(operand=operand):
            return _is_number(operand, known)
        case ast.Call(func=ast.Name(id=name)):
            return name in _NUMBERS
        case ast.Call(func=ast.Attribute(value=ast.Name(id="math"))):
            return True
    return False


def find_iterators(tree: ast.Module, module: ModuleNames) -> tuple[Places, Places]:
    """Where names are bound to iterators, and attributes that hold one; the same for defaultdicts."""
    pairs = [
        (target.attr if isinstance(target, ast.Attribute) else target, value)
        for node in every_node(tree)
        for target, value in _bindings(node)
    ]
    return (
        frozenset(place for place, value in pairs if _makes_iterator(value, module)),
        frozenset(place for place, value in pairs if _makes_defaultdict(value, module)),
    )


def _makes_defaultdict(node: ast.expr, module: ModuleNames) -> bool:
    return isinstance(node, ast.Call) and _full_name(node.func, module) == "collections.defaultdict"


def _bindings(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """The targets that a statement or expression binds, each with its value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
                if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
                    yield from zip(target.elts, value.elts, strict=False)
        case ast.AnnAssign(target=bound, value=ast.expr() as value):
            yield bound, value
        case ast.NamedExpr(target=name, value=value):
            yield name, value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as entered):
            yield entered, value


def _makes_iterator(node: ast.expr, module: ModuleNames) -> bool:
    if isinstance(node, ast.GeneratorExp):
        return True
    if not isinstance(node, ast.Call):
        return False
    full = _full_name(node.func, module)
    if full.startswith("itertools.") or lookup(full).iterator:
        return True
    if not full and isinstance(node.func, ast.Attribute) and lookup(f".{node.func.attr}").iterator:
        return True
    name = unparsed(node.func)
    reached = module.functions.get(name, ()) or module.methods.get(name.rpartition(".")[2], ())
    return any(_yields(f) and not _makes_manager(f, module) for f in reached)


def _makes_manager(function: FunctionNode, module: ModuleNames) -> bool:
    """Whether calling it makes a context manager, whose ``as`` is what the generator yields."""
    marks = [] if isinstance(function, ast.Lambda) else function.decorator_list
    return any(_full_name(mark, module) in _MANAGERS for mark in marks)


def _yields(function: FunctionNode) -> bool:
    body = [function.body] if isinstance(function, ast.Lambda) else function.body
    return any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(body))


def _full_name(node: ast.expr, module: ModuleNames) -> str:
    """The full name of something imported or builtin, else empty."""
    name = unparsed(node)
    builtin = "." not in name and module.builtin(name)
    return module.imported_name(name) or (f"builtins.{name}" if builtin else "")
