"""Find contributions of iterations: reductions, recognised or declared, and containers that are added to.

Law: a name or an object receives contributions if every mention of it in the body belongs to an update, and
all updates have one operator (``+`` and ``-`` count as one), so that no iteration sees what others did. If
the body mentions it in any other way, the update is a dependence between iterations, and refused. Where
elements of an object are stored to by subscripts alone, the dependence test decides first.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

from dlbrt.contract import Distribution

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.control_flow import may_repeat
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.updates import Update, resembles_selection, selection_of, update_of
from dlbc.analysis.uses import ScalarFacts, bound_names, every_node, own_nodes, parameters_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import OriginKind, RegionFacts
from dlbc.ir.plan import IterationContributions, OrderedContainer, Reduction
from dlbc.ir.region import CodeRegion

#: Methods that add to a container and return nothing.
_ADDING = frozenset({"append", "extend", "appendleft", "add"})

#: Functions that make dictionaries.
_DICTIONARIES = frozenset({"dict", "defaultdict", "Counter", "OrderedDict"})
_SCOPES = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef)


def find_reductions(
    context: AnalysisContext, facts: RegionFacts, scalars: ScalarFacts
) -> tuple[IterationContributions, tuple[Diagnostic, ...]]:
    """The contributions, and diagnostics for what resembles one and is refused."""
    finder = _Finder(context, scalars)
    bound, elements, ordered = list(finder.bound()), list(finder.elements()), list(finder.ordered())
    finder.closures(facts, ordered)
    finder.declared({r.name for r in (*bound, *elements)})
    maybe_stores = frozenset(finder.maybe_stores(elements, ordered))
    found = IterationContributions(
        reductions=(*bound, *elements),
        ordered=tuple(ordered),
        maybe_stores=maybe_stores,
        arrays=frozenset(o.name for o in ordered if o.name in maybe_stores and finder.is_array(o.name)),
        explained=frozenset(finder.reported | {n for r in bound for n in (r.name, *r.companions)}),
        dictionaries=frozenset(o.name for o in ordered if finder.is_dictionary(o.name)),
        contributing_calls=frozenset(c for parts in _effects(elements, ordered).values() for c in parts),
    )
    return found, tuple(finder.findings)


def _effects(elements: Sequence[Reduction], ordered: Sequence[OrderedContainer]) -> dict[str, list[ast.Call]]:
    """The calls among the contributions to each container."""
    found = {o.name: [e for e in o.effects if isinstance(e, ast.Call)] for o in ordered}
    for reduction in elements:
        values = (u.value for u in reduction.updates if isinstance(u, ast.Expr))
        found[reduction.name] = [v for v in values if isinstance(v, ast.Call)]
    return found


class _Finder:
    def __init__(self, context: AnalysisContext, scalars: ScalarFacts) -> None:
        loop, module = context.loop, context.module
        self._context, self._loop, self._names, self._module = context, loop, context.names, module
        self.findings: list[Diagnostic] = []
        self.reported: set[str] = set()
        self._private = loop.annotation.private_names
        self._any = {n for clause in loop.annotation.reductions if clause.any_order for n in clause.names}
        self._carried = dict.fromkeys(u.name for u in scalars.carried)
        self._mentions = _mentions(loop.node.body)
        self._statements = [n for n in own_nodes(loop.node.body) if isinstance(n, ast.stmt)]
        found = (selection_of(n, module) or update_of(n, module) for n in self._statements)
        self._updates = [u for u in found if u is not None]
        self._subscripts: SubscriptReader | None = None

    def bound(self) -> Iterator[Reduction]:
        for name in self._carried:
            if name in self._names.targets or name in self._private or not self._is_bound_outside(name):
                continue
            updates = [u for u in self._updates if u.name == name and not u.element]
            finding = self._refusal(name, updates)
            if finding is not None:
                self.reported |= {name, *(c for u in updates for c in u.companions)}
                self.findings.append(finding)
            elif updates:
                yield self._reduction(updates)

    def _refusal(self, name: str, updates: Sequence[Update]) -> Diagnostic | None:
        """Why a carried name is no reduction; None where it is one, or does not resemble one."""
        if not updates:
            return self._lookalike(name)
        first = updates[0]
        other = next((u for u in updates if u.family != first.family), None)
        if other is not None:
            note = self._context.note(other.statement, f"by `{_shown(other)}` here")
            return self._report("DLB325", name, first.statement, note, one=_shown(first), other=_shown(other))
        other = next((u for u in updates if u.companions != first.companions), None)
        if other is not None:
            return self._report("DLB326", name, other.statement)
        stray = self._stray(name, updates)
        if stray is not None:
            note = self._context.note(stray, "used here")
            return self._report("DLB324", name, first.statement, note)
        for companion in first.companions:
            stray = self._stray(companion, updates)
            if stray is not None or companion in self._names.targets or companion in self._private:
                note = self._context.note(stray or first.statement, f"`{companion}` is used here")
                return self._report("DLB326", name, first.statement, note)
        return None

    def _lookalike(self, name: str) -> Diagnostic | None:
        for node in self._statements:
            if _updates_otherwise(node, name):
                return self._report("DLB311", name, node)
            if resembles_selection(node, name):
                return self._report("DLB326", name, node)
        return None

    def _report(
        self, code: str, name: str, node: ast.stmt, *notes: RelatedPlace, **fields: str
    ) -> Diagnostic:
        return report(code, self._context.place_of(node), "", notes, name=name, **fields)

    def _stray(self, name: str, updates: Sequence[Update]) -> ast.expr | ast.stmt | None:
        """A mention of the name outside the updates."""
        known = {n for u in updates for n in u.mentions | u.contributing_calls}
        return next((n for n in self._mentions.get(name, ()) if n not in known), None)

    def _is_bound_outside(self, name: str) -> bool:
        """Whether something other than the loop binds the name, so that it has an initial value."""
        scope, inside = self._loop.scope, set(every_node(self._loop.node))
        if isinstance(scope, ast.ClassDef | ast.Lambda):
            return False
        parameters = () if isinstance(scope, ast.Module) else parameters_of(scope)
        nodes = bound_names(scope.body).get(name, [])
        return any(p.arg == name for p in parameters) or any(n not in inside for n in nodes)

    def _reduction(self, updates: Sequence[Update]) -> Reduction:
        first = updates[0]
        operator = max(u.operator for u in updates)  # "-" where any update subtracts
        one_side = len(frozenset[str]().union(*(u.operand_sides for u in updates))) == 1
        combinable = operator != "-" and one_side and not first.element
        return Reduction(
            name=first.name,
            operator=operator,
            updates=tuple(u.statement for u in updates),
            element=first.element,
            multiple_updates=combinable and may_repeat(self._loop.node.body, {u.statement for u in updates}),
            integer=all(self._is_integer(v) for u in updates for v in u.values),
            any_order=first.name in self._any,
            may_insert=first.element and any(_adds_elements(u.statement) for u in updates),
            companions=first.companions,
        )

    def _is_integer(self, node: ast.expr) -> bool:
        if self._subscripts is None:
            own, index = self._names.temporaries, self._names.index
            given = frozenset(self._names.targets) - {index}
            region = CodeRegion(tuple(self._loop.node.body), own, self._module, index, given,
                            integers=self._names.integers)  # fmt: skip
            self._subscripts = SubscriptReader(region)
        return self._subscripts.is_integer(node, {})

    def elements(self) -> Iterator[Reduction]:
        for name in dict.fromkeys(u.name for u in self._updates if u.element):
            updates = [u for u in self._updates if u.name == name]
            alike = all(u.element and u.family == updates[0].family for u in updates)
            if alike and self._shared(name) and self._stray(name, updates) is None:
                yield self._reduction(updates)

    def ordered(self) -> Iterator[OrderedContainer]:
        effects: dict[str, list[tuple[ast.Name, ast.expr | ast.stmt]]] = {}
        for statement in self._statements:
            for name, effect in _additions(statement):
                effects.setdefault(name.id, []).append((name, effect))
        for container, found in effects.items():
            known = {name for name, _ in found}
            if self._shared(container) and known.issuperset(self._mentions[container]):
                yield OrderedContainer(container, tuple(effect for _, effect in found))

    def _shared(self, name: str) -> bool:
        """Whether the name is from outside, and no clause makes its object private or distributed."""
        clauses = (c for c in self._loop.annotation.distributions if c.distribution is not Distribution.WHOLE)
        dealt = {n for clause in clauses for n in clause.arrays}
        return name in self._names.shared and name not in self._private | dealt

    def maybe_stores(
        self, elements: Sequence[Reduction], ordered: Sequence[OrderedContainer]
    ) -> Iterator[str]:
        """Containers that may also be arrays whose rows iterations store to."""
        annotation = self._loop.annotation
        # A `reduction` clause is more specific than `assume_independent`.
        clauses = annotation.reductions if annotation.assume_independent is not None else ()
        declared = {name for clause in clauses for name in clause.names}
        for name, calls in _effects(elements, ordered).items():
            if not calls and name not in declared and not self.is_dictionary(name):
                yield name

    def is_array(self, name: str) -> bool:
        return self._always_made_by(self._makes_array, name)

    def is_dictionary(self, name: str) -> bool:
        return self._always_made_by(_makes_dictionary, name)

    def _makes_array(self, node: ast.expr) -> bool:
        match node:
            case ast.List() | ast.ListComp():
                return True
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return isinstance(left, ast.List) or isinstance(right, ast.List)
        root, _, rest = ast.unparse(node).partition(".")
        return isinstance(node, ast.Call) and bool(rest) and self._module.imports.get(root) == "numpy"

    def _always_made_by(self, makes: Callable[[ast.expr], bool], name: str) -> bool:
        """Whether every binding of the name gives it an object of this kind."""
        places = set(self._names.bindings.get(name, ()))
        for scope in (n for n in reversed(self._loop.path) if isinstance(n, _SCOPES)):
            assigned = (pair for node in own_nodes(scope.body) for pair in _assigned(node))
            if found := places & {target for target, value in assigned if makes(value)}:
                return found == places
        return False

    def closures(self, facts: RegionFacts, ordered: Sequence[OrderedContainer]) -> None:
        """Refuse functions and generators of the body that are put into a container."""
        added = {e for o in ordered for e in o.effects}
        for call in facts.calls:
            if call.node in added:
                for _, value, node in call.arguments:
                    used_up = call.function == ".extend" and isinstance(node, ast.GeneratorExp)
                    origins = value.reachable if used_up else value.points_to | value.reachable
                    if any(o.kind is OriginKind.CLOSURE for o in origins):
                        self.findings.append(report("DLB314", self._context.place_of(node)))

    def declared(self, found: set[str]) -> None:
        """Refuse names of the clause `reduction` that the body does not update as a reduction."""
        for clause in self._loop.annotation.reductions:
            for name in clause.names:
                if name not in found | self.reported:
                    self.reported.add(name)
                    self.findings.append(report("DLB312", clause.place, name=name))


def _mentions(body: Sequence[ast.stmt]) -> dict[str, list[ast.expr | ast.stmt]]:
    """The nodes that mention each name, in nested scopes too."""
    found: dict[str, list[ast.expr | ast.stmt]] = {}
    for node in (n for s in body for n in every_node(s)):
        match node:
            case ast.Name(id=name):
                words = [name]
            case ast.Global(names=words) | ast.Nonlocal(names=words):
                pass
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                words = [(a.asname or a.name).split(".")[0] for a in aliases]
            case _:
                fields = (getattr(node, field, None) for field in ("name", "rest"))
                words = [word for word in fields if isinstance(word, str)]
        for word in words:
            found.setdefault(word, []).append(node)  # type: ignore[arg-type]  # all of these have places
    return found


def _adds_elements(node: ast.stmt) -> bool:
    """Whether an update may add elements: `get` supplies a missing one, a slice of a list may grow."""
    return any(isinstance(n, ast.Slice) or getattr(n, "attr", "") == "get" for n in ast.walk(node))


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment binds, each with its value, as far as the text pairs them."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield target, value
                match target, value:
                    case ast.Tuple(elts=names), ast.Tuple(elts=values):
                        if not any(isinstance(e, ast.Starred) for e in (*names, *values)):
                            yield from zip(names, values, strict=False)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value


def _makes_dictionary(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in _DICTIONARIES
    return isinstance(node, ast.Dict | ast.DictComp)


def _additions(node: ast.stmt) -> Iterator[tuple[ast.Name, ast.expr | ast.stmt]]:
    match node:
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr=method), args=args) as call
        ) if method in _ADDING and len(args) == 1 and not call.keywords:
            if not isinstance(args[0], ast.Starred):
                yield name, call
        case ast.Assign(targets=[ast.Subscript(value=ast.Name() as name)]):
            yield name, node


def _updates_otherwise(node: ast.stmt, name: str) -> bool:
    """Whether the statement makes the name's new value from its old one."""
    match node:
        case ast.AugAssign(target=ast.Name(id=target)):
            return target == name
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.BinOp() | ast.BoolOp() | ast.Call(func=ast.Name(id="min" | "max")) as value,
        ):
            return target == name and any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(value))
    return False


def _shown(update: Update) -> str:
    return f"{update.operator}(...)" if update.operator in ("max", "min") else update.operator
