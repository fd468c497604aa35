"""Expressions as closures over a frame: the part of `evaluate` that knows no statements."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from dlbrt.records import dataclass

from dlbc.cost import limits
from dlbc.cost.functions import BUILTINS, Function, known_function, known_number
from dlbc.cost.limits import Budget, EvaluationError

Frame = dict[str, Any]
Code = Callable[[Frame], Any]

#: Characters of an expression that are shown.
_WIDEST = 60


@dataclass(frozen=True, slots=True)
class Names:
    """What names mean: ``values`` are numbers, ``modules`` are ``math`` or ``numpy``, by their names here.

    ``members`` are names imported from them (module, name), ``functions`` those of the program; ``unknown``
    mean something else than a builtin of the same name.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    members: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    functions: Mapping[str, ast.FunctionDef] = field(default_factory=dict)
    unknown: frozenset[str] = frozenset()


def size_of(*nodes: ast.AST) -> int:
    """How many nodes these have, which is how many steps they are charged for."""
    return sum(1 for node in nodes for _ in ast.walk(node))


def refused(node: ast.AST) -> EvaluationError:
    """The error for a node that is not evaluated."""
    return EvaluationError(f"expected arithmetic on numbers, found `{shown(node)}`")


def shown(node: ast.AST) -> str:
    """The first line of a node's text, up to `_WIDEST` characters."""
    try:
        text = ast.unparse(node).partition("\n")[0]
    except (RecursionError, ValueError):  # nested too deeply, or a number of too many digits
        text = type(node).__name__
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 3]}..."


def _constantly(value: Any) -> Code:
    def code(frame: Frame) -> Any:
        del frame
        return value

    return code


