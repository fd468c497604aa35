"""Where the walk is: the inner loops and conditions around, and what integer names hold there.

Theory: symbolic values by a forward walk. On a straight path a name has the form last assigned to it; where
paths meet it keeps a form that no path changed; a loop forgets, before it is entered, what its body binds. A
name is steady while its only binding lies before on the path in the same turn of every loop around, so
that variables of those loops mean now what they meant there.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from dataclasses import replace

from dlbc.algebra.integer_form import Condition, IntegerForm, Variable, VariableKind, negated
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.uses import bound_names
from dlbc.ir.access import AbstractValue, InnerLoop, IterationDomain, Origin, Origins, Subscript
from dlbc.ir.region import CodeRegion

Loop = ast.For | ast.AsyncFor | ast.While
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class ControlFlow:
    """The state of the walk at one place."""

    def __init__(self, region: CodeRegion) -> None:
        self._region = region
        self._subscripts = SubscriptReader(region)
        self._hidden: dict[str, bool] = {}
        self._numbers: dict[ast.AST, int] = {}
        self._single = frozenset(n for n, nodes in bound_names(region.body).items() if len(nodes) == 1)
        self._begin()

    def _begin(self) -> None:
        index = self._region.index
        self._forms = {} if index is None else {index: IntegerForm.of(Variable(VariableKind.INDEX, index))}
        self._steady: frozenset[str] = frozenset()
        self._domain = IterationDomain()

    def _as_form(self, node: ast.expr) -> IntegerForm | None:
        return self._subscripts.form(node, self._forms, self._hidden)

    def _define(self, name: str, form: IntegerForm | None) -> None:
        """``name`` is bound here."""
        self._forms = {n: f for n, f in self._forms.items() if n != name}
        if form is not None:
            self._forms[name] = form
        if name in self._single:
            self._steady |= {name}

    @contextmanager
    def _branch(self, test: ast.expr | None, holds: bool = True) -> Iterator[None]:
        """A part that runs only where the test comes out as said; an unknown test where it is None."""
        before = self._forms, self._steady, self._domain
        condition, complete = self._known(test) if test is not None else (None, False)
        guard = condition if holds or condition is None else negated(condition)
        if guard is not None and (holds or complete):
            self._domain = replace(self._domain, guards=(*self._domain.guards, guard))
        if not complete:
            self._domain = replace(self._domain, exact=False)
        yield
        self._leave(*before)

    def _leave(self, forms: dict[str, IntegerForm], steady: frozenset[str], domain: IterationDomain) -> None:
        now = self._forms
        self._forms = {n: f for n, f in forms.items() if now.get(n) == f}
        self._steady, self._domain = steady, domain

    def _known(self, test: ast.expr) -> tuple[Condition | None, bool]:
        """What is known to hold where the test is true, and whether the test says no more."""
        whole = self._subscripts.condition(test, self._forms, self._hidden)
        if whole is not None or not (isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And)):
            return whole, whole is not None
        parts = [self._subscripts.condition(v, self._forms, self._hidden) for v in test.values]
        return next((p for p in parts if p is not None), None), False

    @contextmanager
    def _turning(self, node: Loop, inner_loop: InnerLoop | None) -> Iterator[None]:
        """The body of an inner loop."""
        before = self._forms, self._steady, self._domain
        bound = bound_names([*node.body, *([] if isinstance(node, ast.While) else [node.target])])
        self._forms = {n: f for n, f in self._forms.items() if n not in bound}
        kept = self._forms
        self._steady -= bound.keys()
        left_early = any(map(_leaves, node.body))
        exact = self._domain.exact and inner_loop is not None and inner_loop.exact and not left_early
        inner_loops = (
            self._domain.inner_loops if inner_loop is None else (*self._domain.inner_loops, inner_loop)
        )
        self._domain = replace(self._domain, inner_loops=inner_loops, exact=exact)
        yield
        self._leave(kept, *before[1:])

    def _counts_through(self, inner_loop: InnerLoop | None) -> None:
        """The variable of a comprehension; its scope ends the effect."""
        if inner_loop is None:
            self._domain = replace(self._domain, exact=False)
            return
        exact = self._domain.exact and inner_loop.exact
        self._domain = replace(self._domain, inner_loops=(*self._domain.inner_loops, inner_loop), exact=exact)
        self._define(inner_loop.variable.name, IntegerForm.of(inner_loop.variable))

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """The body of a function made here, which runs at some other time of the iteration."""
        before = self._forms, self._steady, self._domain
        index = self._region.index
        self._forms = {n: f for n, f in self._forms.items() if n == index}
        self._steady, self._domain = frozenset(), IterationDomain(exact=False)
        yield
        self._forms, self._steady, self._domain = before

    def _passed(self, statement: ast.stmt) -> None:
        """After a statement: where it may jump, what follows runs only if it did not."""
        if not jumps_out(statement):
            return
        match statement:
            case ast.If(test=test, body=[ast.Continue()], orelse=[]):
                condition, complete = self._known(test)
                if condition is not None and complete:
                    self._domain = replace(self._domain, guards=(*self._domain.guards, negated(condition)))
                    return
        self._domain = replace(self._domain, exact=False)

    def _binder(self, node: ast.AST, target: ast.expr, iterable: ast.expr) -> InnerLoop | None:
        """The variable of an inner loop that counts, and through which values."""
        match target, iterable:
            case ast.Name(), ast.Call(func=ast.Name(id="reversed"), args=[inner], keywords=[]):
                found = self._binder(node, target, inner)
                usable = found is not None and self._region.module.builtin("reversed")
                return replace(found, exact=False) if usable and found is not None and found.step != 1 else (
                    found if usable else None)  # fmt: skip
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=args, keywords=[]) if (
                self._region.module.builtin("range")
                and 1 <= len(args) <= 3
                and not any(isinstance(a, ast.Starred) for a in args)
            ):
                return self._counted(node, name, args)
            case ast.Tuple(elts=[ast.Name(id=name), _]), ast.Call(
                func=ast.Name(id="enumerate"), args=[_], keywords=[]
            ) if self._region.module.builtin("enumerate"):
                return InnerLoop(self._variable(node, name), IntegerForm.literal(0), None, 1, exact=False)
        return None

    def _counted(self, node: ast.AST, name: str, args: list[ast.expr]) -> InnerLoop | None:
        forms = [self._as_form(a) for a in args]
        start, stop = (IntegerForm.literal(0), forms[0]) if len(forms) == 1 else (forms[0], forms[1])
        step: int | None = 1
        if len(forms) == 3:
            step = None if forms[2] is None else forms[2].constant
        known = start is not None and stop is not None and bool(step)
        return InnerLoop(self._variable(node, name), start, stop, step or None, known)

    def _variable(self, node: ast.AST, name: str) -> Variable:
        return Variable(VariableKind.INNER, name, self._numbers.setdefault(node, len(self._numbers) + 1))

    def _present(self, subscripts: tuple[Subscript, ...]) -> tuple[Subscript, ...]:
        """With the variables of loops that are not around here as what they are: of some other time."""
        around = self._around
        return tuple(s.rescoped(around) for s in subscripts)

    def _here(self, origins: Origins) -> Origins:
        """The same with the subscripts of origins."""
        return _rescope_origins(origins, self._around)

    def _held(self, name: str, value: AbstractValue) -> AbstractValue:
        """What a name holds here, in terms of the loops around."""
        if not any(origin.subscripts for part in (value.points_to, value.reachable) for origin in part):
            return value
        around = self._around if name in self._steady else frozenset()
        return AbstractValue(
            _rescope_origins(value.points_to, around),
            _rescope_origins(value.reachable, around),
            value.has_mutable_items,
        )

    @property
    def _around(self) -> frozenset[int]:
        """The inner loops around, by number."""
        return frozenset(b.variable.number for b in self._domain.inner_loops)


def _rescope_origins(origins: Origins, around: frozenset[int]) -> Origins:
    return frozenset(_rescope_origin(o, around) if o.subscripts else o for o in origins)


def _rescope_origin(origin: Origin, around: frozenset[int]) -> Origin:
    return replace(origin, subscripts=tuple(s.rescoped(around) for s in origin.subscripts))


def jumps_out(statement: ast.AST) -> bool:
    """Whether it may end the turn of the loop, or the function, that it stands in."""
    if isinstance(statement, ast.Continue | ast.Break | ast.Return | ast.Raise):
        return True
    if isinstance(statement, ast.For | ast.AsyncFor | ast.While):
        return any(map(_returns, statement.body)) or any(map(jumps_out, statement.orelse))
    return any(map(jumps_out, _inner(statement)))


def _returns(node: ast.AST) -> bool:
    return isinstance(node, ast.Return | ast.Raise) or any(map(_returns, _inner(node)))


def _leaves(node: ast.AST) -> bool:
    """Whether it may end the loop that it stands in, not only a turn of it."""
    if isinstance(node, ast.Break | ast.Return | ast.Raise):
        return True
    if isinstance(node, ast.For | ast.AsyncFor | ast.While):
        return any(map(_returns, node.body)) or any(map(_leaves, node.orelse))
    return any(map(_leaves, _inner(node)))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a compound statement, those of functions and classes made in it apart."""
    if not isinstance(node, _FUNCTIONS):
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from getattr(node, name, ())


# ------------------------------------------------------------------------------
# Count how often one iteration may run statements: once at most, or more.


def may_repeat(body: Iterable[ast.stmt], statements: Set[ast.stmt]) -> bool:
    """Whether one pass through ``body`` may run two of ``statements``, or one of them twice."""
    return _most(body, statements) > 1


def _most(body: Iterable[ast.stmt], wanted: Set[ast.stmt]) -> int:
    return sum(_of(statement, wanted) for statement in body)


def _of(node: ast.stmt, wanted: Set[ast.stmt]) -> int:
    own = int(node in wanted)
    match node:
        case ast.If():
            return own + max(_most(node.body, wanted), _most(node.orelse, wanted))
        case ast.For() | ast.AsyncFor() | ast.While():
            return own + 2 * _most(node.body, wanted) + _most(node.orelse, wanted)
        case ast.Try() | ast.TryStar():
            handled = max((_most(h.body, wanted) for h in node.handlers), default=0)
            return own + _most([*node.body, *node.orelse, *node.finalbody], wanted) + handled
        case ast.With() | ast.AsyncWith():
            return own + _most(node.body, wanted)
        case ast.Match():
            return own + max(_most(case.body, wanted) for case in node.cases)
    return own
