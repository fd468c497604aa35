"""Numbers that the program has only when it runs: given by ``--set``, or known from its text.

Every number that is needed and unknown is recorded, so that all of them are reported at once.

What names in a loop's expressions mean outside it, as far as the module's text alone shows: builtins and
functions of `math` and `numpy` that do nothing but compute, functions of the program, and literal numbers,
each bound once in the module. Nothing of the program runs: expressions are evaluated by `dlbc.cost.evaluate`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from dlbrt.contract import nearest

from dlbc.algebra.bounds import substitute
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Comparison, Condition, IntegerForm, Variable, VariableKind
from dlbc.analysis.uses import bound_names, parameters_of, uses_of
from dlbc.commands.explain.lengths import is_length, shown_lengths, with_lengths
from dlbc.cost.evaluate import Evaluated, evaluate, function_of
from dlbc.cost.evaluate_expressions import Names
from dlbc.cost.functions import BUILTINS, known_function, known_number
from dlbc.cost.limits import Budget, EvaluationError
from dlbc.ir.loop import AnnotatedLoop


class NumberError(Exception):
    """Numbers of a program that cannot be used; the message says what was expected, and what was found."""


def known_values(
    facts: Sequence[Condition], given: Mapping[Variable, int] | None = None
) -> dict[Variable, int]:
    """Names with their values, by solving the equations that hold before the loop, one after the other.

    ``given`` values take precedence over the equations. It ends, since each turn solves for another variable.
    """
    values = dict(given or {})
    equations = [f.form for f in facts if isinstance(f, Comparison) and f.relation == "=="]
    while True:
        forms = [_with(form, values) for form in equations]
        solved = dict(pair for form in forms if (pair := _solved(form)) is not None)
        if not solved:
            return values
        values |= solved
        equations = [form for form in forms if form.variables]


def _with(form: IntegerForm, numbers: dict[Variable, int]) -> IntegerForm:
    return substitute(form, {v: IntegerForm.literal(value) for v, value in numbers.items()})


def _solved(form: IntegerForm) -> tuple[Variable, int] | None:
    """The only variable of the equation ``form == 0`` and its value, if it has a whole one."""
    if len(form.variables) != 1:
        return None
    (variable,) = form.variables
    factor = form.coefficient(variable)
    rest = form - IntegerForm.literal(factor or 0) * IntegerForm.of(variable)
    if factor not in (1, -1) or rest.constant is None:
        return None
    return variable, -factor * rest.constant


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)

#: Modules of which `dlbc.cost.limits` has functions.
_MODULES = ("math", "numpy")


class ModuleContext:
    """The module around a loop, seen from the loop: names of enclosing functions hide the module's."""

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
        return name in self._makers or (name not in self._bound and name in BUILTINS)

    def runs(self, name: str) -> bool:
        """Whether it is a function of the program, or of numpy; calling these is more than arithmetic."""
        names = self.names
        member = names.members.get(name, ("", ""))[0]
        return "numpy" in (names.modules.get(name), member) or name in names.functions

    @property
    def numbers(self) -> dict[str, int | float]:
        """The names bound to literal numbers, with their values."""
        return {name: value for name, value in self.names.values.items() if name not in self._hidden}

    @cached_property
    def names(self) -> Names:
        """What the module's names mean, as its functions see them."""
        values, modules, members = dict[str, Any](), dict[str, str](), dict[str, tuple[str, str]]()
        functions = dict[str, ast.FunctionDef]()
        for name, maker in self._makers.items():
            match maker:
                case ast.Import():
                    modules |= {name: _imported(maker, name)}
                case ast.ImportFrom(module=str(module), names=aliases):
                    [member] = [alias.name for alias in aliases if (alias.asname or alias.name) == name]
                    members[name] = module, member
                case ast.FunctionDef():
                    functions[name] = maker
                case ast.Assign(value=value):
                    values[name] = ast.literal_eval(value)
        unknown = frozenset(self._bound.keys() - self._makers.keys())
        return Names(values, modules, members, functions, unknown)


def _imported(statement: ast.Import, name: str) -> str:
    return next(
        alias.name if alias.asname else name
        for alias in statement.names
        if name == (alias.asname or alias.name.partition(".")[0])
    )


