"""Count what calls execute: functions of the module with their arguments, array operations by their size."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Sequence

from dlbc.algebra.integer_form import Apply, IntegerForm, Operator
from dlbc.algebra.work import WorkPolynomial
from dlbc.analysis.subscripts import all_known
from dlbc.analysis.uses import own_nodes, root_name
from dlbc.cost.count_expressions import ExpressionCounter
from dlbc.cost.estimate import NO_COST, UNIT_COST, CostEstimate, UncountableError, total_of
from dlbc.cost.shapes import Shape, broadcast
from dlbc.ir.region import FunctionNode
from dlbc.library.row import CostKind
from dlbc.library.table import is_pure, lookup

#: The depth to which nested calls are followed.
_DEEPEST = 8


class CallCounter(ExpressionCounter):
    """Costs of the calls in one region; ``_within`` are the functions that have been entered."""

    _within: tuple[FunctionNode, ...] = ()

    @abstractmethod
    def _callee(self, function: FunctionNode, arguments: dict[str, ast.expr]) -> CallCounter:
        """A counter for the body of a function that is called with these arguments."""

    @abstractmethod
    def block(self, statements: Sequence[ast.stmt]) -> CostEstimate:
        """The cost of statements."""

    @property
    @abstractmethod
    def result(self) -> Shape:
        """The shape of the function's result."""

    def _call(self, node: ast.Call) -> CostEstimate:
        parts = [*node.args, *(k.value for k in node.keywords)]
        price = total_of(map(self._expression, parts))
        if root_name(node.func) is None:
            price += self._expression(node.func.value if isinstance(node.func, ast.Attribute) else node.func)
        function = self._function(node.func)
        if function is not None:
            return price + UNIT_COST + self._entered(node, function)
        name = self._full(node.func)
        if name.startswith("numpy."):
            return price + self._vector_call(name, node)
        if is_pure(name) or lookup(name).prints:
            return price + UNIT_COST + self._read_through(name, node)
        if isinstance(node.func, ast.Attribute):
            return price + self._method(node, node.func)
        raise _unknown_cost(f"`{ast.unparse(node.func)}`", node)

    def _method(self, node: ast.Call, function: ast.Attribute) -> CostEstimate:
        method = function.attr
        row = lookup(f".{method}")
        if method in self._region.module.methods or not row.known or row.iterator:
            raise _unknown_cost(f"the method `{method}`", node)
        shape = None if row.cost is None else self._array(function.value)
        return UNIT_COST if shape is None else self._started(shape)

    def _vector_call(self, name: str, node: ast.Call) -> CostEstimate:
        cost = lookup(name).cost
        if cost is CostKind.PRODUCT and len(node.args) > 1:
            return self._product(*node.args[:2])
        look = self._sizes.array if cost is CostKind.REDUCTION else self._sizes.shape
        shapes = [look(argument, self._forms, self._hidden) for argument in node.args]
        shape = broadcast(*shapes, self._shape(node))
        return UNIT_COST if shape is None else self._started(shape)

    def _read_through(self, name: str, node: ast.Call) -> CostEstimate:
        """Builtins that go through all of their argument; the cost of a generator is counted already."""
        if lookup(name).cost is not CostKind.ITEMS or len(node.args) != 1:
            return NO_COST
        length = self._sizes.length(node.args[0], self._forms, self._hidden)
        if length is None or not self._usable(length):
            return NO_COST
        return CostEstimate.of(WorkPolynomial.from_form(self._normal(length)))

    def _function(self, node: ast.expr) -> FunctionNode | None:
        """The function of the module that is surely the callee, if there is one."""
        module = self._region.module
        if not isinstance(node, ast.Name) or node.id in self._region.own or node.id in self._hidden:
            return None
        named = module.functions.get(node.id, ())
        once = len(named) == 1 and len(module.bound.get(node.id, ())) == 1 and node.id not in module.declared
        return named[0] if once and node.id not in self.context.local else None

    def _entered(self, node: ast.Call, function: FunctionNode) -> CostEstimate:
        name = ast.unparse(node.func)
        if function in self._within or len(self._within) >= _DEEPEST:
            raise UncountableError(f"`{name}`, called on line {node.lineno}, is recursive")
        generates = any(isinstance(n, ast.Yield | ast.YieldFrom) for n in _inside(function))
        if generates or isinstance(function, ast.AsyncFunctionDef):
            raise _unknown_cost(f"`{name}`", node, ": it is a generator")
        callee = self._callee(function, self._arguments(node, function))
        body = [ast.Return(function.body)] if isinstance(function, ast.Lambda) else function.body
        price = callee.block(body)
        self._sizes.inputs.results[node] = callee.result
        return price

    def _arguments(self, node: ast.Call, function: FunctionNode) -> dict[str, ast.expr]:
        """The parameters that surely receive one expression each."""
        if any(isinstance(a, ast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
            return {}
        given = function.args
        plain = [p.arg for p in (*given.posonlyargs, *given.args)]
        defaults = zip(plain[len(plain) - len(given.defaults) :], given.defaults, strict=True)
        arguments: dict[str, ast.expr] = {n: d for n, d in defaults if isinstance(d, ast.Constant)}
        arguments |= dict(zip(plain, node.args, strict=False))
        return arguments | {k.arg: k.value for k in node.keywords if k.arg is not None}

    def _inline(self, node: ast.Call) -> IntegerForm | None:
        """The integer that a function of the module returns: its expression, or the call as it stands."""
        function = self._function(node.func)
        if function is None or function in self._within or len(self._within) >= _DEEPEST:
            return None
        result = function.body if isinstance(function, ast.Lambda) else _only_return(function.body)
        if result is not None:
            callee = self._callee(function, self._arguments(node, function))
            form = callee._as_form(result)
            if form is not None:
                return form
        forms = all_known(self._as_form(argument) for argument in node.args)
        plain = isinstance(function, ast.FunctionDef) and not self._within and not node.keywords
        if not (plain and forms and _returns_integers(function)):
            return None
        return IntegerForm.of(Apply(Operator.CALL, forms, ast.unparse(node.func)))


def _unknown_cost(callee: str, call: ast.Call, reason: str = "") -> UncountableError:
    return UncountableError(f"what {callee}, called on line {call.lineno}, costs is not known{reason}")


def _inside(function: FunctionNode) -> Iterator[ast.AST]:
    return own_nodes([function.body] if isinstance(function, ast.Lambda) else function.body)


def _only_return(body: Sequence[ast.stmt]) -> ast.expr | None:
    """The result of a function that does nothing but return it."""
    match [s for s in body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]:
        case [ast.Return(value=value)]:
            return value
    return None


def _returns_integers(function: FunctionNode) -> bool:
    """Whether every result comes from an operation that gives integers."""
    results = [n.value for n in _inside(function) if isinstance(n, ast.Return)]
    return bool(results) and all(r is not None and _makes_integer(r) for r in results)


def _makes_integer(node: ast.expr) -> bool:
    match node:
        case ast.BinOp(op=ast.FloorDiv()) | ast.Constant(value=int()):
            return True
        case ast.Call(func=ast.Name(id="int" | "len")) | ast.Call(func=ast.Attribute(attr="isqrt")):
            return True
    return False
