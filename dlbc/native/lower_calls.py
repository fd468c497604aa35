"""Calls: of builtins and modules whose compiled form keeps the bits, and of the program's own functions."""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from dlbrt.exactness import (
    BUILTINS_EXACT,
    MATH_EXACT,
    MATH_HELPERS,
    MATH_OF_INTEGERS,
    NOT_EXACT,
    NUMPY_EXACT,
    NUMPY_HELPERS,
)

from dlbc.analysis.uses import bound_names
from dlbc.native.facts import NotCompilableError, helper, literal_of, shortened, standing_for
from dlbc.native.inline_calls import inline_call, returns_value, with_value
from dlbc.native.local_arrays import check_lists, find_local_arrays
from dlbc.native.lower_elements import ElementLowering
from dlbc.native.row_names import RowContext, is_row_given, place_rows, steady_row
from dlbc.native.scalars import CHECKED, NUMPY, Kind, Scalar, Sign, integer

#: Texts of which `float` makes infinity.
_INFINITE = frozenset(f"{sign}{word}" for sign in ("", "+", "-") for word in ("inf", "infinity"))
#: Functions of `math` that give an integer.
_TO_INTEGER = frozenset({"floor", "ceil", "trunc"})
#: Functions of `math` that raise for no number.
_TOTAL = frozenset({"fabs", "atan", "atan2", "copysign", "tanh", "isnan", "isinf", "isfinite", "erf", "erfc"})
#: Functions of `math` whose results are not negative.
_NOT_NEGATIVE = frozenset({"sqrt", "fabs", "exp", "cosh", "acosh", "hypot"})


