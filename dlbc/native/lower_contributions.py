"""What iterations contribute to values of all: Python combines it afterwards, in iteration order.

Compiled code leaves the operands. Those of a statement that an iteration runs once have columns, with one
number for each iteration. A statement in an inner loop leaves *notes*, one each time that it runs, and Python
has a loop over the iteration's notes in place of the inner loop. Of comparisons (``best = max(best, x)``) no
note is left that an earlier one of the iteration surely beats. Sums and products of inner loops are combined
within the iteration: its share of the value.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import field

from dlbrt.records import dataclass

from dlbc.ir.chunk import Column
from dlbc.native.facts import NotCompilableError, OperandLeftError, helper
from dlbc.native.lower_statements import StatementLowering
from dlbc.native.scalars import Kind, Scalar, integer, widened

#: How an operand compares with an earlier one of the iteration, by the comparison that it then cannot win.
_LOSES = {"<": ast.GtE, "<=": ast.Gt, ">": ast.LtE, ">=": ast.Lt, "min": ast.GtE, "max": ast.LtE}


@dataclass
class _Noting:
    """An inner loop whose statements leave notes.

    ``rows``: the rows of its notes that Python looks at, by number and name. ``which``: the first of them
    tells which of several statements left the note; -1 where there is one alone. ``statements``: what Python
    does, ``ahead``: what stands before the loop. ``pending``: the rows of the statement under way, with
    values, ``sources`` what stands for expressions in it.
    """

    several: bool
    rows: list[tuple[int, str]] = field(default_factory=list)
    statements: list[ast.stmt] = field(default_factory=list)
    ahead: list[ast.stmt] = field(default_factory=list)
    pending: list[tuple[int, ast.expr]] = field(default_factory=list)
    sources: dict[str, str] = field(default_factory=dict)


class ContributionLowering(StatementLowering):
    """Lowers contributions."""

    #: Operands that are left to Python, as earlier passes have found.
    left: frozenset[str] = frozenset()
    _noting: _Noting | None = None
    #: The number of the next note, once there are any.
    _next_note = ""

    def _is_contribution(self, statement: ast.AST) -> bool:
        """Whether a statement as a whole is left to Python."""
        if statement in self._facts.effects:
            return isinstance(statement, ast.stmt)
        return isinstance(statement, ast.Expr) and not self._facts.effects.isdisjoint(ast.walk(statement))

    def _contributions_in(self, node: ast.AST) -> Iterator[ast.stmt]:
        """The statements in a block that are left to Python."""
        if isinstance(node, ast.stmt) and self._is_contribution(node):
            yield node
            return
        for child in ast.iter_child_nodes(node):
            yield from self._contributions_in(child)

    def computes(self, name: str) -> bool:
        """Whether the iteration binds the name, which is not its index."""
        return name in self._bound

    def _with_columns(self, statement: ast.stmt) -> ast.stmt:
        """The statement with columns in place of what can be compiled."""
        self._fallible = self._fallible or not _surely_succeeds(statement)
        found = _Operands(self).visit(copy.deepcopy(statement))
        assert isinstance(found, ast.stmt)
        return found

    def operand(self, node: ast.expr) -> ast.expr | None:
        """The column that holds an operand of a contribution; None if it cannot be compiled."""
        if isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id == self._facts.index):
            return node
        if isinstance(node, ast.Name) and node.id in self._facts.parameters and node.id not in self._stored:
            return node  # Python has it
        if self._local(node):
            raise NotCompilableError(f"the array `{ast.unparse(node)}` contributes as a whole", node)
        if isinstance(node, ast.JoinedStr | ast.FormattedValue | ast.Tuple):
            return None
        key = f"{getattr(node, 'lineno', 0)}:{getattr(node, 'col_offset', 0)}:{ast.unparse(node)}"
        if key in self.left:
            return None
        try:
            value, kind = self.expression(node)
        except NotCompilableError as error:
            raise OperandLeftError(key) from error
        if kind.mixed:
            raise NotCompilableError("this is an integer in some iterations and a float in others", node)
        if self._noting is not None:
            return ast.Name(self._note_operand(self._noting, node, value, kind), ast.Load())
        own = isinstance(node, ast.Name) and node.id in self._locals
        if isinstance(node, ast.Name) and node.id in self._left:
            return ast.Name(self._left[node.id], ast.Load())
        always = own and not self._conditional
        name = node.id if always and isinstance(node, ast.Name) else self._fresh("operand")
        if any(column.name == name for column in self._columns):
            name = self._fresh("operand")  # the name has been bound again
        self._column(value, kind, name)
        if own and isinstance(node, ast.Name):
            self._left[node.id] = name
        return ast.Name(name, ast.Load())

    def _refuse_unclear(self, value: ast.expr, kind: Scalar) -> None:
        """Refuse a value of which Python cannot be told what it is."""
        if kind.unclear:
            raise NotCompilableError("whether this is a number of numpy or of Python is not known", value)
        if kind.sources & self._asked.axes.keys() and kind.kind is not Kind.INTEGER:
            self._ask_for_real(kind)  # a complex number of Python takes floats of numpy

    def _column(self, value: ast.expr, kind: Scalar, name: str) -> None:
        """Leave a value for Python."""
        self._refuse_unclear(value, kind)
        number = next((k for k, column in enumerate(self._columns) if column.name == name), None)
        if number is None:
            number = self._new_column(self._columns, kind, name)
        if self._columns[number].origin is not None:
            self._put(number + 1, self._origin(value))
        self._put(number, value)

    def _new_column(self, columns: list[Column], kind: Scalar, name: str) -> int:
        """Add a column for a value, and one for its origin if that is not always the same."""
        number = len(columns)
        columns.append(Column(name, tuple(sorted(kind.sources)), None if kind.certain else number + 1))
        if not kind.certain:
            columns.append(Column(self._facts.names.origin(name), hidden=True))
        return number

    def _put(self, number: int, value: ast.expr) -> None:
        names = self._facts.names
        position = ast.parse(f"({self._facts.index} - {names.first}) // {names.step}", mode="eval").body
        self._out.append(ast.Expr(helper("put", self._results(), ast.Constant(number), position, value)))

    def _results(self) -> ast.expr:
        return ast.Name(self._facts.names.results, ast.Load())

    def _update(self, node: ast.stmt) -> bool:
        if self._noting is not None and self._is_contribution(node):
            self._note(self._noting, node)
            return True
        return self._update_share(node)

    # Notes

    def _with_notes(self, statement: ast.stmt) -> ast.stmt:
        """Lower an inner loop that contributes; returns Python's loop over the notes that it leaves."""
        found = list(self._contributions_in(statement))
        self._fallible = self._fallible or not all(map(_surely_succeeds, found))
        if not self._next_note:
            self._next_note = self._fresh("note")
            begin = ast.Assign([ast.Name(self._next_note, ast.Store())], ast.Constant(0))
            self._own.prologue.append(begin)
        noting = self._noting = _Noting(len(found) > 1)
        if noting.several:
            self._row(noting, integer(), self._fresh("which"))
        notes, number = self._fresh("notes"), len(self._columns)
        self._column(ast.Name(self._next_note, ast.Load()), integer(), notes)
        place = len(self._out)
        self._statement(statement)
        self._out[place:place] = noting.ahead
        self._noting = None
        self._columns.append(Column(self._fresh("end"), hidden=True))
        self._put(number + 1, ast.Name(self._next_note, ast.Load()))
        self._noted[number] = tuple(row for row, _ in noting.rows)
        names: list[ast.expr] = [ast.Name(name, ast.Store()) for _, name in noting.rows]
        target = names[0] if len(names) == 1 else ast.Tuple(names, ast.Store())
        if not names:
            target = ast.Name("_", ast.Store())
        loop = ast.For(target, ast.Name(notes, ast.Load()), _chosen(noting), [])
        return ast.fix_missing_locations(ast.copy_location(loop, statement))

    def _row(self, noting: _Noting, kind: Scalar, name: str) -> int:
        row = self._new_column(self._note_rows, kind, name)
        noting.rows.append((row, name))
        return row

    def _note_operand(self, noting: _Noting, node: ast.expr, value: ast.expr, kind: Scalar) -> str:
        """The name that Python has for an operand, which the note under way gets."""
        text = ast.unparse(node)
        if text in noting.sources:
            return noting.sources[text]
        self._refuse_unclear(value, kind)
        name = node.id if isinstance(node, ast.Name) else ""
        taken = {column.name for column in (*self._columns, *self._note_rows)}
        if not name or name in taken or name in self._facts.kept or name not in self._locals:
            name = self._fresh("operand")
        value = self._named(value, "value")
        row = self._row(noting, kind, name)
        noting.pending.append((row, value))
        if not kind.certain:
            noting.pending.append((row + 1, self._origin(value)))
        noting.sources[text] = name
        return name

    def _note(self, noting: _Noting, statement: ast.stmt) -> None:
        """Leave a note each time that a statement runs."""
        noting.pending, noting.sources = [], {}
        found = _Operands(self).visit(copy.deepcopy(statement))
        assert isinstance(found, ast.stmt)
        number = len(noting.statements)
        noting.statements.append(found)
        rows = {name: row for row, name in noting.rows}
        values = dict(noting.pending)
        name, operand = self._comparison_won(found)
        outer, self._out = self._out, []
        note = ast.Name(self._next_note, ast.Load())
        self._check(helper("no_room", self._results(), note))
        which = [(noting.rows[0][0], ast.Constant(number))] if noting.several else []
        for row, value in (*which, *noting.pending):
            self._out.append(ast.Expr(helper("note", self._results(), ast.Constant(row), note, value)))
        if name:
            last = self._fresh(f"{name}_noted")
            begin = ast.Assign([ast.Name(last, ast.Store())], ast.Constant(-1))
            noting.ahead.append(begin)
            self._out.append(ast.Assign([ast.Name(last, ast.Store())], note))
        after = helper("count_note", self._results(), note)
        self._out.append(ast.Assign([ast.Name(self._next_note, ast.Store())], after))
        inner, self._out = self._out, outer
        if not name:
            self._out += inner
            return
        value = values[rows[operand]]
        before = helper(
            "noted", self._results(), ast.Constant(rows[operand]), ast.Name(last, ast.Load()), value
        )
        loses = ast.Compare(value, [_LOSES[self._facts.extremes[name]]()], [before])
        first = ast.Compare(ast.Name(last, ast.Load()), [ast.Lt()], [ast.Constant(0)])
        self._out.append(ast.If(ast.BoolOp(ast.Or(), [first, ast.UnaryOp(ast.Not(), loses)]), inner, []))

    def _comparison_won(self, statement: ast.stmt) -> tuple[str, str]:
        """The value that changes if an operand wins a comparison with it, and the operand; or nothing."""
        match statement:
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="max" | "min"), args=[ast.Name(id=before), ast.Name(id=x)]),
            ) if name == before and name in self._facts.extremes:
                return name, x
            case ast.If(test=ast.Compare(left=ast.Name(id=x), comparators=[ast.Name(id=name)]), orelse=[]) | (
                ast.If(test=ast.Compare(left=ast.Name(id=name), comparators=[ast.Name(id=x)]), orelse=[])
            ):
                one, other = (name, x) if name in self._facts.extremes else (x, name)
                if one in self._facts.extremes and other not in self._facts.extremes:
                    return one, other
        return "", ""

    # Shares

    def _share(self, name: str) -> list[ast.stmt]:
        """The statements that begin an iteration's share of a value: its first operand is added to it
        exactly.
        """
        kind = self._shares.get(name, Scalar(Kind.INEXACT))
        if kind.kind is Kind.ANY:
            self._asked.floats |= kind.sources
        start: float = 1 if self._facts.shares[name] == "*" else 0
        if kind.kind is not Kind.INTEGER:
            start = 1.0 if start else -0.0
        value = ast.parse(repr(start), mode="eval").body
        names = self._facts.names
        begin = ast.Assign([ast.Name(names.share(name), ast.Store())], value)
        return [begin, ast.Assign([ast.Name(names.updated(name), ast.Store())], ast.Constant(False))]

    def _combined(self, name: str) -> ast.stmt:
        """What Python does with the share of an iteration."""
        kind = self._shares.get(name, Scalar(Kind.INEXACT))
        share, updated = self._facts.names.share(name), self._facts.names.updated(name)
        self._column(ast.Name(updated, ast.Load()), Scalar(Kind.TRUTH), updated)
        self._column(ast.Name(share, ast.Load()), kind, share)
        return ast.parse(f"if {updated}:\n    {name} {self._facts.shares[name]}= {share}").body[0]

    def _update_share(self, node: ast.stmt) -> bool:
        """Lower an update of a share; False if the statement is none."""
        match node:
            case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
                left: ast.expr | None = None
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.BinOp(left=left, op=op, right=value)):
                pass
            case _:
                return False
        if name not in self._facts.shares:
            return False
        reversed_ = isinstance(value, ast.Name) and value.id == name and left is not None
        operand, kind = self.expression(left if reversed_ and left is not None else value)
        before = self._shares.get(name)
        self._shares[name] = widened(kind if before is None else before.joined(kind))
        share = ast.Name(self._facts.names.share(name), ast.Load())
        if self._shares[name].mixed or self._shares[name].kind is Kind.TRUTH:
            raise NotCompilableError("this is an integer in some updates and a float in others", node)
        sides = (operand, share) if reversed_ else (share, operand)
        self._out.append(ast.Assign([ast.Name(share.id, ast.Store())], ast.BinOp(sides[0], op, sides[1])))
        updated = ast.Name(self._facts.names.updated(name), ast.Store())
        self._out.append(ast.Assign([updated], ast.Constant(True)))
        if kind.kind is Kind.INTEGER and not kind.element:
            if isinstance(op, ast.Mult):
                raise NotCompilableError("a product of integers may exceed 64 bits", node)
            self._check(helper("wide", share))
        return True


