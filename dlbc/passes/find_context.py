"""Find what is known before the loop: the index's values, and facts about integer names from outside.

A name that is bound exactly once, before the loop on the path to it, equals what it was bound to, as far as
the names in that are such names themselves (or parameters that nothing rebinds). Variables of loops around
lie within their ranges; conditions around hold while their names are not rebound in them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from dlbc.algebra.integer_form import (
    Comparison,
    Condition,
    IndexSpace,
    IntegerForm,
    Junction,
    Variable,
    VariableKind,
    negated,
)
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.uses import bound_names
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames


def find_context(loop: AnnotatedLoop, names: LoopNames, module: ModuleNames) -> IndexSpace | None:
    """The index space of the loop with the facts; None where no variable counts."""
    if names.index is None or names.space is None:
        return None
    reader = _Reader(loop, names, module)
    space = names.space
    start = IntegerForm.literal(0) if space.start is None else reader.form(space.start)
    stop = None if space.stop is None else reader.form(space.stop)
    step = IntegerForm.literal(1) if space.step is None else reader.form(space.step)
    literal = None if step is None else step.constant or None
    known = literal is not None and start is not None and stop is not None
    facts = tuple(fact for fact in reader.facts() if _lasting(fact))
    symbolic_step = None if literal else step
    return IndexSpace(names.index, start, stop, literal, facts, known, symbolic_step, reverse=not space.plain)


class _Reader:
    def __init__(self, loop: AnnotatedLoop, names: LoopNames, module: ModuleNames) -> None:
        self._loop, self._names, self._module = loop, names, module
        self._subscripts = SubscriptReader(CodeRegion((), names.temporaries, module, integers=names.integers))

    def form(self, node: ast.expr) -> IntegerForm | None:
        """An expression evaluated once before the loop: of names that the body does not bind."""
        return self._subscripts.form(node, {}, {})

    def facts(self) -> Iterator[Condition]:
        """Everything known of names from outside."""
        start = next(
            k for k in reversed(range(len(self._loop.path))) if self._loop.path[k] is self._loop.scope
        )
        chain = [*self._loop.path[start:], self._loop.node]
        for owner, child in pairwise(chain):
            if isinstance(owner, ast.For) and child in owner.body:
                yield from self._within(owner)
            if isinstance(owner, ast.If):
                yield from self._tested(owner, child)
        for statement in statements_before(self._loop):
            yield from self._said(statement)

    def _within(self, owner: ast.For) -> Iterator[Condition]:
        match owner:
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])
            ) if self._module.builtin("range") and not self._rebound(owner.body, {name}):
                yield from self._ranged(IntegerForm.of(Variable(VariableKind.PARAMETER, name)), args, owner)

    def _ranged(self, value: IntegerForm, args: list[ast.expr], owner: ast.For) -> Iterator[Condition]:
        used = {n.id for a in args for n in ast.walk(a) if isinstance(n, ast.Name)}
        if self._rebound(owner.body, used) or any(isinstance(a, ast.Starred) for a in args):
            return
        if not 1 <= len(args) <= 3:
            return
        forms = [self.form(a) for a in args]
        start, stop = (IntegerForm.literal(0), forms[0]) if len(forms) == 1 else (forms[0], forms[1])
        step = 1 if len(forms) < 3 else None if forms[2] is None else forms[2].constant
        if not step:
            return
        if start is not None:
            yield Comparison.at_least(value, start) if step > 0 else Comparison.at_least(start, value)
        if stop is not None:
            yield Comparison.below(value, stop) if step > 0 else Comparison.below(stop, value)

    def _tested(self, owner: ast.If, child: ast.AST) -> Iterator[Condition]:
        used = {n.id for n in ast.walk(owner.test) if isinstance(n, ast.Name)}
        if self._rebound([*owner.body, *owner.orelse], used):
            return
        condition = self._subscripts.condition(owner.test, {}, {})
        if condition is not None:
            yield condition if child in owner.body else negated(condition)

    def _said(self, statement: ast.stmt) -> Iterator[Condition]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from self._equal(name, value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)) if len(
                names
            ) == len(values):
                for target, value in zip(names, values, strict=True):
                    if isinstance(target, ast.Name):
                        yield from self._equal(target.id, value)
            case ast.Assert(test=test):
                used = {n.id for n in ast.walk(test) if isinstance(n, ast.Name)}
                condition = self._subscripts.condition(test, {}, {})
                if condition is not None and all(map(self._once, used)):
                    yield condition

    def _equal(self, name: str, value: ast.expr) -> Iterator[Condition]:
        used = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
        form = self.form(value)
        if form is not None and not form.elements and all(map(self._once, (name, *used))):
            yield Comparison.equal(IntegerForm.of(Variable(VariableKind.PARAMETER, name)), form)

    def _once(self, name: str) -> bool:
        return bound_once(name, self._loop, self._names, self._module)

    def _rebound(self, body: list[ast.stmt], names: set[str]) -> bool:
        return bool(bound_names(body).keys() & names or self._module.declared & names)


def _lasting(fact: Condition) -> bool:
    """Whether it goes on holding while its names are not bound: no element or length, which may change."""
    if isinstance(fact, Junction):
        return all(map(_lasting, fact.parts))
    plain = (v.name.isidentifier() or ".shape[" in v.name for v in fact.form.variables)
    return not fact.form.elements and all(plain)
