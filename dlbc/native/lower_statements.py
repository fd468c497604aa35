"""Statements: assignments, inner loops and conditions, all that Python does in them included."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbc.native.extents import Linear, Run
from dlbc.native.facts import (
    NotCompilableError,
    array_of,
    described,
    helper,
    literal_of,
    subscripts_of,
    table_of,
)
from dlbc.native.lower_allocations import AllocationLowering
from dlbc.native.lowering_records import Level
from dlbc.native.scalars import CHECKED, Kind, Scalar, Sign, integer
from dlbc.native.slice_loops import SliceStore


class StatementLowering(AllocationLowering):
    """Lowers statements."""

    @abstractmethod
    def _update(self, node: ast.stmt) -> bool:
        """Lower an update of a value of all iterations; False if the statement is none."""

    def _statement(self, node: ast.stmt) -> None:
        if self._update(node):
            return
        match node:
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as call) if (
                own := self._facts.functions(name)
            ) is not None:
                self._run(call, own)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (
                name in self._own.allocations and (made := self._allocation(value)) is not None
            ):
                self._make(name, value, made)
            case ast.Assign(targets=[target], value=value):
                self._assign(target, value)
            case ast.Assign(targets=targets, value=value):
                expression, kind = self.expression(value)
                name = self._fresh("value")
                self._bind(name, expression, kind)
                for target in targets:
                    self._assign(target, ast.Name(name, ast.Load()))
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, value)
            case ast.AugAssign(target=target, op=op, value=value):
                self._augmented(node, target, op, value)
            case ast.For(target=target, iter=iterable, body=body, orelse=[]):
                self._for(node, target, iterable, body)
            case ast.For():
                self._for_with_else(node)
            case ast.While(test=test, body=body, orelse=orelse):
                self._while(test, body, orelse)
            case ast.If(test=test, body=body, orelse=orelse):
                condition, _ = self.condition(test)
                inner, other = self._conditionally(body), self._conditionally(orelse)
                self._out.append(ast.If(condition, inner or [ast.Pass()], other))
            case ast.Expr(value=ast.Subscript() as row) if self._is_whole(array_of(row)):
                self._look_at(row)
            case ast.Pass() | ast.Break() | ast.Continue() | ast.Expr(value=ast.Constant()):
                self._out.append(node)
            case ast.Raise() | ast.Assert(test=ast.Constant(value=False)):
                self._out += self._leave()
            case ast.Assert(test=test):
                condition, _ = self.condition(test)
                self._check(ast.UnaryOp(ast.Not(), condition))
            case _:
                raise NotCompilableError(f"{described(node)} cannot be compiled", node)

    def _look_at(self, row: ast.Subscript) -> None:
        """See that a row, or an element, is there."""
        base, subscripts = array_of(row), subscripts_of(row)
        if local := self._local(base):
            self._place_in(base, subscripts, self._own.lengths.get(local, ()), ast.Load(), looks=True)
            return
        self._use(self._array(base))
        lengths = self._lengths_of_given(self._array(base), len(subscripts))
        self._place_in(self._array_node(base), subscripts, lengths, ast.Load(), looks=True)

    def statements(self, body: Sequence[ast.stmt]) -> None:
        """See `LoweringState`."""
        for statement in body:
            self._statement(statement)

    def _for_with_else(self, loop: ast.For) -> None:
        """A loop with an ``else``, which runs unless a ``break`` ends the loop."""
        self._statement(ast.copy_location(ast.For(loop.target, loop.iter, loop.body, []), loop))
        lowered = self._out[-1]
        assert isinstance(lowered, ast.For)
        lowered.orelse = self._conditionally(loop.orelse)

    def _conditionally(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Statements of a block that may not run, lowered."""
        self._conditional += 1
        inner = self._nested(body)
        self._conditional -= 1
        return inner

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        if (
            isinstance(target, ast.Tuple)
            and isinstance(value, ast.Tuple)
            and len(target.elts) == len(value.elts)
        ):
            self._assign_each(target, [self.expression(each) for each in value.elts])
            return
        if isinstance(target, ast.Tuple) and self._assign_parts(target, value):
            return
        if isinstance(target, ast.Subscript) and (
            self._store_row(target, value) or self._store_part(target, value, None)
        ):
            return
        self._whole = value
        expression, kind = self.expression(value)
        if isinstance(target, ast.Name):
            self._bind(target.id, expression, kind)
        elif isinstance(target, ast.Subscript):
            place = self._place(target, ast.Store())
            if self._is_list(array_of(target)):
                expression = self._item(self._local(array_of(target)), expression, kind, target)
            expression = self._fitting(place, target, expression, kind)
            self._out.append(ast.Assign([place], expression))
            self._store(target)
        else:
            raise NotCompilableError(f"a store to {ast.unparse(target)} cannot be compiled", target)

    def _assign_each(self, target: ast.Tuple, found: Sequence[tuple[ast.expr, Scalar]]) -> None:
        """Assign several values at once."""
        names = [self._fresh("value") for _ in found]
        for name, (expression, kind) in zip(names, found, strict=True):
            self._bind(name, expression, kind)
        for each, name in zip(target.elts, names, strict=True):
            self._assign(each, ast.Name(name, ast.Load()))

    def _assign_parts(self, target: ast.Tuple, value: ast.expr) -> bool:
        """Unpack what a function of the program returns, or the row of an array; False for anything else."""
        count = len(target.elts)
        match value:
            case ast.Call(func=ast.Name(id=name)) if (own := self._facts.functions(name)) is not None:
                self._whole = value
                self._assign_each(target, self._inlined(value, own, count))
                return True
            case ast.Subscript() if array := self._array(array_of(value)):
                length = f"{self._facts.parameters[array]}.shape[{len(subscripts_of(value))}]"
                self._conditions.setdefault(f"{length} == {count}")
                parts = [ast.Subscript(value, ast.Constant(k), ast.Load()) for k in range(count)]
                self._assign_each(target, [self.expression(each) for each in parts])
                return True
        return False

    def _store_row(self, target: ast.Subscript, value: ast.expr) -> bool:
        """Store numbers to the row of an array; False for anything else."""
        array, keys = self._array(array_of(target)), subscripts_of(target)
        if not array or not isinstance(value, ast.Tuple | ast.List):
            return False
        if any(isinstance(each, ast.Slice | ast.Starred) for each in (*keys, *value.elts)):
            return False
        self._asked.shaped.add(array)  # a list takes the numbers as one item
        self._conditions.setdefault(
            f"{self._facts.parameters[array]}.shape[{len(keys)}] == {len(value.elts)}"
        )
        places = [ast.Subscript(target, ast.Constant(k), ast.Store()) for k in range(len(value.elts))]
        found = [self.expression(each) for each in value.elts]
        self._note_values(*value.elts)
        self._assign_each(ast.Tuple([*places], ast.Store()), found)
        return True

    def _fitting(self, place: ast.expr, target: ast.Subscript, value: ast.expr, kind: Scalar) -> ast.expr:
        """An integer to be stored, checked to fit: the array may be one of small integers."""
        known = literal_of(value) is not None or kind.kind is not Kind.INTEGER or kind.element
        if known or self._local(array_of(target)) or not self._can_leave:
            return value
        assert isinstance(place, ast.Subscript)
        value = self._named(value, "value")
        self._check(helper("unfit", place.value, value))
        return value

    def _augmented(self, node: ast.AugAssign, target: ast.expr, op: ast.operator, value: ast.expr) -> None:
        if isinstance(target, ast.Name):
            expression, kind = self._operation(ast.Name(target.id, ast.Load()), op, value, node)
            self._bind(
                target.id, expression, kind, augmented=op if _is_update(expression, op, target) else None
            )
        elif isinstance(target, ast.Subscript) and self._store_part(target, value, op):
            pass
        elif isinstance(target, ast.Subscript):
            load = ast.Subscript(target.value, target.slice, ast.Load())
            expression, kind = self._operation(load, op, value, node)
            place = self._place(target, ast.Store())
            assert isinstance(place, ast.Subscript)
            if self._is_list(array_of(target)):
                expression = self._item(self._local(array_of(target)), expression, kind, target)
            if isinstance(expression, ast.BinOp) and isinstance(expression.op, type(op)):
                self._out.append(ast.AugAssign(place, op, expression.right))
            else:
                self._out.append(ast.Assign([place], expression))
            self._store(target)
        else:
            raise NotCompilableError(f"a store to {ast.unparse(target)} cannot be compiled", target)

    def _store_part(self, target: ast.Subscript, value: ast.expr, op: ast.operator | None) -> bool:
        """A store to a part of an array; False if it is one to an element."""
        store = SliceStore(self._fresh, self._axes_of)
        found = store.loops(target, value, op)
        if found is None:
            return False
        self._locals |= set(found.names)
        self._asked.shaped |= {self._array(base) for base in found.arrays} - {""}
        *before, loop = found.statements
        self.statements(before)
        for each in found.not_negative:
            self._demand_not_negative(each)
        self._statement(loop)
        return True

    def _axes_of(self, node: ast.expr) -> int:
        local = self._local(node)
        return self._own.allocations[local].axes if local and not self._is_list(node) else 0

    def _for(self, node: ast.For, target: ast.expr, iterable: ast.expr, body: list[ast.stmt]) -> None:
        if (table := self._table(iterable)) is not None:
            self._for_constants(node, None, target, table, body)
            return
        match target, iterable:
            case ast.Name(), ast.Name() | ast.Attribute() if self._array(iterable) or self._local(iterable):
                self._for_elements(node, None, target, iterable, body)
                return
            case ast.Tuple(elts=[ast.Name() as count, ast.Name() as item]), ast.Call(
                func=ast.Name(id="enumerate"), args=[ast.Name() | ast.Attribute() as array], keywords=[]
            ) if self._facts.builtin("enumerate") and (self._array(array) or self._local(array)):
                self._for_elements(node, count, item, array, body)
                return
            case ast.Tuple(elts=[ast.Name() as count, item]), ast.Call(
                func=ast.Name(id="enumerate"), args=[values], keywords=[]
            ) if self._facts.builtin("enumerate") and (numbered := self._table(values)) is not None:
                self._for_constants(node, count, item, numbered, body)
                return
            case ast.Name(id=name), ast.Call(func=ast.Name(id="range"), args=arguments, keywords=[]) if (
                self._facts.builtin("range") and 1 <= len(arguments) <= 3
            ):
                pass
            case _:
                raise NotCompilableError("an inner loop over anything but a range cannot be compiled", node)
        if name in self._scope.variables:
            raise NotCompilableError(f"`{name}` counts in two loops, one inside the other", node)
        found = [self.expression(each) for each in arguments]
        if any(kind.kind not in (Kind.INTEGER, Kind.ANY) for _, kind in found):
            raise NotCompilableError("the arguments of a range are no integers", node)
        self._asked.subscripts |= {
            self._array(array_of(a)) for a in arguments if isinstance(a, ast.Subscript)
        }
        if len(arguments) > 2 and not isinstance(literal_of(arguments[2]), int):
            self._check(helper("is_zero", found[2][0]))
        step = literal_of(arguments[2]) if len(arguments) > 2 else 1
        self.bound[name] = self._counter(name, [kind for _, kind in found], step)
        rebound = any(
            isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store)
            for s in body
            for n in ast.walk(s)
        )
        run = None if rebound else self._scope.run_of(name, arguments)
        level = self._enter(name, body)
        if run is not None and level.changing.isdisjoint(run.names):
            self._scope.inside(run)
        before, self._stored_before = self._stored_before, self._stored_before or self._updates(body)
        inner = self._nested(body)
        self._leave_loop()
        self._stored_before = before or self._updates(body)
        call = ast.Call(ast.Name("range", ast.Load()), [expression for expression, _ in found], [])
        self._out.append(ast.For(ast.Name(name, ast.Store()), call, inner or [ast.Pass()], []))

    def _enter(self, variable: str, body: Sequence[ast.stmt]) -> Level:
        """Enter an inner loop."""
        self._note_change(variable)
        names = (n for s in body for n in ast.walk(s) if isinstance(n, ast.Name))
        changing = {variable, *(n.id for n in names if not isinstance(n.ctx, ast.Load))}
        level = Level(self._scope.depth, self._conditional, self._stored_before, changing)
        self._levels.append(level)
        return level

    def _leave_loop(self) -> None:
        """Leave an inner loop; what must hold for it is tested before it."""
        level = self._levels.pop()
        while self._scope.depth > level.depth:
            self._scope.outside()
        self._out += level.statements

    def _for_elements(
        self, node: ast.For, count: ast.Name | None, item: ast.Name, array: ast.expr, body: list[ast.stmt]
    ) -> None:
        """A loop over the elements of a vector, as one over their subscripts."""
        base, element = self._vector(array, node)
        counter = ast.Name(self._fresh("at") if count is None else count.id, ast.Store())
        self.bound[counter.id] = integer(degree=1)
        if counter.id in self._scope.variables:
            raise NotCompilableError(f"`{counter.id}` counts in two loops, one inside the other", node)
        length = f"{base.id}.shape[0]"
        last = Linear.atom(length) - Linear.literal(1)
        self._enter(counter.id, [ast.Expr(item), *body])
        self._scope.inside(Run(counter.id, (Linear(),), (last,)))
        self._over_places(counter, length, [(item.id, base, element)], body)

    def _over_places(
        self,
        counter: ast.Name,
        length: str,
        items: Sequence[tuple[str, ast.expr, Scalar]],
        body: list[ast.stmt],
    ) -> None:
        """The loop that has been entered, over the places of sequences whose items get names in it."""
        before, self._stored_before = self._stored_before, self._stored_before or self._updates(body)
        outer, self._out = self._out, []
        for name, sequence, kind in items:
            place = ast.Subscript(sequence, ast.Name(counter.id, ast.Load()), ast.Load())
            self._bind(name, place, kind)
        self.statements(body)
        inner, self._out = self._out, outer
        self._stored_before = before or self._updates(body)
        self._leave_loop()
        call = ast.parse(f"range({length})", mode="eval").body
        self._out.append(ast.For(counter, call, inner, []))

    def _table(self, node: ast.expr) -> list[list[ast.expr]] | None:
        """The numbers over which a loop runs, if the text has them: a list for each of its targets."""
        if isinstance(node, ast.Name) and node.id not in self._locals:
            node = self._facts.constants(node.id) or node
        return table_of(node)

    def _for_constants(
        self,
        node: ast.For,
        count: ast.Name | None,
        target: ast.expr,
        table: list[list[ast.expr]],
        body: list[ast.stmt],
    ) -> None:
        """A loop over numbers that stand in the text, as one over their places."""
        targets = target.elts if isinstance(target, ast.Tuple) and len(table) > 1 else [target]
        names = [each.id for each in targets if isinstance(each, ast.Name)]
        if not len(names) == len(targets) == len(table):
            raise NotCompilableError("an inner loop over anything but a range cannot be compiled", node)
        counter = ast.Name(self._fresh("at") if count is None else count.id, ast.Store())
        if counter.id in self._scope.variables:
            raise NotCompilableError(f"`{counter.id}` counts in two loops, one inside the other", node)
        self.bound[counter.id] = integer(extra=len(table[0]).bit_length())
        self._enter(counter.id, [*map(ast.Expr, targets), *body])
        items = [
            (name, ast.Tuple(values, ast.Load()), self._kind_of(values, node))
            for name, values in zip(names, table, strict=True)
        ]
        self._over_places(counter, str(len(table[0])), items, body)

    def _vector(self, array: ast.expr, node: ast.For) -> tuple[ast.Name, Scalar]:
        """An array over whose elements a loop runs, and what is known of these."""
        if local := self._local(array):
            if self._own.allocations[local].axes != 1 or local not in self._own.elements:
                raise NotCompilableError(f"an inner loop runs over the rows of `{local}`", node)
            return ast.Name(local, ast.Load()), self._element_of(local)
        name = self._array(array)
        self._use(name)
        self._asked.axes.setdefault(name, 1)
        self._asked.values.add(name)
        if name in self._stored:
            raise NotCompilableError(f"an inner loop runs over `{name}`, to which iterations store", node)
        base = self._array_node(array)
        assert isinstance(base, ast.Name)
        return base, self._given_element(name)

    def _counter(self, name: str, ends: Sequence[Scalar], step: object) -> Scalar:
        """What is known of a variable that runs over a range."""
        before = self.bound.get(name)
        start = ends[0] if len(ends) > 1 else integer()
        from_zero = len(ends) == 1 or (start.kind is Kind.INTEGER and start.sign >= Sign.NOT_NEGATIVE)
        upwards = from_zero and isinstance(step, int) and step > 0 and not start.element
        bounds = ends[-1:] if upwards and len(ends) < 3 else ends[1:2] if upwards else ends
        counter = integer(max(e.degree for e in bounds), max(e.extra for e in bounds) + 1)
        if any(e.element for e in bounds) or not counter.bounded:
            counter = integer(extra=CHECKED)  # ranges of compiled code are of 64 bits
        if upwards:
            counter = replace(counter, sign=Sign.NOT_NEGATIVE)
        return counter if before is None else before.joined(counter)

    def _while(self, test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        before, self._stored_before = self._stored_before, self._stored_before or self._updates(body)
        self._conditional += 1
        outer, self._out = self._out, []
        condition, _ = self.condition(test)
        ahead = self._out
        inner = self._nested(body)
        self._out = outer
        self._conditional -= 1
        self._stored_before = before or self._updates(body)
        other = self._conditionally(orelse)
        if not ahead:
            self._out.append(ast.While(condition, inner or [ast.Pass()], other))
            return
        if jump := next((n for s in orelse for n in _jumps(s)), None):
            raise NotCompilableError("a jump from the `else` of this loop cannot be compiled", jump)
        leave = ast.If(ast.UnaryOp(ast.Not(), condition), [*other, ast.Break()], [])
        self._out.append(ast.While(ast.Constant(True), [*ahead, leave, *inner], []))


def _jumps(statement: ast.stmt) -> Iterator[ast.stmt]:
    """What leaves the loop around a statement, or goes on with its next turn."""
    if isinstance(statement, ast.Break | ast.Continue):
        yield statement
    inner = (
        statement.orelse
        if isinstance(statement, ast.For | ast.While)
        else ([*statement.body, *statement.orelse] if isinstance(statement, ast.If) else [])
    )
    for each in inner:
        yield from _jumps(each)


def _is_update(expression: ast.expr, op: ast.operator, target: ast.Name) -> bool:
    """Whether an expression is what an augmented assignment computes."""
    match expression:
        case ast.BinOp(left=ast.Name(id=name), op=found):
            return name == target.id and isinstance(found, type(op))
    return False
