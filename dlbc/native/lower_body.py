"""A loop's body as it can be compiled: what Python checks at each operation is proved, checked, or left to
Python.

Compiled code neither raises nor calls the interpreter. A subscript that may lie outside, a divisor that may
be zero (where Python's division would raise), an integer that may not fit, a result that is no number:
before each of them stands a check that returns the iteration, which is then done by Python. What the
iteration has stored by then is put back where it reads what it stores; everything else is stored again.

Statements that contribute to values of all iterations (reductions, containers, output) stay with Python
(`split`): the compiled part leaves their operands (`lower_contributions`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from dlbc.native.facts import BodyFacts, LoweredBody, NotCompilableError, OperandLeftError
from dlbc.native.lower_contributions import ContributionLowering
from dlbc.native.scalars import Kind, Scalar, widened

#: Rounds after which a size that still grows has no bound.
_ROUNDS = 4


def lower_body(body: Sequence[ast.stmt], facts: BodyFacts) -> LoweredBody:
    """The body, lowered; raises NotCompilableError."""
    left: frozenset[str] = frozenset()
    while True:
        try:
            return _lower(body, facts, left)
        except OperandLeftError as error:
            left |= {error.key}


def _lower(body: Sequence[ast.stmt], facts: BodyFacts, left: frozenset[str]) -> LoweredBody:
    known: dict[str, Scalar] = {}
    traced: frozenset[str] = frozenset()
    for number in range(4 * _ROUNDS):
        lowering = _Lowering(facts, known, body, traced)
        lowering.left = left
        result = lowering.lower(body)
        found = lowering.bound
        if number >= _ROUNDS:
            found = {n: _grown(known[n], s) if n in known else s for n, s in found.items()}
        if found == known and lowering.traced == traced:
            return result
        known, traced = found, frozenset(lowering.traced)
    raise NotCompilableError("what its numbers are cannot be told", body[0])


def _grown(before: Scalar, now: Scalar) -> Scalar:
    return widened(now) if (now.degree, now.extra) != (before.degree, before.extra) else now


class _Lowering(ContributionLowering):
    """Lowers a whole body."""

    def lower(self, body: Sequence[ast.stmt]) -> LoweredBody:
        """The body of the annotated loop."""
        statements: list[ast.stmt] = []
        self._out = statements
        if self._facts.kept or self._facts.shares:
            body = _without_continues(body)
        effects = self._split(body)
        for name in self._facts.shares:
            statements[:0] = self._share(name)
            effects.append(self._combined(name))
        if (self._facts.kept or self._facts.shares) and any(any(_continues(s)) for s in body):
            raise NotCompilableError(
                "what iterations leave at their end is needed, and some end early", body[0]
            )
        for name in self._facts.kept:
            if self._left.get(name) == name:
                continue
            if any(column.name == name for column in self._columns):
                reason = f"`{name}`, which is read after the loop, is bound again after it has contributed"
                raise NotCompilableError(reason, body[-1])
            self._column(ast.Name(name, ast.Load()), self._name(name), name)
        self._check_known(effects)
        asked = self._asked
        return LoweredBody(
            statements=statements or [ast.Pass()],
            effects=effects,
            columns=self._columns,
            note_rows=self._note_rows,
            noted=self._noted,
            conditions=list(self._conditions),
            wraps=self._wraps,
            checks=self._checks,
            saved=self._saved,
            restored=self._restored() if self._fallible else {},
            bits=self._bits,
            used=list(asked.used),
            index_only=frozenset(asked.subscripts - asked.values - self._stored),
            integers=frozenset(asked.integers),
            floats=frozenset(asked.floats),
            shaped=frozenset(asked.shaped),
            python=frozenset(asked.python),
            real=frozenset(asked.real),
            stored=frozenset(self._stored),
            notes=list(self._notes),
            in_place=self._checks and bool(self._updated),
            axes=asked.axes,
            pure_calls=frozenset(asked.pure_calls),
            origins=list(self._origins),
            prologue=self._own.prologue,
            made={name: element.kind for name, element in self._own.elements.items()},
        )

    def _check_known(self, effects: Sequence[ast.stmt]) -> None:
        """Refuse what Python does afterwards if it reads what compiled code alone has."""
        known = {self._facts.index, *self._facts.contributed, *(column.name for column in self._columns)}
        for effect in effects:
            names = [n for n in ast.walk(effect) if isinstance(n, ast.Name)]
            own = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
            for node in names:
                if node.id in self._locals - known - own:
                    reason = (
                        f"`{node.id}`, which the iteration computes, contributes otherwise than as a number"
                    )
                    raise NotCompilableError(reason, node)

    def _restored(self) -> dict[str, int]:
        """The axes of the rows that are put back where Python fails at an effect."""
        if odd := sorted(self._stored - self._facts.rows.keys()):
            reason = (
                f"an update may fail, and stores to `{odd[0]}` by later iterations could not be taken back"
            )
            raise NotCompilableError(reason, ast.Name(odd[0]))
        return {array: self._facts.rows[array] for array in self._stored}

    def _split(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Lower what can be compiled; returns what Python does afterwards with the columns."""
        effects: list[ast.stmt] = []
        for statement in body:
            if not self._contributes(statement):
                self._statement(statement)
            elif isinstance(statement, ast.If) and statement not in self._facts.effects:
                effects.append(self._split_condition(statement))
            elif isinstance(statement, ast.Continue):
                self._out.append(statement)
                effects.append(statement)
            elif self._is_contribution(statement):
                effects.append(self._with_columns(statement))
            elif any(_continues(statement)):
                raise NotCompilableError("the `else` of an inner loop ends the iteration", statement)
            else:
                effects.append(self._with_notes(statement))
        return effects

    def _contributes(self, statement: ast.stmt) -> bool:
        """Whether Python has a part in a statement."""
        nodes = list(ast.walk(statement))
        if not self._facts.effects.isdisjoint(nodes):
            return True
        return bool(self._facts.effects or self._facts.kept) and any(_continues(statement))

    def _split_condition(self, statement: ast.If) -> ast.If:
        test, kind = self.condition(statement.test)
        name = self._fresh("taken")
        self._bind(name, test, Scalar(Kind.TRUTH, kind.sources, kind.certain))
        self._column(ast.Name(name, ast.Load()), Scalar(Kind.TRUTH), name)
        self._conditional += 1
        inner, effects = self._apart(statement.body)
        other, others = self._apart(statement.orelse)
        self._conditional -= 1
        if inner or other:
            self._out.append(ast.If(ast.Name(name, ast.Load()), inner or [ast.Pass()], other))
        return ast.If(ast.Name(name, ast.Load()), effects or [ast.Pass()], others)

    def _apart(self, body: Sequence[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
        """The compiled statements of an inner block, and those of Python."""
        outer, self._out = self._out, []
        before, self._left = self._left, {**self._left}
        effects = self._split(body)
        inner, self._out = self._out, outer
        # What the block alone has left is not there on other paths, nor what it has bound again.
        self._left = {name: column for name, column in before.items() if self._left.get(name) == column}
        return inner, effects


def _without_continues(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Statements after ``if c: ...; continue`` as its other branch, where this is possible."""
    found: list[ast.stmt] = []
    for k, statement in enumerate(body):
        if isinstance(statement, ast.Continue):
            return found
        if isinstance(statement, ast.If) and any(_continues(statement)):
            rest = list(body[k + 1 :])
            if _ends_early(statement.body):
                one, other = statement.body, [*statement.orelse, *rest]
            elif _ends_early(statement.orelse):
                one, other = [*statement.body, *rest], statement.orelse
            else:
                return [*found, statement, *rest]
            branches = _without_continues(one) or [ast.Pass()], _without_continues(other)
            return [*found, ast.copy_location(ast.If(statement.test, *branches), statement)]
        found.append(statement)
    return found


def _ends_early(body: Sequence[ast.stmt]) -> bool:
    """Whether all paths through statements go on with the next iteration."""
    match body[-1] if body else None:
        case ast.Continue():
            return True
        case ast.If(body=one, orelse=other):
            return _ends_early(one) and _ends_early(other)
    return False


def _continues(statement: ast.stmt) -> Iterator[bool]:
    """Whether a statement goes on with the next iteration of the loop around it."""
    if isinstance(statement, ast.Continue):
        yield True
    if isinstance(statement, ast.If):
        for each in statement.body:
            yield from _continues(each)
    if isinstance(statement, ast.If | ast.For | ast.While):
        for each in statement.orelse:
            yield from _continues(each)