class ExpressionTranslator(ABC):
    """Translates expressions into closures; ``local`` are the names of the frame."""

    def __init__(self, names: Names, budget: Budget) -> None:
        self.names = names
        self.budget = budget

    def expression(self, node: ast.expr, local: frozenset[str]) -> Code:
        """The closure of an expression; EvaluationError if it is none that can be evaluated."""
        method = getattr(self, f"_{type(node).__name__.lower()}", None)
        if method is None:
            raise refused(node)
        found: Code = method(node, local)
        return found

    def _all(self, nodes: Iterable[ast.expr], local: frozenset[str]) -> list[Code]:
        return [self.expression(node, local) for node in nodes]

    def _constant(self, node: ast.Constant, local: frozenset[str]) -> Code:
        del local
        value = limits.bounded(node.value)
        return _constantly(value)

    def _name(self, node: ast.Name, local: frozenset[str]) -> Code:
        name, values = node.id, self.names.values
        if name in local:

            def read(frame: Frame) -> Any:
                if name not in frame:
                    raise NameError(f"name {name!r} has no value here")
                return frame[name]

            return read
        if name in values:
            value = limits.part(values[name])
            return _constantly(value)
        if name in self.names.members and (number := known_number(*self.names.members[name])):
            return _constantly(number)
        raise EvaluationError(f"expected names whose numbers are known, found `{name}`")

    def _attribute(self, node: ast.Attribute, local: frozenset[str]) -> Code:
        match node:
            case ast.Attribute(value=ast.Name(id=module)) if self._is_module(module, local):
                number = known_number(self.names.modules[module], node.attr)
                if number is not None:
                    return _constantly(number)
        raise refused(node)

    def _is_module(self, name: str, local: frozenset[str]) -> bool:
        return name not in local and name in self.names.modules

    def _unaryop(self, node: ast.UnaryOp, local: frozenset[str]) -> Code:
        name, operand, budget = type(node.op).__name__, self.expression(node.operand, local), self.budget
        return lambda frame: limits.unary(name, operand(frame), budget)

    def _binop(self, node: ast.BinOp, local: frozenset[str]) -> Code:
        operation, budget, binary = limits.BINARY.get(type(node.op).__name__), self.budget, limits.binary
        if operation is None:
            raise refused(node)
        left, right = self._all((node.left, node.right), local)
        return lambda frame: binary(operation, left(frame), right(frame), budget)

    def _boolop(self, node: ast.BoolOp, local: frozenset[str]) -> Code:
        stops_at, (*before, last) = isinstance(node.op, ast.Or), self._all(node.values, local)

        def run(frame: Frame) -> Any:
            for code in before:
                if bool(value := code(frame)) is stops_at:
                    return value
            return last(frame)

        return run

    def _compare(self, node: ast.Compare, local: frozenset[str]) -> Code:
        names, budget = [type(op).__name__ for op in node.ops], self.budget
        codes = self._all((node.left, *node.comparators), local)
        if len(names) == 1:
            name, (left, right) = names[0], codes
            return lambda frame: limits.compared(name, left(frame), right(frame), budget)
        first, *others = codes

        def run(frame: Frame) -> Any:
            left, holds = first(frame), True
            for name, code in zip(names, others, strict=True):
                right = code(frame)
                holds = limits.compared(name, left, right, budget)
                if name is not names[-1] and not holds:
                    return holds
                left = right
            return holds

        return run

    def _ifexp(self, node: ast.IfExp, local: frozenset[str]) -> Code:
        test, body, otherwise = self._all((node.test, node.body, node.orelse), local)
        return lambda frame: body(frame) if test(frame) else otherwise(frame)

    def _tuple(self, node: ast.Tuple | ast.List | ast.Set, local: frozenset[str]) -> Code:
        codes, budget = self._all(node.elts, local), self.budget
        kind = {"List": list, "Set": frozenset}.get(type(node).__name__, tuple)
        return lambda frame: limits.sequence(kind, (code(frame) for code in codes), budget)

    _list = _set = _tuple

    def _dict(self, node: ast.Dict, local: frozenset[str]) -> Code:
        if None in node.keys:
            raise refused(node)
        keys = self._all([key for key in node.keys if key is not None], local)
        values = self._all(node.values, local)

        def run(frame: Frame) -> Any:
            pairs = ((key(frame), value(frame)) for key, value in zip(keys, values, strict=True))
            return {limits.bounded(key): limits.part(value) for key, value in pairs}

        return run

    def _subscript(self, node: ast.Subscript, local: frozenset[str]) -> Code:
        if isinstance(node.slice, ast.Slice | ast.Tuple):
            raise refused(node)
        value, key = self._all((node.value, node.slice), local)

        def run(frame: Frame) -> Any:
            where, at = value(frame), limits.bounded(key(frame))
            if not isinstance(where, list | tuple | range | dict):
                raise refused(node)
            return where[at]

        return run

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp, local: frozenset[str]) -> Code:
        inner, found = local, []
        for part in node.generators:
            if part.is_async or not isinstance(part.target, ast.Name):
                raise refused(node)
            source = self.expression(part.iter, inner)
            inner |= {part.target.id}
            found.append((part.target.id, source, self._all(part.ifs, inner)))
        element, kind = self.expression(node.elt, inner), frozenset if isinstance(node, ast.SetComp) else list
        budget, steps = self.budget, size_of(node)

        def values(frame: Frame, depth: int) -> Iterable[Any]:
            if depth == len(found):
                yield element(frame)
                return
            name, source, tests = found[depth]
            for value in limits.items(source(frame), budget):
                budget.charge(steps)
                inside = {**frame, name: value}
                if all(test(inside) for test in tests):
                    yield from values(inside, depth + 1)

        return lambda frame: limits.sequence(kind, values(frame, 0), budget)

    _generatorexp = _setcomp = _listcomp

    # Calls

    def _call(self, node: ast.Call, local: frozenset[str]) -> Code:
        if node.keywords or any(isinstance(each, ast.Starred) for each in node.args):
            raise refused(node)
        arguments, budget = self._all(node.args, local), self.budget
        if isinstance(node.func, ast.Name) and node.func.id in self.names.functions.keys() - local:
            return self.own_function(node.func.id, arguments)
        function = self._known(node.func, local)
        if function is None:
            wanted = "expected functions of math, numpy and the program that only compute"
            raise EvaluationError(f"{wanted}, found `{shown(node.func)}`")
        return lambda frame: function(budget, *[argument(frame) for argument in arguments])

    def _known(self, node: ast.expr, local: frozenset[str]) -> Function | None:
        match node:
            case ast.Attribute(value=ast.Name(id=module)) if self._is_module(module, local):
                return known_function(self.names.modules[module], node.attr)
            case ast.Name(id=name) if name not in local and name not in self.names.values:
                if name in self.names.members:
                    return known_function(*self.names.members[name])
                return None if name in self.names.unknown else BUILTINS.get(name)
        return None

    @abstractmethod
    def own_function(self, name: str, arguments: list[Code]) -> Code:
        """A call of a function of the program."""
