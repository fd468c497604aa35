"""Routines whose passes can be foreseen: what happens between their compiled loops decides nothing.

Between the loops such a pass only swaps names, computes with numbers, and copies rows of arrays. So the loops
of all passes to come and their arguments are known before one of them has run, but for the values in rows.
The generated program has a function that goes through them, by which ranks need not wait for rank 0 from pass
to pass (`dlbrt.mpi.routines.passes_ahead`).
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping, Sequence

from dlbc.analysis.enclosing_statements import maybe_unbound
from dlbc.analysis.uses import bound_names
from dlbc.ir.loop import AnnotatedRoutine
from dlbc.ir.plan import LoopPlan
from dlbc.ir.region import ModuleNames
from dlbc.routines.plain_names import RoutineNames
from dlbc.routines.value_kinds import ValueKind


def foreseen_names(
    routine: AnnotatedRoutine,
    plans: Mapping[ast.AST, LoopPlan],
    arrays: Collection[str],
    names: RoutineNames,
    module: ModuleNames,
) -> tuple[str, ...] | None:
    """The names that passes use and that have values before, in order; None if they cannot be foreseen.

    ``plans`` are those of the routine's parallel loops, none of which reads anything at rank 0 beforehand;
    ``arrays`` are the names that these use as arrays.
    """
    loop = routine.node
    if isinstance(loop, ast.While) or isinstance(routine.scope, ast.ClassDef | ast.Lambda):
        return None
    walk = _Passes(plans, arrays, names, module)
    try:
        walk.outermost(loop)
    except _UnknownError:
        return None
    stored = {name for statement in loop.body for name in _stored(statement, plans)}
    decides = {node.id for node in ast.walk(loop.iter) if isinstance(node, ast.Name)}
    used = tuple(walk.used)
    private = any(name.startswith("__") for name in (*used, *stored))
    unsure = any(maybe_unbound(name, routine) for name in used)
    return None if not walk.loops or stored & (decides | walk.targets) or private or unsure else used


def _stored(statement: ast.stmt, plans: Mapping[ast.AST, LoopPlan]) -> Collection[str]:
    """The names that a statement binds, other than by a loop's target."""
    if isinstance(statement, ast.For):
        within = () if statement in plans else statement.body
        return [name for each in within for name in _stored(each, plans)]
    match statement:
        case ast.Assign(targets=targets):
            return bound_names(targets)
        case ast.AugAssign(target=target):
            return bound_names([target])
    return ()


class _UnknownError(Exception):
    """A pass does something that may depend on what loops have computed."""


class _Passes:
    """A walk over the statements of a pass: ``used`` before they are bound, ``loops`` that are parallel."""

    def __init__(
        self,
        plans: Mapping[ast.AST, LoopPlan],
        arrays: Collection[str],
        names: RoutineNames,
        module: ModuleNames,
    ) -> None:
        self._plans, self._arrays, self._names, self._module = plans, arrays, names, module
        self._bound: set[str] = set()
        self.used: dict[str, None] = {}
        self.targets: set[str] = set()
        self.loops = 0

    def outermost(self, loop: ast.For) -> None:
        """The loop of passes, whose range stands in the program alone."""
        self._space(loop.iter)
        self.used.clear()
        self._sequential(loop)

    def _sequential(self, loop: ast.For) -> None:
        match loop:
            case ast.For(target=ast.Name(id=name), body=body):
                self.targets.add(name)
                self._bound.add(name)
                self._block(body)
            case _:
                raise _UnknownError

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            match statement:
                case ast.For() if statement in self._plans:
                    self._parallel(self._plans[statement])
                case ast.For(orelse=[]):
                    self._space(statement.iter)
                    self._sequential(statement)
                case ast.Assign(targets=[target], value=value):
                    self._assign(target, value)
                case ast.AugAssign(target=ast.Name(id=name), value=value):
                    self._number(ast.Name(name))
                    self._number(value)
                case ast.Pass():
                    pass
                case _:
                    raise _UnknownError

    def _parallel(self, plan: LoopPlan) -> None:
        """A parallel loop: compiled, and nothing is left of it but what it stores to arrays."""
        left = plan.definite or plan.conditional or plan.targets_live or plan.reductions or plan.ordered
        special = plan.unsure or plan.mangled or (plan.cost is not None and not plan.cost.derived)
        if plan.chunk is None or left or special or plan.loop.node.orelse:
            raise _UnknownError
        self._space(plan.loop.node.iter)
        for name in plan.parameters:
            if not name.isidentifier():
                raise _UnknownError
            self._use(name)
        self.loops += 1

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        match target, value:
            case ast.Tuple(elts=targets), ast.Tuple(elts=values) if len(targets) == len(values):
                for each in values:
                    self._moved(each)
            case ast.Name(), _:
                targets = [target]
                self._moved(value)
            case _:
                raise _UnknownError
        if not all(isinstance(each, ast.Name) for each in targets):
            raise _UnknownError
        self._bound.update(bound_names(targets))

    def _moved(self, value: ast.expr) -> None:
        """A value that a name gets: that of another name, a number, or a copy of a row."""
        match value:
            case ast.Name(id=name):
                self._use(name)
            case ast.Call(
                func=ast.Attribute(value=ast.Subscript(value=ast.Name(id=name), slice=row), attr="copy"),
                args=[],
                keywords=[],
            ) if name in self._arrays:
                self._use(name)
                self._number(row)
            case _:
                self._number(value)

    def _space(self, space: ast.expr) -> None:
        match space:
            case ast.Call(func=ast.Name(id="range"), args=bounds, keywords=[]) if self._module.builtin(
                "range"
            ):
                for each in bounds:
                    self._number(each)
            case _:
                raise _UnknownError

    def _number(self, value: ast.expr) -> None:
        """A number that is computed from numbers and from the lengths of arrays."""
        match value:
            case ast.Constant(value=int() | float()):
                pass
            case ast.Name(id=name) if self._names.kind(name) is ValueKind.SCALAR:
                self._use(name)
            case ast.Subscript(
                value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=int())
            ) if name in self._arrays:
                self._use(name)
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)], keywords=[]) if (
                name in self._arrays and self._module.builtin("len")
            ):
                self._use(name)
            case ast.UnaryOp(operand=operand):
                self._number(operand)
            case ast.BinOp(left=left, right=right):
                self._number(left)
                self._number(right)
            case _:
                raise _UnknownError

    def _use(self, name: str) -> None:
        if name not in self._bound:
            self.used[name] = None
