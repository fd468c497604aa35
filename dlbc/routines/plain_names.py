"""The names in a routine that hold no array of a parallel loop, so that the code uses them as they are.

Theory: a greatest fixpoint. All names are taken for plain until there is evidence against it: a binding, in
the routine or before it, whose value may be anything; a use that only an array allows; a value that is new
where it is bound, but escapes. Names that the module declares `global` or `nonlocal` anywhere, and
parameters, may be bound to anything. The bindings of names that come from elsewhere (parameters, globals)
need not be seen: if the routine uses such a name as a number or text, the runtime checks its value once, when
the routine begins.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence

from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.enclosing_statements import maybe_unbound
from dlbc.analysis.names import BUILTINS, Functions, full_name
from dlbc.analysis.uses import every_node, own_nodes, parameters_of
from dlbc.ir.loop import AnnotatedRoutine, Scope
from dlbc.ir.region import ModuleNames
from dlbc.library.table import is_library, lookup
from dlbc.routines.mod_ref_calls import ArgumentOnlyFunctions
from dlbc.routines.mod_ref_expressions import ExpressionModRef, UseContext
from dlbc.routines.mod_ref_statements import StatementModRef
from dlbc.routines.value_kinds import Bindings, KindInference, ValueKind

#: Methods with which reading or setting an attribute runs code of the program.
_ACCESSORS = frozenset(
    f"__{verb}__" for verb in ["getattr", "getattribute", "get", "set", "setattr", "delattr", "delete"]
)
#: Builtins that may bind any name.
_BINDERS = frozenset({"exec", "eval", "globals", "locals", "vars"})
_Table = dict[str, ValueKind]


def bindings_in(nodes: Iterable[ast.AST], module: ModuleNames) -> Bindings:
    """The bindings by nodes of one scope, each node by itself."""
    bindings = Bindings()
    for node in nodes:
        _bind(node, bindings, module)
    return bindings


def _bind(node: ast.AST, found: Bindings, module: ModuleNames) -> None:
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                found.assign(target, value)
        case (
            ast.AnnAssign(target=target, value=ast.expr() as value)
            | ast.NamedExpr(target=target, value=value)
        ):
            found.assign(target, value)
        case ast.AugAssign(target=ast.Name(id=name), op=op, value=value):
            result = ast.BinOp(ast.Name(name, ast.Load()), op, value)
            found.add(name, lambda values: values.kind(result))
        case ast.For(target=target, iter=iterable) | ast.AsyncFor(target=target, iter=iterable):
            found.spread(target, lambda values: values.element(iterable))
        case ast.withitem(context_expr=given, optional_vars=ast.expr() as target):
            found.spread(target, lambda values: values.kind(given))
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            for alias in names:
                name = (alias.asname or alias.name).split(".")[0]
                known = name in module.imports and is_library(module.imports[name])
                found.add(name, lambda _, known=known: ValueKind.SCALAR if known else ValueKind.OTHER)  # type: ignore[misc]
        case ast.Delete() | ast.Global() | ast.Nonlocal():
            pass
        case _:
            for name in _named_by(node):
                found.add(name, lambda _: ValueKind.OTHER)


def _named_by(node: ast.AST) -> Iterable[str]:
    """Names that a node binds to values that are not examined: functions, classes, exceptions, patterns."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name


def settled(
    bindings: Bindings,
    names: Iterable[str],
    start: Mapping[str, ValueKind],
    values: Callable[[dict[str, ValueKind]], KindInference],
) -> dict[str, ValueKind]:
    """The least kinds of names that agree with their bindings and are not below those at ``start``.

    ``values`` makes the rules that use a table of kinds. Kinds only grow, so the iteration ends.
    """
    table = {name: start.get(name, ValueKind.SCALAR) for name in names}
    rules = values(table)
    changed = True
    while changed:
        changed = False
        for name, kind in table.items():
            grown = max(kind, bindings.kind(name, rules))
            if grown is not kind:
                table[name], changed = grown, True
    return table