#: Expressions with names of their own.
_Scope = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp | ast.Lambda


class _Operands(ast.NodeTransformer):
    """Puts columns in place of the operands of a contribution; what they are combined with stays."""

    def __init__(self, lowering: ContributionLowering) -> None:
        self._lowering = lowering

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _Scope):
            return self._with_own_names(node)
        if isinstance(node, ast.expr) and isinstance(getattr(node, "ctx", ast.Load()), ast.Load):
            found = self._lowering.operand(node)
            if found is not None:
                return found
        result: ast.AST = super().visit(node)
        return result

    def _expression(self, node: ast.expr) -> ast.expr:
        found = self.visit(node)
        assert isinstance(found, ast.expr)
        return found

    def _with_own_names(self, node: _Scope) -> ast.expr:
        """A comprehension or lambda stays as it is, with columns in place of the names that it reads."""
        names = [n for n in ast.walk(node) if isinstance(n, ast.Name)]
        own = {n.id for n in names if not isinstance(n.ctx, ast.Load)}
        own |= {n.arg for n in ast.walk(node) if isinstance(n, ast.arg)}
        computed = [n for n in names if self._lowering.computes(n.id)]
        for name in computed:
            if name.id in own or isinstance(node, ast.Lambda):
                where = "a lambda" if isinstance(node, ast.Lambda) else "a comprehension that binds it, too"
                reason = f"`{name.id}`, which the iteration computes, is read in {where}"
                raise NotCompilableError(reason, name)
        return _InScope(self._lowering).visit(node)  # type: ignore[no-any-return]

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        match node.func:
            case ast.Attribute(value=ast.Subscript() as item):
                self.visit_Subscript(item)  # `groups[k].append`
        node.args = [self._expression(each) for each in node.args]
        for keyword in node.keywords:
            keyword.value = self._expression(keyword.value)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        if isinstance(node.value, ast.Subscript):
            self.visit_Subscript(node.value)
        node.slice = self._expression(node.slice)
        return node


