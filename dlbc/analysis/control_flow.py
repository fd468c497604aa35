"""Control flow at the place of a walk: the inner loops and conditions around, and what integer names hold.

Theory: symbolic values by a forward walk. On a straight path a name has the form last assigned to it; where
paths meet it keeps a form that no path changed; before a loop is entered, the forms of the names that its
body binds are dropped. A name is steady while its only binding precedes on the path, in the same iteration of
every loop around, so that the variables of these loops still have the values that they had at the binding.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import lru_cache

from dlbc.algebra.integer_form import IntegerForm, Variable, VariableKind, negated
from dlbc.analysis.subscripts import NoSubscripts, SubscriptReader
from dlbc.analysis.uses import bound_names
from dlbc.ir.access import AbstractValue, InnerLoop, IterationDomain, Origins, Subscript
from dlbc.ir.region import CodeRegion, Expansion

Loop = ast.For | ast.AsyncFor | ast.While
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: What may evaluate the expressions in it several times.
_REPEATED = (ast.comprehension, ast.Lambda)
#: What leaves every loop of a function.
_EXITS = (ast.Return, ast.Raise)
_JUMPS = (ast.Continue, ast.Break, *_EXITS)
#: Values with rescoped origins that are kept: a name is looked up far more often than its value grows.
_KEPT = 1024


class ControlFlow:
    """The state of the walk at one place."""

    def __init__(self, region: CodeRegion) -> None:
        self._region = region
        self._subscripts = (NoSubscripts if region.by_name else SubscriptReader)(region)
        self._hidden: dict[str, bool] = {}
        self._numbers: dict[ast.AST, int] = {}
        self._single = frozenset(n for n, nodes in bound_names(region.code).items() if len(nodes) == 1)
        self._begin()

    def _begin(self) -> None:
        index, items = self._region.index, self._region.items
        variables = [Variable(VariableKind.ITEM, name) for name in sorted(items)]
        variables += [] if index is None else [Variable(VariableKind.INDEX, index)]
        self._forms = {variable.name: IntegerForm.of(variable) for variable in variables}
        self._steady: frozenset[str] = frozenset()
        self._domain = IterationDomain()

    def _as_form(self, node: ast.expr) -> IntegerForm | None:
        return self._subscripts.form(node, self._forms, self._hidden)

    def _define(self, name: str, form: IntegerForm | None) -> None:
        """The name is bound here."""
        self._forms = {n: f for n, f in self._forms.items() if n != name}
        if form is not None:
            self._forms[name] = form
        if name in self._single:
            self._steady |= {name}

    @contextmanager
    def _branch(self, test: ast.expr | None, holds: bool = True) -> Iterator[None]:
        """A part that runs only if the test is true (or false, unless ``holds``); None is an unknown test."""
        before = self._forms, self._steady, self._domain
        self._where(test, holds)
        yield
        self._leave(*before)

    def _where(self, test: ast.expr | None, holds: bool) -> None:
        """What follows runs only where the test is true (or false, unless ``holds``)."""
        parts = () if test is None else tuple(_conjuncts(test, holds))
        domain = self._domain if parts else replace(self._domain, exact=False)
        for part, is_true in parts:
            guard = self._subscripts.condition(part, self._forms, self._hidden)
            if guard is not None:
                domain = replace(domain, guards=(*domain.guards, guard if is_true else negated(guard)))
                continue
            domain = replace(domain, exact=False)
            supposed = self._subscripts.supposed(part, self._forms, self._hidden)
            if supposed is not None:
                supposed = supposed if is_true else replace(supposed, condition=negated(supposed.condition))
                domain = replace(domain, supposed=(*domain.supposed, supposed))
        self._domain = domain

    def _leave(self, forms: dict[str, IntegerForm], steady: frozenset[str], domain: IterationDomain) -> None:
        now = self._forms
        self._forms = {n: f for n, f in forms.items() if now.get(n) == f}
        self._steady, self._domain = steady, domain

    @contextmanager
    def _turning(self, node: Loop, inner_loop: InnerLoop | None) -> Iterator[None]:
        """The body of an inner loop."""
        before = self._forms, self._steady, self._domain
        bound = bound_names([*node.body, *([] if isinstance(node, ast.While) else [node.target])])
        self._forms = {n: f for n, f in self._forms.items() if n not in bound}
        kept = self._forms
        self._steady -= bound.keys()
        left_early = any(_jumps(s, (ast.Break, *_EXITS)) for s in node.body)
        exact = self._domain.exact and inner_loop is not None and inner_loop.exact and not left_early
        around = self._domain.inner_loops
        around = around if inner_loop is None else (*around, inner_loop)
        self._domain = replace(self._domain, inner_loops=around, exact=exact)
        with nullcontext() if isinstance(node, ast.While) else self._subscripts.within(node.iter):
            yield
        self._leave(kept, *before[1:])

    def _counts_through(self, inner_loop: InnerLoop | None) -> None:
        """The variable of a comprehension, until the scope of the comprehension ends."""
        if inner_loop is None:
            self._domain = replace(self._domain, exact=False)
            return
        exact = self._domain.exact and inner_loop.exact
        self._domain = replace(self._domain, inner_loops=(*self._domain.inner_loops, inner_loop), exact=exact)
        self._define(inner_loop.variable.name, IntegerForm.of(inner_loop.variable))

    @contextmanager
    def _elsewhere(self) -> Iterator[None]:
        """The body of a function made here, which runs at another time of the iteration."""
        before = self._forms, self._steady, self._domain
        fixed = {self._region.index, *self._region.items}
        self._forms = {n: f for n, f in self._forms.items() if n in fixed}
        self._steady, self._domain = frozenset(), IterationDomain(exact=False)
        yield
        self._forms, self._steady, self._domain = before

    def _passed(self, statement: ast.stmt) -> None:
        """After a statement that may jump, what follows runs only if it did not jump."""
        if not jumps_out(statement):
            return
        match statement:
            case ast.If(test=test, body=[ast.Continue() | ast.Return()], orelse=[]):
                self._where(test, holds=False)
                return
        self._domain = replace(self._domain, exact=False)

    def _binder(self, node: ast.AST, target: ast.expr, iterable: ast.expr) -> InnerLoop | None:
        """The inner loop that counts, with its variable and the values that the variable takes."""
        match iterable:
            case ast.Call(func=ast.Name(id=function), args=args, keywords=[]) if self._region.module.builtin(
                function
            ):
                starred = any(isinstance(a, ast.Starred) for a in args)
            case _:
                return None
        match target:
            case ast.Name() if function == "reversed" and len(args) == 1:
                loop = self._binder(node, target, args[0])
                return loop if loop is None or loop.step == 1 else replace(loop, exact=False)
            case ast.Name(id=name) if function == "range" and 1 <= len(args) <= 3 and not starred:
                return self._counted(node, name, args)
            case ast.Tuple(elts=[ast.Name(id=name), _]) if function == "enumerate" and len(args) == 1:
                return InnerLoop(self._variable(node, name), IntegerForm.literal(0), None, 1, exact=False)
        return None

    def _counted(self, node: ast.AST, name: str, args: list[ast.expr]) -> InnerLoop | None:
        forms = [self._as_form(a) for a in args]
        start, stop = (IntegerForm.literal(0), forms[0]) if len(forms) == 1 else (forms[0], forms[1])
        step = IntegerForm.literal(1) if len(forms) < 3 else forms[2]
        literal = None if step is None else step.constant or None
        known = start is not None and stop is not None and literal is not None
        symbolic_step = None if literal else step
        return InnerLoop(self._variable(node, name), start, stop, literal, known, symbolic_step)

    def _variable(self, node: ast.AST, name: str) -> Variable:
        return Variable(VariableKind.INNER, name, self._numbers.setdefault(node, len(self._numbers) + 1))

    def _present(self, subscripts: tuple[Subscript, ...]) -> tuple[Subscript, ...]:
        """Subscripts in which the variables of loops that are not around here are marked as out of scope."""
        return tuple(s.rescoped(self._around) for s in subscripts)

    def _here(self, origins: Origins) -> Origins:
        """Origins whose subscripts are marked in the same way."""
        return _rescope_origins(origins, self._around)

    def _held(self, name: str, value: AbstractValue) -> AbstractValue:
        """What a name holds here, in terms of the loops around."""
        if not any(origin.subscripts for part in (value.points_to, value.reachable) for origin in part):
            return value
        around = self._around if name in self._steady else frozenset()
        points_to, reachable = (_rescope_origins(p, around) for p in (value.points_to, value.reachable))
        return AbstractValue(points_to, reachable, value.has_mutable_items)

    @property
    def _around(self) -> frozenset[int]:
        """The inner loops around, by number."""
        return frozenset(b.variable.number for b in self._domain.inner_loops)


@lru_cache(maxsize=_KEPT)
def _rescope_origins(origins: Origins, around: frozenset[int]) -> Origins:
    return frozenset(
        replace(o, subscripts=tuple(s.rescoped(around) for s in o.subscripts)) if o.subscripts else o
        for o in origins
    )


def _conjuncts(test: ast.expr, holds: bool) -> Iterator[tuple[ast.expr, bool]]:
    """The tests that a test consists of, each with whether it is true, where all of them are decided."""
    match test:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _conjuncts(operand, not holds)
        case ast.BoolOp(op=op, values=values) if isinstance(op, ast.And if holds else ast.Or):
            for value in values:
                yield from _conjuncts(value, holds)
        case _:
            yield test, holds


def jumps_out(statement: ast.AST) -> bool:
    """Whether a statement may end the iteration of the loop, or the function, that it stands in."""
    return _jumps(statement, _JUMPS)


def _jumps(node: ast.AST, jumps: tuple[type[ast.AST], ...]) -> bool:
    """Whether one of these jumps may run in a statement and lead out of it; kept on the node."""
    key = "_dlbc_jumps_" + "_".join(kind.__name__ for kind in jumps)
    known: bool | None = node.__dict__.get(key)
    if known is None:
        known = node.__dict__[key] = _finds_jump(node, jumps)
    return known


def _finds_jump(node: ast.AST, jumps: tuple[type[ast.AST], ...]) -> bool:
    if isinstance(node, jumps):
        return True
    if isinstance(node, Loop):
        return any(_jumps(s, _EXITS) for s in node.body) or any(_jumps(s, jumps) for s in node.orelse)
    return any(_jumps(s, jumps) for s in _inner(node))


def _inner(node: ast.AST) -> Iterator[ast.AST]:
    """The statements in a compound statement, without those of functions and classes."""
    if not isinstance(node, _FUNCTIONS):
        for name in ("body", "orelse", "handlers", "finalbody", "cases"):
            yield from getattr(node, name, ())


def may_repeat(
    body: Iterable[ast.stmt], statements: Set[ast.stmt], expansions: Mapping[ast.AST, Expansion]
) -> bool:
    """Whether one pass through ``body`` may run two of ``statements``, or one of them twice.

    Those of expanded calls count where the calls stand.
    """
    return _Runs(statements, expansions).most(body) > 1


class _Runs:
    """How often statements may run in one pass through code; a loop counts as two iterations."""

    def __init__(self, wanted: Set[ast.stmt], expansions: Mapping[ast.AST, Expansion]) -> None:
        self._wanted, self._expansions = wanted, expansions

    def most(self, body: Iterable[ast.stmt]) -> int:
        return sum(int(node in self._wanted) + self._called(node) + self._inside(node) for node in body)

    def _called(self, node: ast.stmt) -> int:
        """In calls that a statement makes itself; repeated ones are taken to be made twice."""
        if not self._expansions:
            return 0
        own: list[ast.AST] = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr | ast.withitem)]
        own += [c.guard for c in node.cases if c.guard] if isinstance(node, ast.Match) else []
        parts = [part for tree in own for part in ast.walk(tree)]
        repeated = isinstance(node, ast.While) or any(isinstance(part, _REPEATED) for part in parts)
        return (1 + repeated) * sum(
            self.most(self._expansions[p].body) for p in parts if p in self._expansions
        )

    def _inside(self, node: ast.stmt) -> int:
        match node:
            case ast.If():
                return max(self.most(node.body), self.most(node.orelse))
            case ast.For() | ast.AsyncFor() | ast.While():
                return 2 * self.most(node.body) + self.most(node.orelse)
            case ast.Try() | ast.TryStar():
                handled = max((self.most(h.body) for h in node.handlers), default=0)
                return self.most([*node.body, *node.orelse, *node.finalbody]) + handled
            case ast.With() | ast.AsyncWith():
                return self.most(node.body)
            case ast.Match():
                return max(self.most(case.body) for case in node.cases)
        return 0