def container_names(nodes: Iterable[ast.AST], module: ModuleNames) -> tuple[frozenset[str], frozenset[str]]:
    """Names, and attributes, that are only bound to new lists, dictionaries, sets and deques."""
    stored: list[ast.Name | ast.Attribute] = []
    filled: set[ast.AST] = set()
    others: set[str] = set()
    for node in nodes:
        match node:
            case ast.Assign(targets=targets, value=value) if _is_container(value, module):
                filled |= set(targets)
            case ast.AnnAssign(target=target, value=value) if _is_container(value, module):
                filled.add(target)
            case ast.Name(ctx=ast.Store() | ast.Del()) | ast.Attribute(ctx=ast.Store() | ast.Del()):
                stored.append(node)
            case ast.arg(arg=name):
                others.add(name)
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                others |= set(names)
        others |= set(_named_by(node))
    others |= {n.id for n in stored if isinstance(n, ast.Name) and n not in filled}
    attributes = {n.attr for n in stored if isinstance(n, ast.Attribute) and n not in filled}
    return (
        frozenset(n.id for n in stored if isinstance(n, ast.Name)) - others,
        frozenset(n.attr for n in stored if isinstance(n, ast.Attribute)) - attributes,
    )


def _is_container(node: ast.expr | None, module: ModuleNames) -> bool:
    match node:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=func):
            return lookup(full_name(func, module)).container
    return False


