"""Find the context of the loop: the values of its index, and facts about integer names from outside.

A name that is bound exactly once, before the loop on the path to it, equals the bound expression, as long as
the names in that expression are such names too (or parameters that nothing rebinds). Variables of enclosing
loops lie within their ranges. Enclosing conditions hold while their names are not rebound in them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Comparison, Condition, IntegerForm, Junction, negated
from dlbc.analysis.enclosing_statements import bound_once, statements_before
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.uses import bound_names, every_node
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, LoopNames, ModuleNames


def find_context(loop: AnnotatedLoop, names: LoopNames, module: ModuleNames) -> IndexSpace | None:
    """The index space of the loop with the facts; None where no variable counts the iterations."""
    if names.index is None or names.space is None:
        return None
    reader = _Reader(loop, names, module)
    space = names.space
    start = IntegerForm.literal(0) if space.start is None else reader.form(space.start)
    stop = None if space.stop is None else reader.form(space.stop)
    step = IntegerForm.literal(1) if space.step is None else reader.form(space.step)
    literal = None if step is None else step.constant or None
    known = literal is not None and start is not None and stop is not None
    facts = tuple(fact for fact in reader.facts() if _is_stable(fact))
    symbolic_step = None if literal else step
    return IndexSpace(names.index, start, stop, literal, facts, known, symbolic_step, reverse=not space.plain)


class _Reader:
    def __init__(self, loop: AnnotatedLoop, names: LoopNames, module: ModuleNames) -> None:
        self._loop, self._names, self._module = loop, names, module
        self._subscripts = SubscriptReader(CodeRegion((), names.temporaries, module, integers=names.integers))

    def form(self, node: ast.expr) -> IntegerForm | None:
        """The form of an expression evaluated before the loop, over names that the body does not bind."""
        return self._subscripts.form(node, {}, {})

    def facts(self) -> Iterator[Condition]:
        path = self._loop.path
        for owner, child in pairwise([*path[path.index(self._loop.scope) :], self._loop.node]):
            if isinstance(owner, ast.For) and child in owner.body:
                yield from self._loop_facts(owner)
            if isinstance(owner, ast.If):
                yield from self._branch_facts(owner, child)
        for statement in statements_before(self._loop):
            yield from self._statement_facts(statement)

    def _loop_facts(self, owner: ast.For) -> Iterator[Condition]:
        match owner:
            case ast.For(
                target=ast.Name(id=name), iter=ast.Call(func=ast.Name(id="range"), args=args, keywords=[])
            ) if self._module.builtin("range") and not self._rebound(owner.body, {name}):
                yield from self._range_facts(IntegerForm.parameter(name), args, owner)

    def _range_facts(self, value: IntegerForm, args: list[ast.expr], owner: ast.For) -> Iterator[Condition]:
        starred = any(isinstance(a, ast.Starred) for a in args)
        if starred or not 1 <= len(args) <= 3 or self._rebound(owner.body, _names_in(*args)):
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

    def _branch_facts(self, owner: ast.If, child: ast.AST) -> Iterator[Condition]:
        if self._rebound([*owner.body, *owner.orelse], _names_in(owner.test)):
            return
        condition = self._subscripts.condition(owner.test, {}, {})
        if condition is not None:
            yield condition if child in owner.body else negated(condition)

    def _statement_facts(self, statement: ast.stmt) -> Iterator[Condition]:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield from self._equality(name, value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                for target, value in zip(names, values, strict=False) if len(names) == len(values) else ():
                    if isinstance(target, ast.Name):
                        yield from self._equality(target.id, value)
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Attribute(attr="shape")):
                for target in names:
                    if isinstance(target, ast.Name) and self._is_bound_once(target.id):
                        yield Comparison.at_least(IntegerForm.parameter(target.id), IntegerForm())
            case ast.Assert(test=test):
                condition = self._subscripts.condition(test, {}, {})
                if condition is not None and all(map(self._is_bound_once, _names_in(test))):
                    yield condition

    def _equality(self, name: str, value: ast.expr) -> Iterator[Condition]:
        form, used = self.form(value), _names_in(value)
        target = IntegerForm.parameter(name)
        if _is_length(value) and self._is_bound_once(name):
            yield Comparison.at_least(target, IntegerForm())
        if form is not None and not form.elements and all(map(self._is_bound_once, (name, *used))):
            yield Comparison.equal(target, form)

    def _is_bound_once(self, name: str) -> bool:
        return bound_once(name, self._loop, self._names, self._module)

    def _rebound(self, body: list[ast.stmt], names: set[str]) -> bool:
        return bool(bound_names(body).keys() & names or self._module.declared & names)


def _is_length(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len")) | ast.Attribute(attr="size"):
            return True
        case ast.Subscript(value=ast.Attribute(attr="shape")):
            return True
    return False


def _names_in(*nodes: ast.expr) -> set[str]:
    return {n.id for node in nodes for n in every_node(node) if isinstance(n, ast.Name)}


def _is_stable(fact: Condition) -> bool:
    """Whether the fact holds as long as its names are not rebound: no element or length, which may change."""
    if isinstance(fact, Junction):
        return all(map(_is_stable, fact.parts))
    plain = (v.name.isidentifier() or ".shape[" in v.name for v in fact.form.variables)
    return not fact.form.elements and all(plain)