class CallLowering(ElementLowering):
    """Lowers calls."""

    def _call(self, node: ast.Call) -> tuple[ast.expr, Scalar]:
        own = self._facts.functions(node.func.id) if isinstance(node.func, ast.Name) else None
        if own is not None:
            return self._inlined(node, own)[0]
        if node.keywords or any(isinstance(a, ast.Starred) for a in node.args):
            raise NotCompilableError(f"`{ast.unparse(node)}` cannot be compiled", node)
        name = ast.unparse(node.func) if isinstance(node.func, ast.Name | ast.Attribute) else ""
        full = self._facts.imported(name)
        if isinstance(node.func, ast.Name) and self._facts.builtin(name) and not full:
            return self._builtin(node, name)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "conjugate" and not full:
            return self._conjugate(node, node.func)
        module, _, function = full.rpartition(".")
        if module == "math" and (function in MATH_EXACT or function in MATH_HELPERS):
            return self._math(node, function)
        if module == "math" and function in MATH_OF_INTEGERS and len(node.args) == 2:
            return self._of_integers(node)
        if module == "numpy" and (function in NUMPY_EXACT or function in NUMPY_HELPERS):
            return self._numpy(node, function)
        if self._allocation(node) is not None:
            reason = "left to Python: it, or its name, is used for more than elements"
            raise NotCompilableError(f"the array `{shortened(node)}` is {reason}", node)
        why = NOT_EXACT.get(full.replace("numpy.", "np."), "it is not known to have the same bits")
        raise NotCompilableError(f"the call `{shortened(node)}` is left to Python: {why}", node)

    def _conjugate(self, node: ast.Call, function: ast.Attribute) -> tuple[ast.expr, Scalar]:
        """The conjugate of a number; compiled code knows those of complex ones."""
        if node.args or self._is_whole(function.value):
            raise NotCompilableError(f"the call `{shortened(node)}` cannot be compiled", node)
        value, kind = self.expression(function.value)
        return ast.Call(ast.Attribute(value, "conjugate", ast.Load()), [], []), kind

    def _numpy(self, node: ast.Call, function: str) -> tuple[ast.expr, Scalar]:
        """A function of numpy on numbers, whose result is one of numpy; it raises for none."""
        if function in ("sum", "mean"):
            raise NotCompilableError("parts of arrays are left to Python, which has numpy for them", node)
        found = [self.expression(each) for each in node.args]
        self._note_values(*node.args)
        values, element = [value for value, _ in found], any(kind.element for _, kind in found)
        if any(kind.kind is not Kind.INEXACT for _, kind in found):
            self._asked.floats |= {s for _, kind in found for s in kind.sources if s != NUMPY}
        if any(kind.kind in (Kind.INTEGER, Kind.TRUTH) for _, kind in found):
            raise NotCompilableError("functions of numpy on integers are left to Python", node)
        truth = function.startswith("is") or function == "signbit"
        result = Scalar(Kind.TRUTH if truth else Kind.INEXACT, frozenset({NUMPY}), element=element)
        if function in NUMPY_HELPERS:
            self._notes.setdefault(f"`{shortened(node.func)}` is numpy's own, number by number, for its bits")
            return standing_for(helper(NUMPY_HELPERS[function], *values), node), result
        return ast.Call(node.func, values, []), result

    def _run(self, node: ast.Call, function: ast.FunctionDef) -> None:
        """A call of a function of the program for what it does."""
        self._whole = node
        self._inlined(node, function)

    def _inlined(
        self, node: ast.Call, function: ast.FunctionDef, count: int = 0
    ) -> list[tuple[ast.expr, Scalar]]:
        """The statements of a function of the program in place of its call, and what it returns.

        ``count``: it is to return so many values, as a tuple.
        """

        rows = self._row_context()
        given_rows, call = self._rows_given(node, function, rows)

        def is_given(value: ast.expr) -> bool:
            if value in given_rows or self._local(value) or isinstance(literal_of(value), int | float):
                return True
            return (
                isinstance(value, ast.Name | ast.Attribute) and ast.unparse(value) in self._facts.parameters
            )

        entire = function if node is not self._whole or returns_value(function) else with_value(function)
        found = None if function in self._inside else inline_call(entire, call, self._fresh, is_given)
        if found is None:
            raise NotCompilableError(f"`{shortened(node.func)}` is no function that can be taken apart", node)
        lists = any(map(self._is_list, [*node.args, *(each.value for each in node.keywords)]))
        parameters = {each.arg for each in ast.walk(function.args) if isinstance(each, ast.arg)}
        check_lists(function.body, self._allocation, parameters if lists else frozenset())
        self._locals |= found.names
        known = frozenset(self._own.allocations)
        statements: list[ast.stmt] = [*found.statements, ast.Expr(found.result)]
        place_rows(statements, rows)
        last = statements.pop()
        assert isinstance(last, ast.Expr)
        found = replace(found, statements=tuple(statements), result=last.value)
        self._locals |= set(bound_names(found.statements))
        self._own.allocations |= find_local_arrays(found.statements, self._allocation)
        for name, value in found.arguments:
            self._bind(name, *self.expression(value))
        results = [found.result]
        if count:
            results = found.result.elts if isinstance(found.result, ast.Tuple) else []
        if len(results) != max(count, 1):
            raise NotCompilableError(f"`{function.name}` does not always return {count} values", node)
        given = {name for name, _ in found.arguments}
        for each in results:
            if isinstance(each, ast.Name) and each.id in found.names - given:
                # Compiled code wants a value on every path.
                looped = any(isinstance(s, ast.While) for s in found.statements)
                self._out.append(self._zero(each.id, anything=looped))
        outer, self._inside = self._inside, (*self._inside, function)
        outer_pure, self._pure = self._pure, self._pure or node is not self._whole
        outer_protected = self._protected
        if node is not self._whole:
            self._protected = known
        try:
            self.statements(found.statements)
            return [self.expression(each) for each in results]
        except NotCompilableError as error:
            reason = f"in `{function.name}`, {error}"
            raise NotCompilableError(reason, node) from error
        finally:
            self._inside, self._pure, self._protected = outer, outer_pure, outer_protected

    def _extreme(
        self, found: Sequence[tuple[ast.expr, Scalar]], name: str, node: ast.AST
    ) -> tuple[ast.expr, Scalar]:
        """The least or greatest of integers and floats, which is an integer or a float as it comes."""
        chosen = self._fresh("least" if name == "min" else "greatest")
        order = ast.Lt() if name == "min" else ast.Gt()
        exact = [(self._exact(value, kind, node), kind) for value, kind in found]
        self._bind(chosen, *exact[0])
        for value, kind in exact[1:]:
            value = self._named(value, "value")
            outer, self._out = self._out, []
            self._bind(chosen, value, kind)
            inner, self._out = self._out, outer
            self._out.append(ast.If(ast.Compare(value, [order], [ast.Name(chosen, ast.Load())]), inner, []))
        return ast.Name(chosen, ast.Load()), self._name(chosen)

    def _row_context(self) -> RowContext:
        def is_array(node: ast.expr) -> bool:
            name = self._array(node)
            if local := self._local(node):
                return self._own.allocations[local].is_scoped  # else it may be made anew meanwhile
            constant = isinstance(node, ast.Name) and facts.constants(node.id) is not None
            return bool(name and name not in facts.contributed and not constant)

        facts = self._facts
        return RowContext(is_array, facts.builtin, facts.functions, self._fresh)

    def _rows_given(
        self, node: ast.Call, function: ast.FunctionDef, rows: RowContext
    ) -> tuple[list[ast.expr], ast.Call]:
        """The arguments that are rows of arrays, and the call with subscripts that do not change in it."""
        found: list[ast.expr] = []

        def steady(value: ast.expr, name: str) -> ast.expr:
            if not is_row_given(value, name, function, rows):
                return value
            before, row = steady_row(value, set(), rows)
            self._locals |= set(bound_names(before))
            self.statements([*before, ast.Expr(row)])
            found.append(row)
            return row

        names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
        given = [steady(value, name) for value, name in zip(node.args, names, strict=False)]
        keywords = [ast.keyword(each.arg, steady(each.value, each.arg or "")) for each in node.keywords]
        call = ast.Call(node.func, [*given, *node.args[len(given) :]], keywords)
        return found, ast.copy_location(call, node)

    def _math(self, node: ast.Call, function: str) -> tuple[ast.expr, Scalar]:
        found = [self.expression(each) for each in node.args]
        self._note_values(*node.args)
        values = [each for each, _ in found]
        call = ast.Call(node.func, values, [])
        if function == "hypot" and len(values) not in (2, 3):
            raise NotCompilableError(f"the call `{shortened(node)}` cannot be compiled", node)
        if function == "hypot":
            values += [ast.Constant(0.0)] * (3 - len(values))
        if function in MATH_HELPERS:
            call = standing_for(helper(MATH_HELPERS[function], *values), node)
        if function in _TO_INTEGER:
            argument = self._named(found[0][0], "value")
            self._check(helper("too_large", argument))
            return ast.Call(node.func, [argument], []), integer(extra=CHECKED)
        if function.startswith("is"):
            return call, Scalar(Kind.TRUTH)
        sign = Sign.NOT_NEGATIVE if function in _NOT_NEGATIVE else Sign.UNKNOWN
        if function == "sqrt" and self._has_sign(found[0][1], Sign.NOT_NEGATIVE):
            self._asked.pure_calls.add(ast.unparse(node.func))  # it raises for negative numbers alone
            return call, Scalar(Kind.INEXACT, sign=found[0][1].sign)
        return (call if function in _TOTAL else self._finite(call)), Scalar(Kind.INEXACT, sign=sign)

    def _of_integers(self, node: ast.Call) -> tuple[ast.expr, Scalar]:
        """A function of `math` on two integers, whose result is no larger than both; numba refuses floats."""
        found = [self.expression(each) for each in node.args]
        self._note_values(*node.args)
        kinds = [kind for _, kind in found]
        call: ast.expr = ast.Call(node.func, [value for value, _ in found], [])
        if all(kind.bounded and not kind.element for kind in kinds):
            return call, integer(max(k.degree for k in kinds), max(k.extra for k in kinds))
        call = self._named(call, "value")
        self._check(helper("wide", call))
        return call, integer(extra=CHECKED)

    def _builtin(self, node: ast.Call, name: str) -> tuple[ast.expr, Scalar]:
        match name, node.args:
            case "float", [ast.Constant(value=str() as text)] if text.strip().lower() in _INFINITE:
                infinite: ast.expr = ast.Constant(math.inf)
                if text.strip().startswith("-"):
                    infinite = ast.UnaryOp(ast.USub(), infinite)
                return infinite, Scalar(Kind.INEXACT)
        if name == "len" and len(node.args) == 1 and self._local(node.args[0]):
            return node, integer(degree=1)
        if name == "len" and len(node.args) == 1 and (array := self._array(node.args[0])):
            self._use(array)
            return ast.Call(node.func, [self._array_node(node.args[0])], []), integer(degree=1)
        if name not in BUILTINS_EXACT or not node.args:
            raise NotCompilableError(f"the call `{shortened(node)}` cannot be compiled", node)
        found = [self.expression(each) for each in node.args]
        self._note_values(*node.args)
        value, kind = found[0]
        match name, len(found):
            case (("min" | "max"), count) if count > 1:
                chosen = "minimum2" if name == "min" else "maximum2"
                joined = reduce(Scalar.joined, (each for _, each in found))
                if joined.mixed:
                    return self._extreme(found, name, node)
                for other, _ in found[1:]:
                    value = helper(chosen, value, other)
                return standing_for(value, node), joined
            case "abs", 1:
                if kind.complex:
                    value = self._named(value, "value")
                    self._check(helper("too_far", value))
                elif kind.kind is not Kind.INTEGER:
                    self._ask_for_real(kind)
                return ast.Call(node.func, [value], []), replace(kind, complex=False)
            case "complex", (1 | 2):
                if any(each.kind is Kind.TRUTH for _, each in found):
                    raise NotCompilableError(f"the call `{shortened(node)}` cannot be compiled", node)
                return ast.Call(node.func, [v for v, _ in found], []), Scalar(Kind.INEXACT, complex=True)
            case "float", 1:
                return ast.Call(node.func, [value], []), Scalar(Kind.INEXACT)
            case (("int" | "round"), 1):
                if kind.kind is Kind.INTEGER and not kind.element:
                    plain = replace(kind, sources=frozenset[str](), certain=True)
                    return (ast.Call(node.func, [value], []) if kind.sources else value), plain
                value = self._named(value, "value")
                self._check(helper("too_large", value))
                call = ast.Call(node.func, [value], [])
                if kind.element and kind.kind is not Kind.INEXACT and name == "int":
                    call = standing_for(helper("integer", value), node)
                return call, integer(extra=CHECKED)
            case "bool", 1:
                return ast.Call(node.func, [value], []), Scalar(Kind.TRUTH)
        raise NotCompilableError(f"the call `{shortened(node)}` cannot be compiled", node)
