"""What the names in a loop's expressions mean outside it, as far as the module's text alone says so.

These are builtins and modules that do nothing but compute, functions, and literal numbers, each bound once in
the module. A function of the program is called only where its result is a cost: before such a cost was taken,
it was shown to do nothing but compute.
"""

from __future__ import annotations
import __future__

import ast
from collections.abc import Iterable
from typing import Any

from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.uses import bound_names, parameters_of

__all__ = ["ModuleContext"]

#: Annotations of functions are not evaluated.
_UNREAD = __future__.annotations.compiler_flag

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Builtins and modules that do nothing but compute.
_BUILTINS = _words("""
    abs all any bool bytes chr complex dict divmod enumerate filter float frozenset hash int isinstance len
    list map max min ord pow range repr reversed round set sorted str sum tuple zip
""")
_MODULES = _words("cmath fractions functools itertools math numpy operator statistics")


class ModuleContext:
    """The module around a loop, seen from the loop: names of functions around it hide the module's."""

    def __init__(self, loop: AnnotatedLoop) -> None:
        module = loop.path[0]
        assert isinstance(module, ast.Module)
        self._bound = bound_names(module.body)
        shared = {n for node in ast.walk(module) if isinstance(node, ast.Global) for n in node.names}
        self._statements = [s for s in module.body if _lasting(s)]
        self._hidden = {name for scope in loop.path if isinstance(scope, _FUNCTIONS) for name in _own(scope)}
        self._makers = {
            name: statement
            for statement in self._statements
            for name in bound_names([statement])
            if len(self._bound[name]) == 1 and name not in shared
        }

    def __contains__(self, name: str) -> bool:
        if name in self._hidden:
            return False
        return name in self._makers or (name not in self._bound and name in _BUILTINS)

    def runs(self, name: str) -> bool:
        """Whether a call of it is more than arithmetic: a function of the program, or numpy's."""
        maker = None if name in self._hidden else self._makers.get(name)
        match maker:
            case ast.Import(names=names):
                return any(alias.name.startswith("numpy") for alias in names)
            case ast.ImportFrom(module=str(module)):
                return module.startswith("numpy")
        return isinstance(maker, ast.FunctionDef)

    @property
    def numbers(self) -> dict[str, int | float]:
        """The names of literal numbers, with these."""
        made = self._makers.items()
        return {
            name: ast.literal_eval(statement.value)
            for name, statement in made
            if isinstance(statement, ast.Assign) and name not in self._hidden
        }

    def namespace(self, names: Iterable[str]) -> dict[str, Any]:
        """What these names stand for. Whatever imports and definitions raise, this raises."""
        wanted: set[str] = set()
        waiting = [name for name in names if name not in self._hidden]
        while waiting:
            name = waiting.pop()
            if name in self._makers and name not in wanted:
                wanted.add(name)
                nodes = ast.walk(self._makers[name])
                waiting += [node.id for node in nodes if isinstance(node, ast.Name)]
        needed = {id(self._makers[name]) for name in wanted}
        body: list[ast.stmt] = [s for s in self._statements if id(s) in needed]
        found: dict[str, Any] = {}
        exec(compile(ast.Module(body, []), "<program>", "exec", _UNREAD), found)
        return found


def _lasting(statement: ast.stmt) -> bool:
    """Whether a statement of the module gives names a meaning that the text shows."""
    match statement:
        case ast.FunctionDef(args=args, decorator_list=[]):
            defaults = [*args.defaults, *args.kw_defaults]
            return all(default is None or isinstance(default, ast.Constant) for default in defaults)
        case ast.Import(names=names):
            return all(_known(alias.name) for alias in names)
        case ast.ImportFrom(module=str(module), level=0):
            return _known(module)
        case ast.Assign(targets=[ast.Name()], value=ast.Constant(value=value)):
            return type(value) in (int, float)
        case ast.Assign(
            targets=[ast.Name()], value=ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=value))
        ):
            return type(value) in (int, float)
    return False


def _known(module: str) -> bool:
    return module.partition(".")[0] in _MODULES


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    return ({p.arg for p in parameters_of(function)} | bound_names(function.body).keys()) - shared
