"""Evaluate an expression of a program without running it: over its own nodes, within limits.

Arithmetic, comparisons, choices, sequences of numbers, the functions in `limits`, and functions of the
program that do nothing else, statement by statement. Nothing of the program is handed to Python: no name but
those given and those of `limits` has a value, no attribute is read but that of ``math`` and ``numpy``, and
nothing but a known function is called. The time is bounded (`limits.Budget`), and so is the depth.

An expression is translated once into closures over a frame, the dictionary of the names that it binds itself;
a frame is charged for as many steps as its code has nodes, and again in each turn of a loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from typing import Any

from dlbc.cost import limits
from dlbc.cost.evaluate_expressions import Code, ExpressionTranslator, Frame, Names, refused, size_of
from dlbc.cost.limits import Budget, EvaluationError

#: How deep calls of the program's functions may be nested.
_MAX_CALLS = 60


class Evaluated:
    """A function of numbers and vectors that an expression is; ``parameter`` is its first name."""

    def __init__(self, evaluator: _Translator, parameters: Sequence[str], code: Code, steps: int) -> None:
        self.parameter = parameters[0] if parameters else "i"
        self._evaluator = evaluator
        self._parameters = tuple(parameters)
        self._code = code
        self._steps = steps

    def __call__(self, *arguments: Any) -> Any:
        """The value; EvaluationError beyond the limits, or whatever the operations raise."""
        self._evaluator.budget.charge(self._steps)
        try:
            return self._code(dict(zip(self._parameters, arguments, strict=True)))
        except RecursionError:
            raise _too_deep() from None


def evaluate(node: ast.expr, names: Names, budget: Budget | None = None) -> Any:
    """The value of an expression; EvaluationError if it is none that can be evaluated within the limits.

    Otherwise raises what its operations raise, such as ZeroDivisionError.
    """
    return function_of((), node, names, budget)()


def function_of(
    parameters: Sequence[str], body: ast.expr, names: Names, budget: Budget | None = None
) -> Evaluated:
    """The function ``lambda parameters: body``; EvaluationError as `evaluate`."""
    translator = _Translator(names, budget or Budget())
    try:
        code = translator.expression(body, frozenset(parameters))
        return Evaluated(translator, parameters, code, size_of(body))
    except RecursionError:
        raise _too_deep() from None


def _too_deep() -> EvaluationError:
    return EvaluationError("expected an expression that is less deeply nested")


class _Return(Exception):  # noqa: N818  # no error, and caught by the call
    def __init__(self, value: Any) -> None:
        self.value = value


class _Break(Exception):  # noqa: N818
    pass


class _Continue(Exception):  # noqa: N818
    pass


class _Translator(ExpressionTranslator):
    """Translates functions of the program as well, statement by statement."""

    def __init__(self, names: Names, budget: Budget) -> None:
        super().__init__(names, budget)
        self._functions: dict[str, Code] = {}
        self._depth = 0

    def own_function(self, name: str, arguments: list[Code]) -> Code:
        """A call of a function of the program, translated when it is met for the first time."""
        node = self.names.functions[name]
        if not _is_simple(node):
            raise EvaluationError(f"expected a function of plain parameters, found `{name}`")
        parameters, defaults = _parameters(node)
        if not len(parameters) - len(defaults) <= len(arguments) <= len(parameters):
            raise EvaluationError(f"expected {len(parameters)} arguments of `{name}`, found {len(arguments)}")
        if name not in self._functions:
            self._functions[name] = lambda frame: self._functions[name](frame)  # while it is translated
            self._functions[name] = self._body(node)
        missing = dict(zip(parameters[len(parameters) - len(defaults) :], defaults, strict=True))

        def run(frame: Frame) -> Any:
            given = dict(zip(parameters, [argument(frame) for argument in arguments], strict=False))
            self._depth += 1
            try:
                if self._depth > _MAX_CALLS:
                    raise EvaluationError(f"expected calls at most {_MAX_CALLS} deep, found `{name}`")
                return self._functions[name](missing | given)
            finally:
                self._depth -= 1

        return run

    def _body(self, node: ast.FunctionDef) -> Code:
        local = frozenset(_parameters(node)[0]) | _bound(node.body)
        run = self._block(node.body, local)

        def call(frame: Frame) -> Any:
            try:
                run(frame)
            except _Return as found:
                return found.value
            raise EvaluationError(f"expected a number from `{node.name}`, found that it returns none")

        return call

    def _block(self, body: Sequence[ast.stmt], local: frozenset[str]) -> Code:
        codes, budget, steps = [self._statement(each, local) for each in body], self.budget, size_of(*body)

        def run(frame: Frame) -> None:
            budget.charge(steps)
            for code in codes:
                code(frame)

        return run

    def _statement(self, node: ast.stmt, local: frozenset[str]) -> Code:
        match node:
            case ast.Pass() | ast.Expr(value=ast.Constant()):
                return _nothing
            case ast.Break():
                return _raiser(_Break)
            case ast.Continue():
                return _raiser(_Continue)
            case ast.Return(value=ast.expr() as value):
                return self._return(value, local)
            case ast.Assign(targets=[target], value=value):
                return self._assigned(target, value, local)
            case ast.AnnAssign(target=ast.Name() as target, value=ast.expr() as value):
                return self._assigned(target, value, local)
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                left = ast.copy_location(ast.Name(name, ast.Load()), node)
                combined = ast.copy_location(ast.BinOp(left, op, value), node)
                return self._assigned(node.target, combined, local)
            case ast.If(test=test, body=body, orelse=orelse):
                condition, then, otherwise = (
                    self.expression(test, local),
                    self._block(body, local),
                    self._block(orelse, local),
                )
                return lambda frame: then(frame) if condition(frame) else otherwise(frame)
            case ast.While(test=test, body=body, orelse=[]):
                return self._repeated(None, self.expression(test, local), self._block(body, local))
            case ast.For(target=ast.Name(id=name), iter=source, body=body, orelse=[]):
                return self._repeated(name, self.expression(source, local), self._block(body, local))
        raise refused(node)

    def _return(self, value: ast.expr, local: frozenset[str]) -> Code:
        code = self.expression(value, local)

        def run(frame: Frame) -> None:
            raise _Return(code(frame))

        return run

    def _assigned(self, target: ast.expr, value: ast.expr, local: frozenset[str]) -> Code:
        code = self.expression(value, local)
        match target:
            case ast.Name(id=name):

                def bind(frame: Frame) -> None:
                    frame[name] = code(frame)

                return bind
            case ast.Tuple(elts=parts) if all(isinstance(each, ast.Name) for each in parts):
                names = [each.id for each in parts if isinstance(each, ast.Name)]

                def unpack(frame: Frame) -> None:
                    frame.update(zip(names, limits.items(code(frame), self.budget), strict=True))

                return unpack
        raise refused(target)

    def _repeated(self, name: str | None, head: Code, body: Code) -> Code:
        """A loop over a sequence, or while a condition holds."""
        budget = self.budget

        def turns(frame: Frame) -> Iterable[Any]:
            while head(frame):
                budget.charge(1)
                yield None

        def run(frame: Frame) -> None:
            for value in turns(frame) if name is None else limits.items(head(frame), budget):
                if name is not None:
                    frame[name] = value
                try:
                    body(frame)
                except _Break:
                    return
                except _Continue:
                    continue

        return run


def _nothing(frame: Frame) -> None:
    """The code of a statement that does nothing."""


def _raiser(kind: type[Exception]) -> Code:
    def run(frame: Frame) -> None:
        del frame
        raise kind

    return run


def _is_simple(node: ast.FunctionDef) -> bool:
    plain = not (node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.decorator_list)
    return plain and all(isinstance(default, ast.Constant) for default in node.args.defaults)


def _parameters(node: ast.FunctionDef) -> tuple[list[str], list[Any]]:
    """The names, and the defaults of the last of them."""
    defaults = [limits.bounded(each.value) for each in node.args.defaults if isinstance(each, ast.Constant)]
    return [each.arg for each in (*node.args.posonlyargs, *node.args.args)], defaults


def _bound(body: Sequence[ast.stmt]) -> frozenset[str]:
    nodes = (node for statement in body for node in ast.walk(statement))
    return frozenset(n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
