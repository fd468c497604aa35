"""Evaluate expressions to abstract values: the points-to part of `walk_code`.

Evaluating an expression also records its accesses, changes and calls. The values of names, and why repeating
the walk ends, stand in `environment`.
"""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Iterable
from contextlib import ExitStack
from functools import reduce
from itertools import pairwise
from operator import or_

from dlbc.analysis.cached_results import keeps_results
from dlbc.analysis.callees import callbacks_of
from dlbc.analysis.environment import CLOSURE, DEEPEST, UNKNOWN, ChainEvaluator, without_closures
from dlbc.analysis.operator_methods import may_give_operand
from dlbc.analysis.uses import (
    UseKind,
    bound_names,
    children_of,
    free_names,
    is_super,
    object_of_super,
    parameters_of,
    root_name,
    unparsed,
    uses_of,
)
from dlbc.ir.access import FRESH, AbstractValue, CallSite, Origin, OriginKind, RegionFacts
from dlbc.ir.region import Expansion, FunctionNode
from dlbc.library.python import RANDOM_PACKAGES
from dlbc.library.row import Back, Key, Reads, ResultKind
from dlbc.library.table import given_back, is_place_for_result, is_pure, lookup

#: Arguments of `astype` before its argument `copy`.
_ASTYPE_INPUTS = 4

#: Arguments of containers that do not become part of the contents.
_HOLDER_OPTIONS = frozenset({"key", "default_factory", "reverse", "maxlen"})