def _lasting(statement: ast.stmt) -> bool:
    """Whether a statement of the module binds names to something that its text shows."""
    match statement:
        case ast.FunctionDef(args=args, decorator_list=[]):
            defaults = [*args.defaults, *args.kw_defaults]
            return all(default is None or isinstance(default, ast.Constant) for default in defaults)
        case ast.Import(names=names):
            return all(alias.name in _MODULES for alias in names)
        case ast.ImportFrom(module=str(module), level=0, names=names):
            return module in _MODULES and all(_is_known(module, alias.name) for alias in names)
        case ast.Assign(targets=[ast.Name()], value=value):
            operand = value.operand if isinstance(value, ast.UnaryOp) and _is_minus(value) else value
            return isinstance(operand, ast.Constant) and type(operand.value) in (int, float)
    return False


def _is_minus(node: ast.UnaryOp) -> bool:
    return isinstance(node.op, ast.USub)


def _is_known(module: str, name: str) -> bool:
    return known_function(module, name) is not None or known_number(module, name) is not None


def _own(function: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str]:
    shared = {name for node in ast.walk(function) if isinstance(node, ast.Global) for name in node.names}
    return ({p.arg for p in parameters_of(function)} | bound_names(function.body).keys()) - shared


Number = int | float


def read_settings(words: Sequence[str]) -> dict[str, Number]:
    """The numbers of ``--set NAME=NUMBER``, by names as `ast.unparse` writes them; NumberError."""
    found: dict[str, Number] = {}
    for word in words:
        name, equals, text = word.rpartition("=")
        try:
            key, value = ast.unparse(ast.parse(name.strip(), mode="eval")), ast.literal_eval(text.strip())
        except (SyntaxError, ValueError):
            key, value = "", None
        if not (equals and key and type(value) in (int, float)):
            wanted = "NAME=NUMBER, such as n=1000 or 'len(A)=1000'"
            raise NumberError(f"--set: expected {wanted}; found {word!r}")
        if found.setdefault(key, value) != value:
            both = f"{key}={found[key]} and {word!r}"
            raise NumberError(f"--set: expected each name once; found {both}")
    return found


def check_names(given: Mapping[str, Number], loops: Iterable[AnnotatedLoop]) -> None:
    """Raise NumberError for settings with names that none of the loops' programs uses."""
    seen = {id(loop.path[0]): loop for loop in loops}.values()
    nodes = [node for loop in seen for node in ast.walk(loop.path[0])]
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    names |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for key, value in given.items():
        for use in uses_of(ast.parse(key, mode="eval")):
            if use.name not in names | BUILTINS.keys():
                found = f"found {key}={value}{nearest(use.name, names)}"
                raise NumberError(f"--set: expected names of the program; {found}")


