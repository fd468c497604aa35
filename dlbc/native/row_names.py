"""Rows of arrays under names, in whose place the elements of the arrays themselves are put.

``row = A[i]`` makes another name of a part of ``A``: ``row[k]`` is ``A[i][k]``, and ``len(row)`` is
``A.shape[1]``. So do ``column = A[:, j]``, loops over rows (``for row in A``), over elements of rows, and
over several sequences at once (``zip``), which become loops over places. That holds as long as neither the
array nor the subscripts are bound anew, so a name is replaced only where it is bound by such a statement in
the block around all of its uses, before them; subscripts that change meanwhile are kept under names.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.native.facts import array_of, literal_of, subscripts_of


@dataclass(frozen=True)
class RowContext:
    """What replacing rows needs to know.

    ``is_array``: whether an expression is an array of the loop, or of the iteration; ``is_list``: whether a
    name is one of a list. ``functions``: those of the program by name; ``fresh`` gives names that nothing
    else has. ``kept``: names whose value is needed elsewhere, ``left_out``: statements that stay as they are.
    """

    is_array: Callable[[ast.expr], bool]
    builtin: Callable[[str], bool]
    functions: Callable[[str], ast.FunctionDef | None]
    fresh: Callable[[str], str]
    is_list: Callable[[str], bool] = lambda _: False
    kept: frozenset[str] = frozenset()
    left_out: frozenset[ast.AST] = frozenset()


def place_rows(body: list[ast.stmt], context: RowContext) -> None:
    """Replace names of rows in statements, which are changed, by the rows."""
    rows = _Rows(body, context)
    while rows.loops(body) or rows.names():
        pass
    _OfArrays(context).generic_visit(ast.Module(body, []))


def is_row_given(value: ast.expr, name: str, function: ast.FunctionDef, context: RowContext) -> bool:
    """Whether an argument is a row of an array, of which the function uses the elements."""
    return _is_row(value, context) and _is_row_like(name, function.body, context)


def steady_row(row: ast.expr, changing: set[str], context: RowContext) -> tuple[list[ast.stmt], ast.expr]:
    """A row whose subscripts mean the same while ``changing`` names are bound anew, after statements."""
    before: list[ast.stmt] = []
    if not isinstance(row, ast.Subscript):
        return before, row
    inner, array = steady_row(row.value, changing, context)
    keys = list(row.slice.elts) if isinstance(row.slice, ast.Tuple) else [row.slice]
    for place, key in enumerate(keys):
        nodes = list(ast.walk(key))
        moves = any(isinstance(n, ast.Subscript | ast.Call) for n in nodes)
        if not isinstance(key, ast.Slice) and (
            moves or any(isinstance(n, ast.Name) and n.id in changing for n in nodes)
        ):
            name = context.fresh("at")
            before.append(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], key), key))
            keys[place] = ast.Name(name, ast.Load())
    slice_ = ast.Tuple(keys, ast.Load()) if isinstance(row.slice, ast.Tuple) else keys[0]
    return [*inner, *before], ast.copy_location(ast.Subscript(array, slice_, ast.Load()), row)


class _Rows:
    """The rows of one body."""

    def __init__(self, body: list[ast.stmt], context: RowContext) -> None:
        self._body, self._context = body, context
        self._tried: set[str] = set()

    # Loops

    def loops(self, body: list[ast.stmt]) -> bool:
        """Turn loops over rows, or several sequences, into loops over places; False if there are none."""
        found = False
        for block in list(_blocks(body)):
            for loop in [each for each in block if isinstance(each, ast.For)]:
                before = self._loop(loop)
                if before is not None:
                    place = block.index(loop)
                    block[place:place] = before
                    found = True
        return found

    def _loop(self, node: ast.For) -> list[ast.stmt] | None:
        """Turn a loop into one over places; what has to stand before it, None if it is another loop."""
        count, targets, sequences = self._items(node.target, node.iter)
        if not sequences or len(targets) != len(sequences):
            return None
        if len(sequences) == 1 and not self._needs_places(node, targets[0], sequences[0]):
            return None
        rebound = set(_stored_names([*node.body, ast.Expr(node.target)]))
        counter = count if count and count not in set(_stored_names(node.body)) else self._context.fresh("at")
        lengths = [_length_of(each) for each in sequences]
        end = lengths[0] if len(lengths) == 1 else _call("min", lengths)
        begin = [] if counter == count or not count else [_assigned(ast.Name(count, ast.Store()), counter)]
        before: list[ast.stmt] = []
        for target, sequence in zip(targets, sequences, strict=True):
            ahead, steady = steady_row(sequence, rebound, self._context)
            before += ahead
            if isinstance(steady, ast.Subscript):  # which has to be there, though it may be empty
                before.append(ast.copy_location(ast.Expr(steady), node))
            item = _element(steady, [ast.Name(counter, ast.Load())], ast.Load())
            begin.append(ast.copy_location(ast.Assign([target], item), node))
        node.target = ast.copy_location(ast.Name(counter, ast.Store()), node.target)
        node.iter = ast.copy_location(_call("range", [end]), node.iter)
        node.body[:0] = begin
        return before

    def _items(
        self, target: ast.expr, iterable: ast.expr
    ) -> tuple[str, Sequence[ast.expr], Sequence[ast.expr]]:
        """The counter of a loop over sequences, its other targets, and the sequences."""
        builtin = self._context.builtin
        match target, iterable:
            case ast.Tuple(elts=[ast.Name(id=count), item]), ast.Call(
                func=ast.Name(id="enumerate"), args=[inner], keywords=[]
            ) if builtin("enumerate"):
                again, targets, sequences = self._items(item, inner)
                return ("", [], []) if again else (count, targets, sequences)
            case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=sequences, keywords=[]) if (
                builtin("zip") and builtin("min") and len(targets) == len(sequences) > 0
            ):
                pass
            case _:
                targets, sequences = [target], [iterable]
        known = all(
            (self._context.is_array(s) or _is_row(s, self._context))
            and not self._context.is_list(ast.unparse(array_of(s)))
            for s in sequences
        )
        plain = all(
            isinstance(t, ast.Name)
            or (isinstance(t, ast.Tuple) and all(isinstance(e, ast.Name) for e in t.elts))
            for t in targets
        )
        if not (known and plain and builtin("range") and builtin("len")):
            return "", [], []
        return "", targets, sequences

    def _needs_places(self, node: ast.For, target: ast.expr, sequence: ast.expr) -> bool:
        """Whether a loop runs over a row, or has rows as its items."""
        if isinstance(sequence, ast.Subscript) or isinstance(target, ast.Tuple):
            return True
        return isinstance(target, ast.Name) and _is_row_like(target.id, node.body, self._context)

    # Names

    def names(self) -> bool:
        """Replace the names that stand for rows; False if there are none left."""
        return any(list(map(self._replace, self._candidates())))

    def _candidates(self) -> list[str]:
        found: dict[str, None] = {}
        for statement in _within(self._body):
            if (bound := self._bound_row(statement)) is not None:
                found[bound[0]] = None
        return [name for name in found if name not in self._tried and name not in self._context.kept]

    def _bound_row(self, statement: ast.stmt) -> tuple[str, ast.expr] | None:
        """The name that a statement gives to a row, and the row."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Subscript() as value) if (
                statement not in self._context.left_out and _is_row(value, self._context)
            ):
                return name, value
        return None

    def _replace(self, name: str) -> bool:
        """Put rows in the place of a name, if each of its uses is that of one row."""
        self._tried.add(name)
        covered: dict[int, ast.stmt] = {}
        if not _is_row_like(name, self._body, self._context) or not self._cover(name, self._body, covered):
            return False
        uses = [n for s in self._body for n in ast.walk(s) if isinstance(n, ast.Name) and n.id == name]
        if any(isinstance(n.ctx, ast.Load) and id(n) not in covered for n in uses):
            return False
        for block in _blocks(self._body):
            self._put(name, block)
        return True

    def _cover(self, name: str, block: Sequence[ast.stmt], covered: dict[int, ast.stmt]) -> bool:
        """Find the uses that stand after a binding in its block; False where the name is bound otherwise."""
        bound: ast.stmt | None = None
        for statement in block:
            row = self._bound_row(statement)
            if row is not None and row[0] == name:
                bound = statement
                continue
            if bound is not None:
                if name in _stored_names([statement]):
                    return False
                loads = (n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name)
                covered |= {id(n): bound for n in loads}
                continue
            inner = list(_blocks_of(statement))
            own = [n for n in ast.walk(statement) if isinstance(n, ast.Name) and n.id == name]
            elsewhere = {id(n) for b in inner for s in b for n in ast.walk(s)}
            if any(not isinstance(n.ctx, ast.Load) and id(n) not in elsewhere for n in own):
                return False
            if not all(self._cover(name, each, covered) for each in inner):
                return False
        return True

    def _put(self, name: str, block: list[ast.stmt]) -> None:
        """Replace a name in a block after each statement that binds it there."""
        place = 0
        while place < len(block):
            row = self._bound_row(block[place])
            if row is None or row[0] != name:
                place += 1
                continue
            rest = block[place + 1 :]
            end = next(
                (k for k, s in enumerate(rest) if (r := self._bound_row(s)) and r[0] == name), len(rest)
            )
            changing = set(_stored_names(rest[:end]))
            before, steady = steady_row(row[1], changing, self._context)
            looked_at = ast.copy_location(ast.Expr(steady), block[place])
            block[place : place + 1] = [*before, looked_at]
            place += len(before) + 1
            replaced = _Replaced(name, steady)
            for each in block[place : place + end]:
                replaced.visit(each)