class ExpressionEvaluator(ChainEvaluator):
    """Values of expressions in one region."""

    @abstractmethod
    def _statement(self, node: ast.stmt) -> None:
        """Walk one statement."""

    @abstractmethod
    def _assign(self, target: ast.expr, value: AbstractValue, source: ast.expr | None) -> None:
        """Bind or store ``value``, the value of ``source`` if that is given."""

    def _closure(self, node: FunctionNode | ast.ClassDef) -> AbstractValue:
        body: list[ast.AST] = [node.body] if isinstance(node, ast.Lambda) else list(node.body)
        names = dict.fromkeys(bound_names(body), FRESH)
        if not isinstance(node, ast.ClassDef):
            names |= {p.arg: AbstractValue(UNKNOWN, UNKNOWN) for p in parameters_of(node)}
        with self._scope(node, names, frozenset()), self._elsewhere():
            results, self._facts.results = self._facts.results, []
            for part in body:
                self._value(part) if isinstance(part, ast.expr) else self._statement(part)  # type: ignore[arg-type]
            self._facts.results = results
        captures = any(self._lookup(name) is not None for name in free_names(node))
        return AbstractValue(CLOSURE, frozenset()) if captures else FRESH

    def _property(self, node: ast.Attribute) -> AbstractValue:
        if node in self._region.expansions:
            return self._expanded(self._region.expansions[node])
        return self._runs_method(node.value, self._value(node.value), node.attr)

    def _runs_method(self, node: ast.AST, receiver: AbstractValue, method: str) -> AbstractValue:
        """A method that runs without being called; recorded as a call if the module has such a method."""
        if method not in self._region.module.methods:
            return FRESH
        function = ast.Attribute(node, method, ast.Load())  # type: ignore[arg-type]  # for its place alone
        call = ast.Call(ast.copy_location(function, node), [], [])
        self._facts.calls.append(CallSite(f".{method}", ast.copy_location(call, node), receiver, ()))
        return self._result(f".{method}", receiver, [], call)

    def _items(self, node: ast.expr) -> AbstractValue:
        """The items that iterating the object gives."""
        value = self._value(node)
        made = self._runs_method(node, value, "__iter__") | self._runs_method(node, value, "__next__")
        return (value | made).element

    def _quietly(self, node: ast.expr) -> AbstractValue:
        facts, self._facts = self._facts, RegionFacts()
        value = self._value(node)
        self._facts = facts
        return value

    def _union(self, nodes: Iterable[ast.expr | None]) -> AbstractValue:
        value = FRESH
        for node in nodes:
            value |= self._value(node)
        return value

    def _value(self, node: ast.AST | None) -> AbstractValue:
        match node:
            case None | ast.Constant() | ast.Slice(lower=None, upper=None, step=None):
                return FRESH
            case ast.Name() | ast.Attribute() | ast.Subscript():
                return self._chain(node)
            case ast.Call():
                return self._call(node)
            case ast.BoolOp():
                return self._short(node)
            case ast.IfExp(test=test, body=body, orelse=other):
                self._value(test)
                with self._unsure():
                    with self._branch(test):
                        value = self._value(body)
                    with self._branch(test, holds=False):
                        return value | self._value(other)
            case ast.BinOp(left=left, op=ast.Mult(), right=right) if self._repeats(left, right):
                self._union([left, right])
                items = self._quietly(left if isinstance(left, ast.List) else right)
                return AbstractValue(frozenset(), items.reachable, items.has_mutable_items)
            case ast.BinOp() | ast.UnaryOp() | ast.Compare() if may_give_operand(node, self._region.module):
                given = self._union(n for n in children_of(node) if isinstance(n, ast.expr))
                return given | given.element
            case ast.BinOp(left=left, right=right):
                both = self._union([left, right])
                return AbstractValue(frozenset(), both.reachable, both.has_mutable_items)
            case ast.UnaryOp() | ast.Compare() | ast.JoinedStr() | ast.FormattedValue() | ast.Slice():
                self._union(n for n in children_of(node) if isinstance(n, ast.expr))
                return FRESH
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._union(parts).contained
            case ast.Dict(keys=keys, values=values):
                return self._union([*keys, *values]).contained
            case ast.Starred(value=inner):
                return self._value(inner).element
            case ast.NamedExpr(target=target, value=inner):
                value = self._value(inner)
                self._assign(target, value, inner)
                return value
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node)
            case ast.Lambda():
                self._union([*node.args.defaults, *node.args.kw_defaults])
                return self._closure(node)
            case ast.expr():
                self._union(n for n in children_of(node) if isinstance(n, ast.expr))
                return AbstractValue(UNKNOWN, UNKNOWN)
        return FRESH

    def _repeats(self, left: ast.expr, right: ast.expr) -> bool:
        """Whether a product repeats a list (``[0.0] * n``): its items come from the list alone.

        An array in the place of n gives products, which are new.
        """
        shown = isinstance(left, ast.List) or isinstance(right, ast.List)
        return shown and {"__mul__", "__rmul__"}.isdisjoint(self._region.module.methods)

    def _short(self, node: ast.BoolOp) -> AbstractValue:
        """``and``, ``or``: an operand is evaluated where all operands before it are true (false)."""
        value = self._value(node.values[0])
        with self._unsure(), ExitStack() as stack:
            for before, operand in pairwise(node.values):
                stack.enter_context(self._branch(before, holds=isinstance(node.op, ast.And)))
                value |= self._value(operand)
        return value

    def _comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> AbstractValue:
        items = self._items(node.generators[0].iter)
        own = {u.name: FRESH for g in node.generators for u in uses_of(g.target) if u.kind is UseKind.STORE}
        counted = [g.target for g in node.generators if self._subscripts.counts(g.iter)]
        integers = frozenset(target.id for target in counted if isinstance(target, ast.Name))
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        inner_loop = self._binder(node, node.generators[0].target, node.generators[0].iter)
        with self._scope(node, own, integers), ExitStack() as stack:
            if isinstance(node, ast.GeneratorExp):
                self._seen.add(node)
                later = self._branch(None) if node in self._read_at_once else self._elsewhere()
                stack.enter_context(later)  # the generator may not be read to its end
            for position, generator in enumerate(node.generators):
                if position:
                    items = self._items(generator.iter)
                    inner_loop = self._binder(generator, generator.target, generator.iter)
                self._assign(generator.target, items, None)
                self._counts_through(inner_loop)
                for test in generator.ifs:
                    self._value(test)
                    stack.enter_context(self._branch(test))
            value = self._union(parts).contained
        if isinstance(node, ast.GeneratorExp) and any(
            u.kind is UseKind.LOAD and self._lookup(u.name) is not None for u in uses_of(node)
        ):
            return AbstractValue(CLOSURE, value.reachable, value.has_mutable_items)
        return value

    def _function(self, node: ast.expr, depth: int = 0) -> tuple[str, AbstractValue | None]:
        """The function that is called: its dotted name and, for a method, its receiver."""
        root = root_name(node)
        module = self._region.module
        if root is not None and root in module.imports and root not in self._hidden:
            return self._dotted(unparsed(node)), None
        if isinstance(node, ast.Attribute):
            return "." + node.attr, self._value(node.value)
        if not isinstance(node, ast.Name):
            return "", self._value(node)
        alias = module.aliases.get(node.id)
        named = alias is not None and root_name(alias) is not None
        if alias is not None and named and depth < DEEPEST:
            return self._function(alias, depth + 1)
        if isinstance(alias, ast.Attribute) and not named:  # draw = default_rng(1).random
            return f".{alias.attr}", self._value(node)
        if self._lookup(node.id) is not None:
            return "", None
        if lookup(f"builtins.{node.id}").effect is not None and node.id not in module.functions:
            return f"builtins.{node.id}", None  # even if another scope hides it: it is refused
        if node.id in module.constant or self._builtin(node.id):
            return self._dotted(node.id), None
        return node.id, self._value(node)

    def _expanded(self, expansion: Expansion) -> AbstractValue:
        """The value of a call whose statements are walked in its place."""
        results, self._facts.results = self._facts.results, []
        around = self._domain
        with self._unsure():
            for statement in expansion.body:
                self._statement(statement)
                self._passed(statement)
        self._domain = around
        given, self._facts.results = self._facts.results, results
        return reduce(or_, given, FRESH)

    def _call(self, node: ast.Call) -> AbstractValue:
        if self._region.receiver and is_super(node):
            return self._value(object_of_super(node, self._region.receiver))
        if node in self._region.expansions:
            return self._expanded(self._region.expansions[node])
        function, receiver = self._function(node.func)
        row = lookup(function)
        if row.exhausts or function.endswith(".join"):
            for given in node.args:
                if isinstance(given, ast.GeneratorExp) and given not in self._read_at_once:
                    self._read_at_once.add(given)
                    self._grows(given)
        form = row.reads is Reads.FORM and "__len__" not in self._region.module.methods
        look = self._form if form else self._value
        arguments: list[tuple[Key, AbstractValue, ast.expr]] = []
        arguments += ((position, look(argument), argument) for position, argument in enumerate(node.args))
        arguments += ((k.arg or "**", self._value(k.value), k.value) for k in node.keywords)
        self._facts.calls.append(CallSite(function, node, receiver, tuple(arguments)))
        if row.fills and isinstance(node.func, ast.Attribute):
            for _, value, _ in arguments:
                self._put_into(node.func.value, value)
        return self._result(function, receiver, arguments, node)

    def _form(self, node: ast.expr) -> AbstractValue:
        """An argument whose shape is asked for, not its data: a bare shared name is not read."""
        name, brackets, _ = self._path(node)
        return self._chain(node, read=False) if name and not brackets else self._value(node)

    def _gives(self, function: ast.expr) -> AbstractValue:
        """What a function passed as a value may give, apart from its arguments."""
        facts, self._facts = self._facts, RegionFacts()
        if isinstance(function, ast.Lambda):
            names = dict.fromkeys((p.arg for p in parameters_of(function)), FRESH)
            with self._scope(function.args, names, frozenset()):
                value = self._value(function.body)
        else:
            value = FRESH if self._is_known(function) else AbstractValue(UNKNOWN, UNKNOWN)
        self._facts = facts
        return value

    def _is_known(self, function: ast.expr) -> bool:
        """Whether a function gives something new, or what its arguments hold, which are passed on as well."""
        if isinstance(function, ast.Call):
            name = self._function(function.func)[0]
            return is_pure(name) and name != "functools.partial"
        name, _ = self._function(function)
        module_names = self._region.module
        if name.startswith("."):
            return lookup(name).known and name[1:] not in module_names.methods
        own = name in self._region.fresh | self._region.returns_argument_parts or name in module_names.classes
        return own or isinstance(function, ast.Constant) or is_pure(name)

    def _is_list(self, method: ast.expr) -> bool:
        """Whether the receiver of a method may be a list whose items can be changed in place."""
        held = method.value if isinstance(method, ast.Attribute) else method
        name = held.attr if isinstance(held, ast.Attribute) else getattr(held, "id", "")
        return name in self._region.module.object_containers or not name.isidentifier()

    def _result(
        self,
        function: str,
        receiver: AbstractValue | None,
        arguments: list[tuple[Key, AbstractValue, ast.expr]],
        node: ast.Call,
    ) -> AbstractValue:
        given = FRESH
        for key, value, _ in arguments:
            if key not in _HOLDER_OPTIONS:
                given |= value
        row = lookup(function)
        is_method, method = function.startswith("."), function[1:]
        if row.applies:
            for applied in callbacks_of(node, function):
                given |= self._gives(applied)
        if row.result is ResultKind.HOLDER and not is_method:
            return given.contained
        out = [v for k, v, _ in arguments if is_place_for_result(function, k)]
        if out and any(v.points_to or v.reachable for v in out):
            return reduce(or_, (v | v.element for v in out))
        if keeps_results(function, self._region.module):
            kept = frozenset({Origin(OriginKind.SHARED, method if is_method else function, open=False)})
            return AbstractValue(kept | given.points_to, kept | given.reachable)
        if (row.is_new and not is_method) or function in self._region.fresh:
            return FRESH
        back = given_back(function, node)
        if back is not None:
            result = _back(back, {key: value for key, value, _ in arguments})
            return result | given if row.applies else result
        if is_method:
            if function == ".copy" and receiver is not None:
                mutable_items = receiver.has_mutable_items or self._is_list(node.func)
                return AbstractValue(frozenset(), receiver.reachable, mutable_items)
            if row.is_new:
                return FRESH
            of_library = method not in self._region.module.methods
            if row.result is ResultKind.SAME and of_library:
                return receiver or FRESH
            if receiver is not None and not receiver.points_to and row.element and of_library:
                return receiver.element | given  # a part of a new container, or of the arguments
            if function == ".astype" and not node.keywords and len(node.args) <= _ASTYPE_INPUTS:
                return FRESH
        known = is_pure(function) and not function.startswith(RANDOM_PACKAGES)
        if not (known and row.known) or row.is_effective or callbacks_of(node, function):
            self._put_into_pool(given)
        reach = given | (receiver or FRESH)
        reach = reach | reach.element
        if function not in self._region.returns_argument_parts:
            # functions and generators given to a call are taken to be used up in it
            reach = AbstractValue(without_closures(reach.points_to), without_closures(reach.reachable))
        if function in self._region.module.classes:
            return reach.contained
        known = known or function in self._region.returns_argument_parts
        return reach if known else AbstractValue(reach.points_to | UNKNOWN, reach.reachable | UNKNOWN)


def _back(back: Back, arguments: dict[Key, AbstractValue]) -> AbstractValue:
    """A result that a rule describes as parts of the arguments."""
    value = FRESH
    for key, given in arguments.items():
        value |= given if key in back.same else FRESH
        value |= given.element if key in back.views else FRESH
        value |= given.contained if key in back.held else FRESH
    return value
