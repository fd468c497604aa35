"""Walk the expressions of a routine's sequential code: which values are looked into, or changed, and where.

A value that is only bound, handed to a name or asked for its form is not touched. Otherwise the longest
chain of names (``self.grid.u``) that leads to it is: evaluating the chain itself looks at no data. What is
made of a value (a view, an item of a container) carries what will be done with it back to the chain. Calls of
functions that are not known may look into, and change, all that they can reach: what they are, and arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum

from dlbrt.records import dataclass

from dlbc.ir.plain import READING, Element, Kind, Values, dotted_name, part_of
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import Manner, Touch
from dlbc.ir.touch_calls import CallRules
from dlbc.ir.uses import free_names
from dlbc.library.methods import METADATA
from dlbc.library.table import is_library

__all__ = ["TouchWalk", "Touched", "Use"]

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Use(Enum):
    """How a name is used, which tells whether it may be taken for plain."""

    FREE = "free"  # asked for its form, passed on to a name, deleted
    VALUE = "value"  # looked at, not kept
    PLAIN = "plain"  # as a number or text is: a subscript, the bound of a range, part of a test
    KEPT = "kept"  # handed on
    PARTED = "parted"  # subscripted, called, iterated over, asked for an attribute


@dataclass(frozen=True, slots=True)
class Touched:
    """A chain of names that is touched: ``levels`` nodes above its first name.

    ``node`` is its end; where rows of it are touched alone, the subscript.
    """

    anchor: ast.Name | ast.Lambda
    levels: int
    touch: Touch
    manner: Manner
    node: ast.expr


@dataclass
class TouchWalk:
    """Collects what is touched, how names are used, and calls that cannot be seen through.

    ``names`` gives the kind of a name of the scope; ``owned`` are attributes that are known to be data of
    objects, so that taking them runs no code. Within ``opaque`` code nothing is taken for plain.
    """

    world: ModuleNames
    names: Callable[[str], Kind]
    owned: frozenset[str]
    container: Callable[[ast.expr], bool]
    closed: Callable[[ast.Call], tuple[frozenset[ast.expr], bool] | None]
    touched: list[Touched] = field(default_factory=list)
    uses: dict[str, set[Use]] = field(default_factory=dict)
    unseen: list[tuple[str, ast.expr]] = field(default_factory=list)
    _local: list[dict[str, Kind]] = field(default_factory=list)
    _opaque: bool = False

    def __post_init__(self) -> None:
        self.values = Values(self.world, self._kind)
        self._rules = CallRules(self.world, self.values, self.container, self.closed)

    def visit(self, node: ast.expr | None, touch: Touch, use: Use = Use.KEPT) -> None:
        """An expression to whose value ``touch`` is done; ``use`` is of the name that it may consist of."""
        match node:
            case None | ast.Constant():
                return
            case ast.Name():
                self._leaf(node, node, 0, touch, use)
            case ast.Lambda():
                self._lambda(node, touch)
            case ast.Attribute():
                self._attribute(node, touch)
            case ast.Subscript():
                self._subscript(node, touch, Manner.CHANGED_ROWS if touch is Touch.WRITE else Manner.ROWS)
            case ast.Call():
                self._call(node, touch)
            case _:
                self._operators(node, touch, use)

    def test(self, node: ast.expr) -> None:
        """An expression of which the truth is asked: what is compared there is no array. A bare name may be
        anything."""
        self.visit(node, Touch.READ, _unless_bare(node, Use.PLAIN))

    def store(self, target: ast.expr) -> None:
        """A target of an assignment, a loop or `with`."""
        match target:
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    self.store(part)
            case ast.Starred(value=value):
                self.store(value)
            case ast.Subscript(value=value, slice=index) if self.container(value):
                self._index(index)
                self.visit(value, Touch.MOVE, Use.PARTED)
            case ast.Subscript():
                self._subscript(target, Touch.WRITE, Manner.ROWS)
            case ast.Attribute(value=value, attr=attr):
                form = attr in METADATA  # of an array, it makes another one of it
                self.visit(value, Touch.MOVE if attr in self.owned and not form else Touch.WRITE, Use.PARTED)

    def update(self, target: ast.expr) -> None:
        """The target of an augmented assignment, which may change its object in place."""
        if isinstance(target, ast.Name):
            self._leaf(target, target, 0, Touch.WRITE, Use.FREE, Manner.BEFORE)
        elif isinstance(target, ast.Subscript):
            self._subscript(target, Touch.WRITE, Manner.CHANGED_ROWS)
        elif not self._chain(target, Touch.WRITE, Manner.BEFORE):
            self.store(target)

    def capture(self, scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> None:
        """The names that a function or class takes from around it: how and when it will use them is open."""
        for name in free_names(scope):
            self.uses.setdefault(name, set()).add(Use.KEPT)

    @contextmanager
    def bound(self, names: dict[str, Kind]) -> Iterator[None]:
        """Code in which these names are its own."""
        self._local.append(names)
        yield
        self._local.pop()

    @contextmanager
    def opaque(self) -> Iterator[None]:
        """The body of a class, whose names are its own."""
        before, self._opaque = self._opaque, True
        yield
        self._opaque = before

    def _kind(self, name: str) -> Kind:
        for table in reversed(self._local):
            if name in table:
                return table[name]
        return Kind.OTHER if self._opaque and not self.world.builtin(name) else self.names(name)

    def _is_local(self, name: str) -> bool:
        return self._opaque or any(name in table for table in self._local)

    def _leaf(
        self,
        anchor: ast.Name,
        node: ast.expr,
        levels: int,
        touch: Touch,
        use: Use,
        manner: Manner = Manner.EXPRESSION,
    ) -> None:
        if not self._is_local(anchor.id):
            self.uses.setdefault(anchor.id, set()).add(use if levels == 0 else Use.PARTED)
        if touch is Touch.MOVE or self._is_plain(anchor, levels):
            return
        self.touched.append(Touched(anchor, levels, touch, manner, node))

    def _is_plain(self, anchor: ast.Name, levels: int) -> bool:
        """Whether nothing that stays on the ranks is reached from the chain."""
        if anchor.id in self.world.imports:
            return levels == 0 and is_library(self.world.imports[anchor.id])
        kind = self._kind(anchor.id)
        return kind is Kind.SCALAR or (kind is Kind.FRESH and levels == 0)

    def _lambda(self, node: ast.Lambda, touch: Touch) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self.visit(default, Touch.MOVE)
        self.capture(node)
        if touch is not Touch.MOVE:
            self.touched.append(Touched(node, 0, Touch.WRITE, Manner.EXPRESSION, node))

    def _attribute(self, node: ast.Attribute, touch: Touch) -> None:
        hidden = self.world.hidden
        if node.attr in METADATA and node.attr not in hidden.properties | hidden.values:
            use = Use.FREE if isinstance(node.value, ast.Name) else Use.PARTED
            self.visit(node.value, Touch.MOVE, use)
            return
        if not self._chain(node, touch):
            self.visit(node.value, max(touch, Touch.READ), Use.PARTED)

    def _chain(
        self,
        node: ast.expr,
        touch: Touch,
        manner: Manner = Manner.EXPRESSION,
        shown: ast.expr | None = None,
    ) -> bool:
        """Touch a chain of names as a whole; false where it is none, or part of it runs code."""
        levels, root = 0, node
        while isinstance(root, ast.Attribute):
            if root.attr not in self.owned and not dotted_name(root, self.world):
                return False
            root, levels = root.value, levels + 1
        if not isinstance(root, ast.Name):
            return False
        full = dotted_name(node, self.world)
        if not (full and is_library(full)):
            self._leaf(root, shown or node, levels, touch, Use.PARTED, manner)
        return True

    def _subscript(self, node: ast.Subscript, touch: Touch, manner: Manner) -> None:
        self._index(node.slice)
        least = touch if self.container(node.value) else max(touch, Touch.READ)
        if not self._chain(node.value, least, manner, node):
            self.visit(node.value, least, Use.PARTED)

    def _index(self, index: ast.expr) -> None:
        for part in index.elts if isinstance(index, ast.Tuple) else [index]:
            self.visit(part, Touch.READ, Use.PLAIN if _is_count(part) else Use.VALUE)

    def _call(self, node: ast.Call, touch: Touch) -> None:
        if self._is_super(node):
            anchor = node.func
            assert isinstance(anchor, ast.Name)
            if touch is not Touch.MOVE:
                self.touched.append(Touched(anchor, 1, touch, Manner.EXPRESSION, node))
            return
        counting = dotted_name(node.func, self.world) in ("builtins.range", "builtins.round")
        handling = self._rules.handling(node, touch)
        self._callee(node.func, handling.callee)
        for argument in handling.arguments:
            inner = argument.node
            while isinstance(inner, ast.Starred):
                inner = inner.value
            kept = Use.KEPT if argument.kept else Use.PLAIN if counting else Use.VALUE
            least = max(argument.touch, Touch.READ) if inner is not argument.node else argument.touch
            free = argument.touch is Touch.MOVE and not argument.kept
            self.visit(inner, least, Use.FREE if free else kept)
        if handling.unseen:
            self.unseen.append((" ".join(ast.unparse(node.func).split()), node))

    def _callee(self, func: ast.expr, touch: Touch) -> None:
        """The function that is called, or what a method is called on."""
        name = dotted_name(func, self.world)
        if isinstance(func, ast.Name) and name.startswith("builtins.") and touch is Touch.WRITE:
            self.touched.append(Touched(func, 0, touch, Manner.EXPRESSION, func))  # reaches everything
        elif name or isinstance(func, ast.Name):
            self._chain(func, touch)
        elif isinstance(func, ast.Attribute):
            looks = touch is Touch.READ and func.attr in READING
            self.visit(func.value, touch, Use.VALUE if looks else Use.PARTED)
        else:
            self.visit(func, touch, Use.PARTED)

    def _is_super(self, node: ast.Call) -> bool:
        named = isinstance(node.func, ast.Name) and node.func.id == "super"
        return named and not node.args and self.world.builtin("super")

    def _operators(self, node: ast.expr, touch: Touch, use: Use) -> None:
        plain = use if use is Use.PLAIN else Use.VALUE
        match node:
            case ast.BinOp(left=left, right=right):
                self._each([left, right], Touch.READ, plain)
            case ast.UnaryOp(operand=operand):
                self.visit(operand, Touch.READ, _unless_bare(operand, plain))
            case ast.Compare():
                self._compare(node, plain)
            case ast.BoolOp(values=values):
                for value in values[:-1]:
                    kept = use if use is Use.PLAIN else Use.KEPT
                    self.visit(value, max(touch, Touch.READ), _unless_bare(value, kept))
                self.visit(values[-1], touch, _unless_bare(values[-1], use))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.test(test)
                self._each([body, orelse], touch, Use.KEPT if use is Use.PLAIN else use)
            case ast.NamedExpr(value=value):
                self.visit(value, touch, Use.KEPT)
            case ast.Slice(lower=lower, upper=upper, step=step):
                self._each([e for e in (lower, upper, step) if e is not None], Touch.READ, Use.PLAIN)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._each(parts, touch, use if use is Use.PLAIN else Use.KEPT)
            case ast.Starred(value=value):
                self.visit(value, max(touch, Touch.READ), Use.KEPT)
            case ast.Set(elts=parts):
                self._each(parts, max(touch, Touch.READ), Use.KEPT)
            case ast.Dict(keys=keys, values=values):
                self._each([k for k in keys if k is not None], Touch.READ, Use.KEPT)
                for key, value in zip(keys, values, strict=True):
                    self.visit(value, touch if key is not None else max(touch, Touch.READ))
            case ast.JoinedStr(values=values):
                self._each(values, Touch.READ, Use.VALUE)
            case ast.FormattedValue(value=value, format_spec=spec):
                self.visit(value, Touch.READ, Use.VALUE)
                self.visit(spec, Touch.READ, Use.PLAIN)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, touch)
            case _:  # an expression that this version of the compiler does not know
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.visit(child, Touch.WRITE)

    def _each(self, nodes: list[ast.expr], touch: Touch, use: Use) -> None:
        for node in nodes:
            self.visit(node, touch, use)

    def _compare(self, node: ast.Compare, use: Use) -> None:
        operands = [node.left, *node.comparators]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            self._each(operands, Touch.MOVE, Use.FREE)
            return
        ordered = all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        equal = all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
        known = ordered or (equal and any(self.values.kind(n) is Kind.SCALAR for n in operands))
        self._each(operands, Touch.READ, use if known else Use.VALUE)

    def _comprehension(self, node: _COMPREHENSIONS, touch: Touch) -> None:
        table: dict[str, Kind] = {}
        for number, generator in enumerate(node.generators):
            self.visit(generator.iter, max(touch, Touch.READ), Use.PARTED)
            if number == 0:
                self._local.append(table)
            table |= dict(_bound(generator.target, self.values.element(generator.iter)))
            self.store(generator.target)
            for condition in generator.ifs:
                self.test(condition)
        if isinstance(node, ast.DictComp):
            self._each([node.key], Touch.READ, Use.KEPT)
            self.visit(node.value, touch)
        else:
            least = max(touch, Touch.READ) if isinstance(node, ast.SetComp) else touch
            self.visit(node.elt, least)
        self._local.pop()


def _unless_bare(node: ast.expr, use: Use) -> Use:
    """The use of a part of a test, of which a bare name tells nothing."""
    return Use.VALUE if isinstance(node, ast.Name) and use is Use.PLAIN else use


def _is_count(node: ast.expr) -> bool:
    """Whether a subscript is seen to be a number, not an array of numbers."""
    return isinstance(node, ast.Slice) or (
        isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)
    )


def _bound(target: ast.expr, element: Element) -> Iterator[tuple[str, Kind]]:
    """The names of a comprehension's target."""
    match target:
        case ast.Name(id=name):
            yield name, element if isinstance(element, Kind) else Kind.OTHER
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for number, part in enumerate(parts):
                yield from _bound(part, part_of(element, number))
        case ast.Starred(value=ast.Name(id=name)):
            yield name, Kind.OTHER