class LoopNumbers:
    """The numbers of one loop; ``missing`` has the unknown expressions that were needed, and what for."""

    def __init__(self, loop: AnnotatedLoop, space: IndexSpace | None, given: Mapping[str, Number]) -> None:
        self.missing: dict[str, str] = {}
        self._budget = Budget()
        self._around = ModuleContext(loop)
        self._known = with_lengths(self._around.numbers | dict(given))
        facts = () if space is None else space.context
        solved = {v.name: value for v, value in known_values(facts, self.parameters).items()}
        self._known = with_lengths(solved | self._known)
        self._shown: dict[str, ast.expr] = {}
        for text, length in shown_lengths(loop, self._around.names.modules).items():
            if text not in self._known:
                self._show(text, length)

    def _show(self, text: str, length: ast.expr) -> None:
        """A length that the text shows: its number, or the expression until its names have numbers."""
        known = self._substitute(length)
        if unknown := list(self._unknown_parts(known, frozenset(), calls=False)):
            if all(part.isidentifier() or is_length(part) for part, _ in unknown):
                self._shown[text] = known
            return
        with suppress(Exception):  # whatever its operations raise: then it is asked for
            if type(value := evaluate(known, self._around.names, self._budget)) is int and value >= 0:
                self._known[text] = value

    @property
    def parameters(self) -> dict[Variable, int]:
        """The names and expressions whose values are known whole numbers."""
        return {Variable(VariableKind.PARAMETER, k): v for k, v in self._known.items() if isinstance(v, int)}

    def number(self, node: ast.expr, why: str, instead: str = "") -> Number | None:
        """The value of an expression; None if it is unknown, which is recorded with ``why`` it is needed.

        ``instead`` is an option that makes it unnecessary.
        """
        known = self._substitute(node)
        unknown = dict(self._unknown_parts(known, frozenset(), calls=False))
        if unknown:
            reason = why + (instead and f", or give {instead}")
            self.missing.update({text: reason for text in unknown if text not in self.missing})
            return None
        text = ast.unparse(node)
        try:
            value = evaluate(known, self._around.names, self._budget)
        except Exception as error:
            found = error if isinstance(error, EvaluationError) else repr(error)
            raise NumberError(f"{why}: {text} cannot be computed, {found}") from error
        if type(value) not in (int, float):
            raise NumberError(f"{why}: expected a number, found {text} = {value!r}")
        return value  # type: ignore[no-any-return]

    def whole(self, node: ast.expr, why: str, instead: str = "") -> int | None:
        """As `number`, for a whole number; NumberError for any other."""
        value = self.number(node, why, instead)
        if value is not None and not isinstance(value, int):
            found = f"found {ast.unparse(node)} = {value}{_otherwise(instead)}"
            raise NumberError(f"{why}: expected a whole number, {found}")
        return value

    def length(self, node: ast.expr, why: str, instead: str = "") -> int | None:
        """As `whole`, for a number of 0 or more."""
        value = self.whole(node, why, instead)
        if value is not None and value < 0:
            found = f"found {ast.unparse(node)} = {value}{_otherwise(instead)}"
            raise NumberError(f"{why}: expected 0 or more, {found}")
        return value

    def function(self, text: str, why: str, modules: Mapping[str, str]) -> Evaluated | None:
        """The function that an expression such as ``lambda i: n - i`` makes; ``modules`` are known by name.

        None if it needs unknown numbers, which are recorded, or data, which cannot be given. EvaluationError
        if it is more than arithmetic.
        """
        known = self._substitute(ast.parse(text, mode="eval").body)
        assert isinstance(known, ast.Lambda)
        unknown = dict(self._unknown_parts(known, frozenset(modules), calls=True))
        if all(unknown.values()):
            self.missing.update({text: why for text in unknown if text not in self.missing})
        if unknown:
            return None
        names = replace(self._around.names, modules={**self._around.names.modules, **modules})
        return function_of([each.arg for each in known.args.args], known.body, names, self._budget)

    def _substitute(self, node: ast.expr) -> ast.expr:
        found = _Substitution(self._known, self._shown).visit(copy.deepcopy(node))
        assert isinstance(found, ast.expr)
        return found

    def _unknown_parts(self, node: ast.AST, bound: frozenset[str], calls: bool) -> Iterator[tuple[str, bool]]:
        """The unknown parts of an expression, and whether the user can give them as numbers.

        A part that depends on a name bound by the expression cannot be given. Functions of the program are
        unknown unless they may be called (``calls``).
        """
        inside = list(ast.walk(node))
        bound |= {n.id for n in inside if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        bound |= {n.arg for n in inside if isinstance(n, ast.arg)}
        match node:
            case (
                ast.Call(func=ast.Name(id="len"), args=[part])
                | ast.Attribute(value=part)
                | ast.Subscript(value=part)
                | ast.Call(func=part)
            ) if self._begins_unknown(part, bound, calls):
                yield ast.unparse(node), not any(use.name in bound for use in uses_of(node))
            case ast.Call(func=ast.Name(id=name)) if not calls and self._around.runs(name):
                yield ast.unparse(node), True
            case ast.Name(id=name):
                if name not in bound and name not in self._around:
                    yield name, True
            case _:
                for child in ast.iter_child_nodes(node):
                    yield from self._unknown_parts(child, bound, calls)

    def _begins_unknown(self, node: ast.AST, bound: frozenset[str], calls: bool) -> bool:
        """Whether a chain of attributes, subscripts and calls begins with an unknown name."""
        called = False
        while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
            called = isinstance(node, ast.Call)
            node = node.func if isinstance(node, ast.Call) else node.value
        if not isinstance(node, ast.Name) or node.id in bound:
            return False
        return node.id not in self._around or (called and not calls and self._around.runs(node.id))


def _otherwise(instead: str) -> str:
    return f"; give another number by --set{instead and f', or give {instead}'}"


class _Substitution(ast.NodeTransformer):
    """Replaces expressions by their known numbers, or by what the text shows of them."""

    def __init__(self, known: Mapping[str, Number], shown: Mapping[str, ast.expr]) -> None:
        self._known, self._shown = known, shown

    def visit(self, node: ast.AST) -> ast.AST:
        """As in the base class; the outermost known expression is replaced."""
        read = isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load)
        if read and (text := ast.unparse(node)) in self._known:
            return ast.copy_location(ast.Constant(self._known[text]), node)
        if read and text in self._shown:
            return copy.deepcopy(self._shown[text])
        found = self.generic_visit(node)
        assert isinstance(found, ast.AST)
        return found