class _Replaced(ast.NodeTransformer):
    """Puts a row in the place of a name."""

    def __init__(self, name: str, row: ast.expr) -> None:
        self._name, self._row = name, row

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id == self._name:
            key = self.visit(node.slice)
            keys = list(key.elts) if isinstance(key, ast.Tuple) else [key]
            return ast.copy_location(_element(copy.deepcopy(self._row), keys, node.ctx), node)
        self.generic_visit(node)
        return node

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.copy_location(copy.deepcopy(self._row), node) if node.id == self._name else node


class _OfArrays(ast.NodeTransformer):
    """Replaces elements and lengths of rows by those of their arrays."""

    def __init__(self, context: RowContext) -> None:
        self._context = context

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="len"), args=[ast.Subscript() as row], keywords=[]) if (
                self._context.builtin("len") and _is_row(row, self._context)
            ):
                return ast.copy_location(_length_of(row), node)
        return node

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        match node:
            case ast.Subscript(
                value=ast.Attribute(value=ast.Subscript() as row, attr="shape"),
                slice=ast.Constant(value=int() as axis),
            ) if axis >= 0 and _is_row(row, self._context):
                return ast.copy_location(_length_of(row, axis), node)
            case ast.Subscript(value=ast.Subscript() as row) if _is_row(row, self._context):
                keys = list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
                return ast.copy_location(_element(row, keys, node.ctx), node)
        return node