class _InScope(ast.NodeTransformer):
    """Puts columns in place of the names that the iteration computes, and of nothing larger."""

    def __init__(self, lowering: ContributionLowering) -> None:
        self._lowering = lowering

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return self._lowering.operand(node) or node if self._lowering.computes(node.id) else node


def _chosen(noting: _Noting) -> list[ast.stmt]:
    """What Python does with a note: the statement that left it."""
    if not noting.several:
        return noting.statements
    which = ast.Name(noting.rows[0][1], ast.Load())
    chosen = noting.statements[-1:]
    for number in reversed(range(len(noting.statements) - 1)):
        test = ast.Compare(which, [ast.Eq()], [ast.Constant(number)])
        chosen = [ast.If(test, [noting.statements[number]], chosen)]
    return chosen


def _surely_succeeds(statement: ast.stmt) -> bool:
    """Whether Python's part of a statement does not fail: updates of numbers, `append`, plain output."""
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="append"), args=[_], keywords=[]) as call):
            operands: list[ast.expr] = call.args
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"), args=operands, keywords=[])):
            pass
        case ast.Assign(targets=[ast.Name()], value=value) | ast.AugAssign(target=ast.Name(), value=value):
            operands = [value]
        case _:
            return False
    return not any(isinstance(n, ast.FormattedValue) and n.format_spec for o in operands for n in ast.walk(o))