class RoutineNames:
    """The kinds of the names of one outermost routine.

    ``parallel`` are all parallel loops of the module, ``arrays`` the names that the parallel loops of the
    routine use as arrays. ``plain`` are the names whose values the runtime has to check, in order.
    """

    def __init__(
        self,
        routine: AnnotatedRoutine,
        tree: ast.Module,
        module: ModuleNames,
        summaries: FunctionSummaries,
        parallel: frozenset[ast.AST],
        arrays: frozenset[str],
    ) -> None:
        self._routine, self._module, self._parallel = routine, module, parallel
        names = {n.id for n in every_node(tree) if isinstance(n, ast.Name)}
        self._blurred = any(name in names and module.builtin(name) for name in _BINDERS)
        self._outer: list[_Table] = []
        if not isinstance(routine.scope, ast.Module):
            self._outer.append(self._scope_table(tree))
            for node in routine.path:
                if isinstance(node, Functions) and node is not routine.scope:
                    self._outer.append(self._scope_table(node))
        scope = routine.scope
        self._body: list[ast.stmt] = [] if isinstance(scope, ast.Lambda) else list(scope.body)
        own, inner = tuple(own_nodes(self._body)), set(own_nodes([routine.node]))
        self._inside = bindings_in((n for n in own if n in inner), module)
        self._table = self._scope_table(scope)
        self._closed = ArgumentOnlyFunctions(module, summaries, self._of_module)
        self._containers = self._find_containers(own, tree)
        accessors = _ACCESSORS & module.methods.keys()
        data = module.implicit_calls.callable_attributes | module.methods.keys()
        self._owned = frozenset() if accessors else data - module.implicit_calls.properties
        outside = bindings_in((n for n in own if n not in inner), module)
        rules = KindInference(module, self.kind)
        self._entry = {n: outside.kind(n, rules) for n in self._table}
        for name in _parameters(scope):
            self._entry[name] = ValueKind.OTHER
        self._spoiled = set(arrays | module.declared)
        if self._blurred and isinstance(scope, ast.Module):
            self._spoiled |= self._table.keys()
        self._given: set[str] = set()
        self._settle()
        order = dict.fromkeys(n.id for n in own_nodes([routine.node]) if isinstance(n, ast.Name))
        self.plain = tuple(n for n in order if n in self._given)

    def kind(self, name: str) -> ValueKind:
        """The kind of the name's value while the routine runs."""
        if name in self._table:
            return self._table[name]
        if name in getattr(self, "_given", ()):
            return ValueKind.SCALAR
        return self._around(name, self._outer)

    def walk(self) -> ExpressionModRef:
        """A walk over expressions that uses these kinds."""
        names, attributes = self._containers

        def container(node: ast.expr) -> bool:
            if isinstance(node, ast.Attribute):
                return node.attr in attributes
            return isinstance(node, ast.Name) and node.id in names

        return ExpressionModRef(
            self._module, self.kind, self._owned, container, self._closed.changed_arguments
        )

    def _around(self, name: str, tables: Sequence[_Table]) -> ValueKind:
        """The kind of a name in the innermost scope that binds it; other code may hold a value new there."""
        for table in reversed(tables):
            if name in table:
                return ValueKind.SCALAR if table[name] is ValueKind.SCALAR else ValueKind.OTHER
        dunder = name.startswith("__") and name.endswith("__")
        known = dunder or (name in BUILTINS and self._module.builtin(name))
        return ValueKind.SCALAR if known else ValueKind.OTHER

    def _of_module(self, name: str) -> ValueKind:
        return self._around(name, self._outer[:1] or [self._table])

    def _scope_table(self, scope: Scope) -> _Table:
        """The kinds of a scope's names, whatever binds them there."""
        body = [scope.body] if isinstance(scope, ast.Lambda) else scope.body
        bindings = bindings_in(own_nodes(body), self._module)
        unseen = {*_parameters(scope), *self._module.declared}
        names = bindings.names() | unseen.difference(self._module.declared)
        blurred = self._blurred and isinstance(scope, ast.Module)
        start = {n: ValueKind.OTHER for n in names if n in unseen or blurred}
        return settled(bindings, names, start, self._rules)

    def _rules(self, table: _Table) -> KindInference:
        outer = tuple(self._outer)
        return KindInference(
            self._module, lambda name: table[name] if name in table else self._around(name, outer)
        )

    def _find_containers(
        self, own: Iterable[ast.AST], tree: ast.Module
    ) -> tuple[frozenset[str], frozenset[str]]:
        module = self._module
        names, _ = container_names(own, module)
        _, attributes = container_names(every_node(tree), module)
        taken = module.implicit_calls.properties | module.methods.keys()
        return names - module.declared - frozenset(_parameters(self._routine.scope)), attributes - taken

    def _settle(self) -> None:
        """Withdraw every assumption that evidence contradicts, until none is contradicted."""
        self._given = {n for n in self._loaded() if self._may_be_given(n)}
        while True:
            before = self._table
            self._table = self._settled_table()
            self._closed.forget()  # its results depend on the kinds of names
            uses, everywhere = self._uses()
            refused = {n for n in self._given if not self._as_plain(n, uses.get(n, set()))}
            lost = {n for n in self._table if self._escapes(n, everywhere.get(n, set()))}
            if not refused and lost <= self._spoiled and self._table == before:
                return
            self._given -= refused
            self._spoiled |= lost

    def _settled_table(self) -> _Table:
        start = {}
        for name in self._table:
            entry = ValueKind.SCALAR if name in self._given else self._entry.get(name, ValueKind.SCALAR)
            known = entry is ValueKind.SCALAR and name not in self._spoiled
            start[name] = ValueKind.SCALAR if known else ValueKind.OTHER
        return settled(self._inside, self._table, start, self._rules)

    def _loaded(self) -> set[str]:
        nodes = own_nodes([self._routine.node])
        return {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}

    def _may_be_given(self, name: str) -> bool:
        """Whether the runtime may find that the unknown value of a name is plain."""
        module = self._module
        code = name in module.functions or name in module.classes or name in module.imports
        blurred = self._blurred and (name not in self._table or isinstance(self._routine.scope, ast.Module))
        if code or name in self._spoiled or blurred:
            return False
        if name in self._table:
            entry = self._entry.get(name, ValueKind.SCALAR)
            return entry is not ValueKind.SCALAR and not maybe_unbound(name, self._routine)
        return self._around(name, self._outer) is not ValueKind.SCALAR and name in _all_names(self._outer)

    def _as_plain(self, name: str, uses: set[UseContext]) -> bool:
        known = name not in self._table or self._table[name] is not ValueKind.OTHER
        return known and UseContext.SCALAR in uses and UseContext.DECOMPOSED not in uses

    def _escapes(self, name: str, uses: set[UseContext]) -> bool:
        """Whether a new value may become part of something else."""
        if self._table[name] is not ValueKind.FRESH:
            return False
        flows = self._inside.flows.get(name, set())
        return bool(uses & {UseContext.ESCAPES, UseContext.DECOMPOSED}) or any(
            self._table.get(n, ValueKind.OTHER) is ValueKind.OTHER for n in flows
        )

    def _uses(self) -> tuple[dict[str, set[UseContext]], dict[str, set[UseContext]]]:
        """How names are used in the sequential code of the routine, and in all of its scope."""
        walk = self.walk()
        StatementModRef(walk, self._parallel).routine(self._routine.node)
        every = self.walk()
        StatementModRef(every, self._parallel).block(self._body)
        for loop in self._parallel & set(own_nodes(self._body)):
            assert isinstance(loop, ast.For)
            StatementModRef(every, frozenset()).block(loop.body)
        return walk.uses, every.uses


def _parameters(scope: Scope) -> tuple[str, ...]:
    given = () if isinstance(scope, ast.Module | ast.ClassDef) else parameters_of(scope)
    return tuple(p.arg for p in given)


def _all_names(tables: Sequence[_Table]) -> frozenset[str]:
    return frozenset(name for table in tables for name in table)