def _is_row(node: ast.expr, context: RowContext) -> bool:
    """Whether an expression may be a row, or another part with whole axes, of an array."""
    keys = subscripts_of(node)
    plain = all(
        not isinstance(key, ast.Tuple | ast.Starred)
        and literal_of(key) is not Ellipsis
        and (not isinstance(key, ast.Slice) or _is_whole(key))
        for key in keys
    )
    return bool(keys) and plain and context.is_array(array_of(node))


def _is_whole(key: ast.expr) -> bool:
    return isinstance(key, ast.Slice) and key.lower is None and key.upper is None and key.step is None


def _is_row_like(
    name: str, body: Sequence[ast.stmt], context: RowContext, seen: frozenset[ast.AST] = frozenset()
) -> bool:
    """Whether statements use elements of what a name stands for, or how many it has."""
    for node in (n for s in body for n in ast.walk(s)):
        match node:
            case ast.Subscript(value=ast.Name(id=used)) if used == name:
                return True
            case ast.Attribute(value=ast.Name(id=used), attr="shape") if used == name:
                return True
            case ast.For(iter=ast.Name(id=used)) if used == name:
                return True
            case ast.For(iter=ast.Call(func=ast.Name(id="enumerate" | "zip"), args=args)) if any(
                isinstance(n, ast.Name) and n.id == name for a in args for n in ast.walk(a)
            ):
                return True
            case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=used)]) if used == name:
                return True
            case ast.Call(func=ast.Name(id=called)) if (function := context.functions(called)) is not None:
                if function not in seen and any(
                    _is_row_like(parameter, function.body, context, seen | {function})
                    for parameter in _parameters_for(name, node, function)
                ):
                    return True
    return False


def _parameters_for(name: str, call: ast.Call, function: ast.FunctionDef) -> Iterator[str]:
    """The parameters of a function that a call gives what a name stands for."""
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    for parameter, value in zip(parameters, call.args, strict=False):
        if isinstance(value, ast.Name) and value.id == name:
            yield parameter
    for keyword in call.keywords:
        if isinstance(keyword.value, ast.Name) and keyword.value.id == name and keyword.arg:
            yield keyword.arg


def _element(row: ast.expr, keys: Sequence[ast.expr], context: ast.expr_context) -> ast.expr:
    """An element of a row: its subscripts take the place of whole axes, or come after its own."""
    left = list(keys)
    if any(isinstance(key, ast.Slice) for key in subscripts_of(row)):
        own = [left.pop(0) if left and isinstance(key, ast.Slice) else key for key in subscripts_of(row)]
        return ast.Subscript(array_of(row), ast.Tuple([*own, *left], ast.Load()), context)
    key = left[0] if len(left) == 1 else ast.Tuple(left, ast.Load())
    return ast.Subscript(row, key, context)


def _length_of(row: ast.expr, axis: int = 0) -> ast.expr:
    """The length of an axis of an array, or of a row of one."""
    keys = subscripts_of(row)
    if not keys and not axis:
        return _call("len", [row])
    whole = [k for k, key in enumerate(keys) if isinstance(key, ast.Slice)]
    place = whole[axis] if axis < len(whole) else len(keys) + axis - len(whole)
    shape = ast.Attribute(array_of(row), "shape", ast.Load())
    return ast.Subscript(shape, ast.Constant(place), ast.Load())


def _call(name: str, arguments: Sequence[ast.expr]) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _assigned(target: ast.Name, name: str) -> ast.stmt:
    return ast.Assign([target], ast.Name(name, ast.Load()))


def _stored_names(body: Sequence[ast.stmt]) -> Iterator[str]:
    for node in (n for s in body for n in ast.walk(s)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id


def _blocks_of(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The blocks right below a statement."""
    for inner in ("body", "orelse", "finalbody"):
        block = getattr(statement, inner, None)
        if isinstance(block, list) and block:
            yield block


def _blocks(body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
    """A block and all blocks in it."""
    yield body
    for statement in body:
        for inner in _blocks_of(statement):
            yield from _blocks(inner)


def _within(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements and all statements in them."""
    for statement in list(body):
        yield statement
        for inner in _blocks_of(statement):
            yield from _within(inner)
