"""Mod/ref analysis of expressions: which values a routine's sequential code looks into or changes, and where.

A value that is only bound to a name, or asked for its shape, is not touched. Any other value is touched at
the longest chain of names (``self.grid.u``) that leads to it; evaluating the chain itself reads no data. A
value derived from another (a view, an item of a container) passes what will be done with it back to the
chain. Calls of unknown functions may look into, and change, all that they can reach: the callee and its
arguments.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import field
from enum import Enum

from dlbrt.records import dataclass

from dlbc.analysis.names import full_name
from dlbc.analysis.uses import free_names
from dlbc.ir.region import ModuleNames
from dlbc.ir.routine import ModRef, WrapKind
from dlbc.library.methods import METADATA
from dlbc.library.table import is_library
from dlbc.routines.mod_ref_calls import CallRules
from dlbc.routines.value_kinds import READING, Element, KindInference, ValueKind, part_of

_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class UseContext(Enum):
    """How a name is used, which decides whether it may be taken for plain."""

    FREE = "free"  # asked for its shape, assigned to a name, deleted
    VALUE = "value"  # read, not kept
    SCALAR = "scalar"  # used as a number or text is: a subscript, the bound of a range, part of a test
    ESCAPES = "escapes"  # passed on
    DECOMPOSED = "decomposed"  # subscripted, called, iterated over, asked for an attribute


@dataclass(frozen=True, slots=True)
class AccessedChain:
    """A chain of names that is touched, ``levels`` nodes above its first name.

    ``node`` is its end; if only rows of it are touched, the subscript.
    """

    anchor: ast.Name | ast.Lambda
    levels: int
    mod_ref: ModRef
    kind: WrapKind
    node: ast.expr


@dataclass
class ExpressionModRef:
    """Collects the chains that are touched, the uses of names, and calls of unknown functions.

    ``names`` gives the kind of a name of the scope. ``owned`` are attributes that are known to be data of
    objects, so that reading them runs no code. Within ``opaque`` code nothing is taken for plain.
    """

    module: ModuleNames
    names: Callable[[str], ValueKind]
    owned: frozenset[str]
    container: Callable[[ast.expr], bool]
    changed_arguments: Callable[[ast.Call], tuple[frozenset[ast.expr], bool] | None]
    accessed: list[AccessedChain] = field(default_factory=list)
    uses: dict[str, set[UseContext]] = field(default_factory=dict)
    unseen: list[tuple[str, ast.expr]] = field(default_factory=list)
    _local: list[dict[str, ValueKind]] = field(default_factory=list)
    _opaque: bool = False

    def __post_init__(self) -> None:
        self.values = KindInference(self.module, self._kind)
        self._rules = CallRules(self.module, self.values, self.container, self.changed_arguments)

    def visit(self, node: ast.expr | None, mod_ref: ModRef, use: UseContext = UseContext.ESCAPES) -> None:
        """An expression to whose value ``mod_ref`` is done; ``use`` applies if it is a bare name."""
        match node:
            case None | ast.Constant():
                return
            case ast.Name():
                self._leaf(AccessedChain(node, 0, mod_ref, WrapKind.EXPRESSION, node), use)
            case ast.Lambda():
                self._lambda(node, mod_ref)
            case ast.Attribute():
                self._attribute(node, mod_ref)
            case ast.Subscript():
                changed = mod_ref is ModRef.MOD
                self._subscript(node, mod_ref, WrapKind.CHANGED_ROWS if changed else WrapKind.ROWS)
            case ast.Call():
                self._call(node, mod_ref)
            case _:
                self._operators(node, mod_ref, use)

    def test(self, node: ast.expr) -> None:
        """An expression that is tested for truth: its operands are not arrays, but a bare name may be."""
        self.visit(node, ModRef.REF, _unless_bare(node, UseContext.SCALAR))

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
                self.visit(value, ModRef.NONE, UseContext.DECOMPOSED)
            case ast.Subscript():
                self._subscript(target, ModRef.MOD, WrapKind.ROWS)
            case ast.Attribute(value=value, attr=attr):
                data = attr in self.owned and attr not in METADATA  # setting metadata changes an array
                self.visit(value, ModRef.NONE if data else ModRef.MOD, UseContext.DECOMPOSED)

    def update(self, target: ast.expr) -> None:
        """The target of an augmented assignment, which may change its object in place."""
        if isinstance(target, ast.Name):
            self._leaf(AccessedChain(target, 0, ModRef.MOD, WrapKind.BEFORE, target), UseContext.FREE)
        elif isinstance(target, ast.Subscript):
            self._subscript(target, ModRef.MOD, WrapKind.CHANGED_ROWS)
        elif not self._chain(target, ModRef.MOD, WrapKind.BEFORE, target):
            self.store(target)

    def capture(self, scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef) -> None:
        """The names that a function or class takes from around it; how and when it uses them is not known."""
        for name in free_names(scope):
            self.uses.setdefault(name, set()).add(UseContext.ESCAPES)

    @contextmanager
    def bound(self, names: dict[str, ValueKind]) -> Iterator[None]:
        """Code that has these names of its own."""
        self._local.append(names)
        yield
        self._local.pop()

    @contextmanager
    def opaque(self) -> Iterator[None]:
        """The body of a class, which has its own names."""
        before, self._opaque = self._opaque, True
        yield
        self._opaque = before

    def _kind(self, name: str) -> ValueKind:
        for table in reversed(self._local):
            if name in table:
                return table[name]
        return ValueKind.OTHER if self._opaque and not self.module.builtin(name) else self.names(name)

    def _is_local(self, name: str) -> bool:
        return self._opaque or any(name in table for table in self._local)

    def _leaf(self, chain: AccessedChain, use: UseContext) -> None:
        anchor = chain.anchor
        assert isinstance(anchor, ast.Name)
        if not self._is_local(anchor.id):
            self.uses.setdefault(anchor.id, set()).add(use if chain.levels == 0 else UseContext.DECOMPOSED)
        if chain.mod_ref is not ModRef.NONE and not self._is_plain(anchor, chain.levels):
            self.accessed.append(chain)

    def _is_plain(self, anchor: ast.Name, levels: int) -> bool:
        """Whether nothing that stays on the ranks is reached from the chain."""
        if anchor.id in self.module.imports:
            return levels == 0 and is_library(self.module.imports[anchor.id])
        kind = self._kind(anchor.id)
        return kind is ValueKind.SCALAR or (kind is ValueKind.FRESH and levels == 0)

    def _lambda(self, node: ast.Lambda, mod_ref: ModRef) -> None:
        for default in (*node.args.defaults, *node.args.kw_defaults):
            self.visit(default, ModRef.NONE)
        self.capture(node)
        if mod_ref is not ModRef.NONE:
            self.accessed.append(AccessedChain(node, 0, ModRef.MOD, WrapKind.EXPRESSION, node))

    def _attribute(self, node: ast.Attribute, mod_ref: ModRef) -> None:
        hidden = self.module.implicit_calls
        if node.attr in METADATA and node.attr not in hidden.properties | hidden.callable_attributes:
            use = UseContext.FREE if isinstance(node.value, ast.Name) else UseContext.DECOMPOSED
            self.visit(node.value, ModRef.NONE, use)
            return
        if not self._chain(node, mod_ref, WrapKind.EXPRESSION, node):
            self.visit(node.value, max(mod_ref, ModRef.REF), UseContext.DECOMPOSED)

    def _chain(self, node: ast.expr, mod_ref: ModRef, wrap_kind: WrapKind, shown: ast.expr) -> bool:
        """Touch a chain of names as a whole; False if it is not a chain, or if part of it runs code."""
        levels, root = 0, node
        while isinstance(root, ast.Attribute):
            if root.attr not in self.owned and not full_name(root, self.module):
                return False
            root, levels = root.value, levels + 1
        if not isinstance(root, ast.Name):
            return False
        full = full_name(node, self.module)
        if not (full and is_library(full)):
            self._leaf(AccessedChain(root, levels, mod_ref, wrap_kind, shown), UseContext.DECOMPOSED)
        return True

    def _subscript(self, node: ast.Subscript, mod_ref: ModRef, wrap_kind: WrapKind) -> None:
        self._index(node.slice)
        least = mod_ref if self.container(node.value) else max(mod_ref, ModRef.REF)
        if not self._chain(node.value, least, wrap_kind, node):
            self.visit(node.value, least, UseContext.DECOMPOSED)

    def _index(self, index: ast.expr) -> None:
        for part in index.elts if isinstance(index, ast.Tuple) else [index]:
            self.visit(part, ModRef.REF, UseContext.SCALAR if _is_count(part) else UseContext.VALUE)

    def _call(self, node: ast.Call, mod_ref: ModRef) -> None:
        if self._is_super(node):
            anchor = node.func
            assert isinstance(anchor, ast.Name)
            if mod_ref is not ModRef.NONE:
                self.accessed.append(AccessedChain(anchor, 1, mod_ref, WrapKind.EXPRESSION, node))
            return
        counting = full_name(node.func, self.module) in ("builtins.range", "builtins.round")
        handling = self._rules.mod_ref(node, mod_ref)
        self._callee(node.func, handling.callee)
        for argument in handling.arguments:
            inner = argument.node
            while isinstance(inner, ast.Starred):
                inner = inner.value
            least = max(argument.mod_ref, ModRef.REF) if inner is not argument.node else argument.mod_ref
            use = UseContext.SCALAR if counting else UseContext.VALUE
            use = UseContext.FREE if argument.mod_ref is ModRef.NONE else use
            self.visit(inner, least, UseContext.ESCAPES if argument.escapes else use)
        if handling.unseen:
            self.unseen.append((" ".join(ast.unparse(node.func).split()), node))

    def _callee(self, func: ast.expr, mod_ref: ModRef) -> None:
        """The function that is called, or the receiver of a method."""
        name = full_name(func, self.module)
        if isinstance(func, ast.Name) and name.startswith("builtins.") and mod_ref is ModRef.MOD:
            self.accessed.append(AccessedChain(func, 0, mod_ref, WrapKind.EXPRESSION, func))
        elif name or isinstance(func, ast.Name):
            self._chain(func, mod_ref, WrapKind.EXPRESSION, func)
        elif isinstance(func, ast.Attribute):
            looks = mod_ref is ModRef.REF and func.attr in READING
            self.visit(func.value, mod_ref, UseContext.VALUE if looks else UseContext.DECOMPOSED)
        else:
            self.visit(func, mod_ref, UseContext.DECOMPOSED)

    def _is_super(self, node: ast.Call) -> bool:
        named = isinstance(node.func, ast.Name) and node.func.id == "super"
        return named and not node.args and self.module.builtin("super")

    def _operators(self, node: ast.expr, mod_ref: ModRef, use: UseContext) -> None:
        plain = use if use is UseContext.SCALAR else UseContext.VALUE
        match node:
            case ast.BinOp(left=left, right=right):
                self._each([left, right], ModRef.REF, plain)
            case ast.UnaryOp(operand=operand):
                self.visit(operand, ModRef.REF, _unless_bare(operand, plain))
            case ast.Compare():
                self._compare(node, plain)
            case ast.BoolOp(values=values):
                for value in values[:-1]:
                    kept = use if use is UseContext.SCALAR else UseContext.ESCAPES
                    self.visit(value, max(mod_ref, ModRef.REF), _unless_bare(value, kept))
                self.visit(values[-1], mod_ref, _unless_bare(values[-1], use))
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.test(test)
                self._each([body, orelse], mod_ref, UseContext.ESCAPES if use is UseContext.SCALAR else use)
            case ast.NamedExpr(value=value):
                self.visit(value, mod_ref, UseContext.ESCAPES)
            case ast.Slice(lower=lower, upper=upper, step=step):
                self._each([e for e in (lower, upper, step) if e is not None], ModRef.REF, UseContext.SCALAR)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self._each(parts, mod_ref, use if use is UseContext.SCALAR else UseContext.ESCAPES)
            case ast.Starred(value=value):
                self.visit(value, max(mod_ref, ModRef.REF), UseContext.ESCAPES)
            case ast.Set(elts=parts):
                self._each(parts, max(mod_ref, ModRef.REF), UseContext.ESCAPES)
            case ast.Dict(keys=keys, values=values):
                self._each([k for k in keys if k is not None], ModRef.REF, UseContext.ESCAPES)
                for key, value in zip(keys, values, strict=True):
                    self.visit(value, mod_ref if key is not None else max(mod_ref, ModRef.REF))
            case ast.JoinedStr(values=values):
                self._each(values, ModRef.REF, UseContext.VALUE)
            case ast.FormattedValue(value=value, format_spec=spec):
                self.visit(value, ModRef.REF, UseContext.VALUE)
                self.visit(spec, ModRef.REF, UseContext.SCALAR)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self._comprehension(node, mod_ref)
            case _:  # an expression that this version of the compiler does not know
                for child in ast.iter_child_nodes(node):
                    if isinstance(child, ast.expr):
                        self.visit(child, ModRef.MOD)

    def _each(self, nodes: list[ast.expr], mod_ref: ModRef, use: UseContext) -> None:
        for node in nodes:
            self.visit(node, mod_ref, use)

    def _compare(self, node: ast.Compare, use: UseContext) -> None:
        operands = [node.left, *node.comparators]
        if all(isinstance(op, ast.Is | ast.IsNot) for op in node.ops):
            self._each(operands, ModRef.NONE, UseContext.FREE)
            return
        ordered = all(isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE) for op in node.ops)
        equal = all(isinstance(op, ast.Eq | ast.NotEq) for op in node.ops)
        known = ordered or (equal and any(self.values.kind(n) is ValueKind.SCALAR for n in operands))
        self._each(operands, ModRef.REF, use if known else UseContext.VALUE)

    def _comprehension(self, node: _COMPREHENSIONS, mod_ref: ModRef) -> None:
        table: dict[str, ValueKind] = {}
        for number, generator in enumerate(node.generators):
            self.visit(generator.iter, max(mod_ref, ModRef.REF), UseContext.DECOMPOSED)
            if number == 0:
                self._local.append(table)
            table |= dict(_bound(generator.target, self.values.element(generator.iter)))
            self.store(generator.target)
            for condition in generator.ifs:
                self.test(condition)
        if isinstance(node, ast.DictComp):
            self._each([node.key], ModRef.REF, UseContext.ESCAPES)
            self.visit(node.value, mod_ref)
        else:
            least = max(mod_ref, ModRef.REF) if isinstance(node, ast.SetComp) else mod_ref
            self.visit(node.elt, least)
        self._local.pop()


def _unless_bare(node: ast.expr, use: UseContext) -> UseContext:
    """The use of a part of a test; a bare name there need not be a scalar."""
    return UseContext.VALUE if isinstance(node, ast.Name) and use is UseContext.SCALAR else use


def _is_count(node: ast.expr) -> bool:
    """Whether a subscript is clearly a number, not an array of numbers."""
    whole = isinstance(node, ast.BinOp) and isinstance(node.op, ast.FloorDiv | ast.Mod)
    return whole or isinstance(node, ast.Slice)


def _bound(target: ast.expr, element: Element) -> Iterator[tuple[str, ValueKind]]:
    """The names of a comprehension's target."""
    match target:
        case ast.Name(id=name):
            yield name, element if isinstance(element, ValueKind) else ValueKind.OTHER
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for number, part in enumerate(parts):
                yield from _bound(part, part_of(element, number))
        case ast.Starred(value=ast.Name(id=name)):
            yield name, ValueKind.OTHER
