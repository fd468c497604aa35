"""Which containers surely are arrays, lists, dictionaries or texts: by what the text binds to their names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.names import bindings_of, bindings_within
from dlbc.analysis.uses import assigned_in, bound_in, every_node, pairs_assigned, unparsed
from dlbc.ir.access_path import path_of

_FLOAT, _INTEGER = float, int
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod)

#: Functions whose results are Python's floats, whatever numbers they are given.
_OF_FLOATS = frozenset(
    {
        *(
            f"math.{name}"
            for name in ("sqrt", "sin", "cos", "tan", "exp", "log", "atan2", "hypot", "pow", "fabs")
        ),
        *(f"random.{name}" for name in ("random", "uniform", "gauss", "normalvariate", "expovariate")),
    }
)

#: Functions that make dictionaries.
_DICTIONARIES = frozenset({"dict", "defaultdict", "Counter", "OrderedDict"})
_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)


class ContainerKinds:
    """The kinds of containers that a loop uses.

    ``by_calls``: a parameter counts as what all calls in the file give, and an attribute as what the file
    binds to any of that name. Callers elsewhere may give others, so nothing may rest on it that is not looked
    at.
    """

    def __init__(self, context: AnalysisContext, *, by_calls: bool = False) -> None:
        self._loop, self._names, self._module = context.loop, context.names, context.module
        self._by_calls = by_calls

    def is_array(self, name: str) -> bool:
        """Whether the name surely denotes an array or a list."""
        return self._always_made_by(self._makes_array, name)

    def is_list(self, name: str) -> bool:
        """Whether the name surely denotes a list."""
        return self._always_made_by(self._makes_list, name)

    def is_list_of_integers(self, name: str) -> bool:
        """Whether it surely denotes a list of Python's integers, to which nothing is stored later."""
        changed = any(_changes(node, name) for node in every_node(self._loop.path[0]))
        return not changed and self._always_made_by(self._makes_integers, name)

    def is_list_of_floats(self, name: str) -> bool:
        """Whether it denotes a list, and the text makes it of floats; what is stored later may be others."""
        return self._always_made_by(self._makes_floats, name)

    def is_dictionary(self, name: str) -> bool:
        """Whether what is at the path surely is a dictionary; an attribute counts by its name alone."""
        found = path_of(ast.parse(name, mode="eval").body)
        if found is None:  # under a key that is computed: `bufs[t % 2]`
            return False
        path, _ = found
        if not path.steps:
            return self._always_made_by(_makes_dictionary, name)
        attribute = path.steps[-1].removeprefix(".")
        given = [
            value
            for node in every_node(self._loop.path[0])
            for target, value in pairs_assigned(node)
            if isinstance(target, ast.Attribute) and target.attr == attribute
        ]
        return bool(given) and all(map(_makes_dictionary, given))

    def is_text(self, name: str) -> bool:
        """Whether the name surely denotes a text in memory, to which iterations may write."""
        return self._always_made_by(self._makes_text, name)

    def _makes_text(self, node: ast.expr) -> bool:
        function = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
        return self._module.imported_name(function) == "io.StringIO"

    def _makes_array(self, node: ast.expr) -> bool:
        match node:
            case ast.List() | ast.ListComp():
                return True
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return isinstance(left, ast.List) or isinstance(right, ast.List)
        root, _, rest = unparsed(node).partition(".")
        return isinstance(node, ast.Call) and bool(rest) and self._module.imports.get(root) == "numpy"

    def _makes_list(self, node: ast.expr) -> bool:
        match node:
            case ast.List() | ast.ListComp():
                return True
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return self._makes_list(left) and self._makes_list(right)
            case ast.BinOp(left=ast.List(elts=parts), op=ast.Mult(), right=times):
                # `[1.0, 2.0] * x` may be an array
                return len(parts) == 1 or isinstance(times, ast.Constant)
            case ast.Call(func=ast.Name(id="list" | "sorted" as name)):
                return self._module.builtin(name)
            case ast.Call(func=ast.Attribute(attr="tolist")):
                return True
        return False

    def _makes_integers(self, node: ast.expr) -> bool:
        match node:
            case ast.List(elts=[_, *_] as parts):
                return all(isinstance(part, ast.Constant) and type(part.value) is int for part in parts)
            case ast.BinOp(left=left, op=ast.Mult()) if self._makes_list(node):
                return self._makes_integers(left)
            case ast.Call(func=ast.Name(id="list"), args=[ast.Call(func=ast.Name(id="range"))]):
                return self._module.builtin("list") and self._module.builtin("range")
        return self._makes(node, _INTEGER)

    def _makes_floats(self, node: ast.expr) -> bool:
        match node:
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if self._makes_list(node):
                return self._makes_floats(left if isinstance(left, ast.List) else right)
        return self._makes(node, _FLOAT)

    def _makes(self, node: ast.expr, kind: type) -> bool:
        """Whether it shows a list whose elements surely are numbers of a type."""
        match node:
            case ast.List(elts=[_, *_] as parts):
                return all(self._type_of(part, frozenset()) is kind for part in parts)
            case ast.ListComp(elt=ast.ListComp() | ast.List() as row):
                return kind is _FLOAT and self._makes(row, kind)
            case ast.ListComp(elt=item, generators=turns) if self._module.builtin("range"):
                counted = (
                    turn.target.id
                    for turn in turns
                    if isinstance(turn.target, ast.Name)
                    and isinstance(turn.iter, ast.Call)
                    and unparsed(turn.iter.func) == "range"
                )
                return self._type_of(item, frozenset(counted)) is kind
        return False

    def _type_of(self, node: ast.expr, counters: frozenset[str]) -> type | None:
        """The type of number that an expression gives, if it shows one: of ``counters``, which are integers,
        of literals, and of functions that give floats.
        """
        match node:
            case ast.Constant(value=int() | float() as value) if not isinstance(value, bool):
                return type(value)
            case ast.Name(id=name) if name in counters:
                return _INTEGER
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                return self._type_of(operand, counters)
            case ast.BinOp(left=left, op=op, right=right):
                one, two = self._type_of(left, counters), self._type_of(right, counters)
                if None in (one, two) or not isinstance(op, _ARITHMETIC):
                    return None
                return _FLOAT if _FLOAT in (one, two) or isinstance(op, ast.Div) else _INTEGER
            case ast.Call(func=ast.Name(id="float" | "int" as name)) if self._module.builtin(name):
                return _FLOAT if name == "float" else _INTEGER
            case ast.Call(func=function):
                return _FLOAT if self._module.imported_name(unparsed(function)) in _OF_FLOATS else None
        return None

    def _always_made_by(self, makes: Callable[[ast.expr], bool], name: str) -> bool:
        """Whether every binding of the name gives it an object of this kind."""
        if self._by_calls and (given := self._given_elsewhere(name)):
            return all(map(makes, given))
        places = set(self._names.bindings.get(name) or bindings_of(name, self._loop, self._module)[0])
        for scope in (n for n in reversed(self._loop.path) if isinstance(n, _SCOPES)):
            assigned = assigned_in(scope)
            made = {
                place
                for place in places
                for a in assigned.get(place, ())
                if a.target is place and not isinstance(a.owner, ast.For) and makes(a.value)
            }
            if made:
                return made == places
        return False

    def _given_elsewhere(self, name: str) -> list[ast.expr]:
        """What the file gives a parameter of the loop's function, or an attribute; empty if unknown."""
        if "." in name:
            attribute = name.rpartition(".")[2]
            bound = (pair for node in every_node(self._loop.path[0]) for pair in pairs_assigned(node))
            return [v for t, v in bound if isinstance(t, ast.Attribute) and t.attr == attribute]
        return list(self._arguments(name, self._loop.scope, _DEEPEST) or ())

    def _arguments(self, name: str, scope: ast.AST, depth: int) -> Sequence[ast.expr] | None:
        """What all calls of a function give its parameter, as expressions that make it; None if unknown."""
        if not isinstance(scope, ast.FunctionDef) or name in bound_in(scope):
            return None
        parameters = [each.arg for each in (*scope.args.posonlyargs, *scope.args.args)]
        if name not in parameters or self._module.functions.get(scope.name) != (scope,):
            return None
        number, found = parameters.index(name), list[ast.expr]()
        mentions = 0
        for around, call in _calls(self._loop.path[0]):
            if not (isinstance(call.func, ast.Name) and call.func.id == scope.name):
                continue
            mentions += 1
            given = [k.value for k in call.keywords if k.arg == name] or call.args[number : number + 1]
            if not given or any(isinstance(a, ast.Starred) for a in call.args[: number + 1]):
                return None
            values = self._made(given[0], around, depth)
            if values is None:
                return None
            found += values
        named = sum(isinstance(n, ast.Name) and n.id == scope.name for n in every_node(self._loop.path[0]))
        return found if mentions and mentions == named else None

    def _made(self, node: ast.expr, around: ast.AST, depth: int) -> Sequence[ast.expr] | None:
        """The expressions that make an argument in the function ``around`` its call; None if unknown."""
        if not isinstance(node, ast.Name):
            return [node]
        if depth == 0:
            return None
        path = [self._loop.path[0]] if isinstance(around, ast.Module) else [self._loop.path[0], around]
        places, _ = bindings_within(node.id, path, self._module)
        if len(places) == 1 and isinstance(places[0], ast.arg):
            return self._arguments(node.id, around, depth - 1)
        assigned = (assigned_in(scope) for scope in path)
        values = [a.value for each in assigned for p in places for a in each.get(p, ()) if a.target is p]
        return values if values and len(values) == len(places) else None


#: How many functions an argument is followed through.
_DEEPEST = 3


def _calls(module: ast.AST) -> Iterator[tuple[ast.AST, ast.Call]]:
    """All calls of a module, each with the innermost function around it."""
    waiting = [(module, module)]
    while waiting:
        around, node = waiting.pop()
        if isinstance(node, ast.Call):
            yield around, node
        inside = node if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) else around
        waiting += [(inside, child) for child in ast.iter_child_nodes(node)]


def _changes(node: ast.AST, name: str) -> bool:
    """Whether it stores to an element of the list, or adds one."""
    match node:
        case ast.Subscript(value=ast.Name(id=other), ctx=ast.Store()):
            return other == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=other), attr="append" | "extend" | "insert")):
            return other == name
    return False


def _makes_dictionary(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in _DICTIONARIES
    return isinstance(node, ast.Dict | ast.DictComp)
