"""Find contributions of iterations: reductions, recognised or declared, and containers that are added to.

Law: a name, or an object or value at an access path, receives contributions if every mention of it in the
body, and in the calls that are expanded there, belongs to an update, and all updates have one operator (``+``
and ``-`` count as one), so that no iteration sees what others did. If the body mentions it in any other way,
the update is a dependence between iterations, and refused. Where elements of an object are stored to by
subscripts alone, the dependence test decides first. Constant keys of one container may take different
operators: each is then a value of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from dlbrt.contract import Distribution

from dlbc.analysis.container_kinds import ContainerKinds
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.contributions.additions import Addition, additions_of, puts_new
from dlbc.analysis.contributions.mentions import chains_in, mentions_in
from dlbc.analysis.contributions.selections import SELECTING, resembles_selection, selection_of
from dlbc.analysis.contributions.updates import LAST, Update, store_of, update_of
from dlbc.analysis.control_flow import may_repeat
from dlbc.analysis.subscripts import SubscriptReader
from dlbc.analysis.uses import ScalarFacts, bound_names, every_node, own_nodes, parameters_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import OriginKind, RegionFacts
from dlbc.ir.access_path import AccessPath, path_from, path_of, root_of
from dlbc.ir.plan import IterationContributions, OrderedContainer, Reduction
from dlbc.ir.region import CodeRegion, Expansion
from dlbc.library.table import lookup

#: Methods that run where attributes are read or set.
_ATTRIBUTE_HOOKS = frozenset({"__setattr__", "__getattribute__", "__set__"})

#: Methods that read what they are given to its end.
_EXHAUSTING = (".extend", ".extendleft", ".update")

#: Statements that may catch what a contribution raises.
_CATCHING = (ast.Try, ast.TryStar, ast.With, ast.AsyncWith)


def find_reductions(
    context: AnalysisContext, facts: RegionFacts, scalars: ScalarFacts
) -> tuple[IterationContributions, tuple[Diagnostic, ...]]:
    """The contributions, and diagnostics for what resembles one and is refused."""
    finder = _Finder(context, scalars, _followed(context, facts))
    bound, elements, ordered = list(finder.bound()), list(finder.elements()), list(finder.ordered())
    kept = list(finder.at_paths(frozenset(r.name for r in elements)))
    finder.closures(facts, ordered)
    finder.declared({root_of(r.name) for r in (*bound, *elements, *kept)})
    maybe_stores = frozenset(finder.maybe_stores(elements, ordered))
    calls = (call for parts in _effects(elements, ordered).values() for call in parts)
    found = IterationContributions(
        reductions=tuple(sorted((*bound, *elements, *kept), key=lambda r: not r.name.isidentifier())),
        ordered=tuple(sorted(ordered, key=lambda o: (o.by_item, o.grows))),
        maybe_stores=maybe_stores,
        arrays=frozenset(
            o.name
            for o in ordered
            if o.name in maybe_stores and not o.by_item and finder.kinds.is_array(o.name)
        ),
        explained=frozenset(finder.reported | {n for r in bound for n in (r.name, *r.companions)}),
        dictionaries=frozenset(o.name for o in ordered if finder.kinds.is_dictionary(o.name)),
        nodes=frozenset({*finder.nodes, *_with_receivers(calls)}),
        mentions=frozenset(finder.mentions),
        roots=frozenset(finder.roots),
    )
    return found, tuple(finder.findings)


def _effects(elements: Sequence[Reduction], ordered: Sequence[OrderedContainer]) -> dict[str, list[ast.Call]]:
    """The calls among the contributions to each container."""
    found = {o.name: [e for e in o.effects if isinstance(e, ast.Call)] for o in ordered}
    for reduction in elements:
        values = (u.value for u in reduction.updates if isinstance(u, ast.Expr))
        found[reduction.name] = [v for v in values if isinstance(v, ast.Call)]
    return found


def _with_receivers(calls: Iterable[ast.Call]) -> Iterator[ast.AST]:
    """The calls, and those that give the object on which one is made (``d.setdefault(k, []).append(e)``)."""
    for call in calls:
        yield call
        if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Call):
            yield call.func.value


def _followed(context: AnalysisContext, facts: RegionFacts) -> Mapping[ast.AST, Expansion]:
    """The expanded calls in which contributions are looked for.

    None where something may catch exceptions, or where the call may be one of a container's own methods.
    """
    bodies = (context.body, *(e.body for e in facts.expansions.values()))
    catching = any(isinstance(n, _CATCHING) for body in bodies for n in own_nodes(body))
    found_by_name = (e.function for e in facts.expansions.values() if e.by_name)
    doubtful = any(lookup(f".{getattr(function, 'name', '')}").known for function in found_by_name)
    return {} if catching or doubtful else facts.expansions


def _taken_over(expansions: Mapping[ast.AST, Expansion]) -> Iterator[ast.AST]:
    """The names in arguments of expanded calls that stand in place of parameters in the statements."""
    for call, expansion in expansions.items():
        if isinstance(call, ast.Call):
            assigned = {s.value for s in expansion.body if isinstance(s, ast.Assign)}
            given = (*call.args, *(k.value for k in call.keywords))
            yield from (found[1] for n in given if n not in assigned and (found := path_of(n)) is not None)


class _Finder:
    def __init__(
        self, context: AnalysisContext, scalars: ScalarFacts, expansions: Mapping[ast.AST, Expansion]
    ) -> None:
        loop, module = context.loop, context.module
        self._context, self._loop, self._names, self._module = context, loop, context.names, module
        self.kinds = ContainerKinds(context)
        self.findings: list[Diagnostic] = []
        self.reported: set[str] = set()
        self.nodes: set[ast.AST] = set()
        self.mentions: set[ast.AST] = set()
        self.roots: set[ast.AST] = set()
        self._private = loop.annotation.private_names
        self._any = {n for clause in loop.annotation.reductions if clause.any_order for n in clause.names}
        self._carried = dict.fromkeys(u.name for u in scalars.carried)
        self._expansions = expansions
        code = [*loop.node.body, *(s for e in expansions.values() for s in e.body)]
        self._mentions = mentions_in(code)
        self._chains = chains_in(code)
        nodes = list(own_nodes(code))
        self._passed = frozenset(self._objects_passed(nodes))
        self._harmless = frozenset(_taken_over(expansions))
        self._statements = [n for n in nodes if isinstance(n, ast.stmt)]
        found = (selection_of(n, module) or update_of(n, module) for n in self._statements)
        self._updates = [u for u in found if u is not None]
        self._subscripts: SubscriptReader | None = None

    def bound(self) -> Iterator[Reduction]:
        for name in self._carried:
            if name in self._names.targets or name in self._private or not self._is_bound_outside(name):
                continue
            path = AccessPath(name)
            updates = [u for u in self._updates if u.path == path and not u.element]
            finding = self._refusal(path, updates)
            if finding is not None:
                self.reported |= {name, *(c for u in updates for c in u.companions)}
                self.findings.append(finding)
            elif updates:
                yield self._reduction(updates)

    def at_paths(self, elements: frozenset[str]) -> Iterator[Reduction]:
        """Reductions of values in objects; ``elements``: containers of which any element is updated."""
        others = (u for u in self._updates if u.name not in elements)
        at = (update_of(u.statement, self._module, by_path=True) if u.element else u for u in others)
        updating = {holder for u in self._updates for holder in u.holders | u.companion_holders}
        stores = (u for node in self._statements if (u := store_of(node)) and updating.isdisjoint(u.holders))
        found = [u for u in (*at, *stores) if u is not None and not u.element and u.path.steps]
        found = [u for u in found if self._shared(u.path)]
        for path in dict.fromkeys(u.path for u in found):
            updates = [u for u in found if u.path == path]
            finding = self._refusal(path, updates)
            if finding is not None and (path.leads_by_position or updates[0].operator == LAST):
                continue  # other passes have more to say
            for update in updates:
                self.nodes |= update.holders | update.companion_holders
                self.mentions |= update.mentions | update.companion_mentions
            if finding is None:
                yield self._reduction(updates)
            else:
                self.findings.append(finding)

    def _refusal(self, path: AccessPath, updates: Sequence[Update]) -> Diagnostic | None:
        """Why what is at the path is no reduction; None where it is one, or does not resemble one."""
        if not updates:
            return self._lookalike(path)
        first, name = updates[0], path.text
        other = next((u for u in updates if u.family != first.family), None)
        if other is not None:
            note = self._context.note(other.statement, f"by `{_shown(other)}` here")
            return self._report("DLB325", name, first.statement, note, one=_shown(first), other=_shown(other))
        form = first.by, set(first.companions)
        other = next((u for u in updates if (u.by, set(u.companions)) != form), None)
        if other is None and not self._is_plain(AccessPath(path.root, (*path.steps, first.by))):
            other = first
        other = other or next((u for u in updates if u.may_change and not self._ends_with(u.statement)), None)
        if other is not None:
            return self._report("DLB326", name, other.statement)
        stray = self._stray(path, updates)
        if stray is not None:
            note = self._context.note(stray, "used here")
            return self._report("DLB324", name, first.statement, note)
        for companion in map(path_from, first.companions):
            stray = self._stray(companion, updates)
            if stray is not None or not self._may_go_along(companion):
                note = self._context.note(stray or first.statement, f"`{companion.text}` is used here")
                return self._report("DLB326", name, first.statement, note)
        return None

    def _ends_with(self, statement: ast.stmt) -> bool:
        """Whether an iteration ends with the statement, but for other selections, which change nothing."""
        body = self._loop.node.body
        selections = {u.statement for u in self._updates if u.operator in SELECTING}
        place = next((at for at, each in enumerate(body) if statement in every_node(each)), len(body))
        return place < len(body) and selections.issuperset(body[place:])

    def _may_go_along(self, companion: AccessPath) -> bool:
        """Whether a selection may bind it: no target or private name, no part of an object made here."""
        if companion.steps:
            return self._shared(companion)
        return companion.root not in self._names.targets and companion.root not in self._private

    def _lookalike(self, path: AccessPath) -> Diagnostic | None:
        for node in self._statements:
            if _updates_otherwise(node, path.text):
                return self._report("DLB311", path.text, node)
            if resembles_selection(node, path):
                return self._report("DLB326", path.text, node)
        return None

    def _report(
        self, code: str, name: str, node: ast.stmt, *notes: RelatedPlace, **fields: str
    ) -> Diagnostic:
        return report(code, self._context.place_of(node), "", notes, name=name, **fields)

    def _stray(self, path: AccessPath, updates: Sequence[Update]) -> ast.expr | ast.stmt | None:
        """A mention outside the updates of what is at the path, or of an object on the way."""
        known = {n for u in updates for n in u.mentions | u.companion_mentions} | self._harmless
        mentions = self._mentions.get(path.root, ())
        return next((n for n in mentions if n not in known and self._may_reach(n, path)), None)

    def _may_reach(self, mention: ast.AST, path: AccessPath) -> bool:
        """Whether the expression that a mention begins may lead to what is at the path.

        `check_effects` looks at the functions of the file to which an object is passed.
        """
        chain = self._chains.get(mention)
        passed = mention in self._passed and bool(path.attributes)
        return chain is None or (chain.overlaps(path) and not passed)

    def _objects_passed(self, nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
        """Names that are arguments of calls of functions and methods of the file."""
        for call in (n for n in nodes if isinstance(n, ast.Call)):
            match call.func:
                case ast.Name(id=name):
                    seen = name in self._module.functions
                case ast.Attribute(attr=name):
                    seen = name in self._module.methods
                case _:
                    seen = False
            yield from (part for part in call.args if seen and isinstance(part, ast.Name))

    def _is_bound_outside(self, name: str) -> bool:
        """Whether something other than the loop binds the name, so that it has an initial value."""
        scope, inside = self._loop.scope, set(every_node(self._loop.node))
        if isinstance(scope, ast.Lambda):
            return False
        parameters = () if isinstance(scope, ast.Module | ast.ClassDef) else parameters_of(scope)
        nodes = bound_names(scope.body).get(name, [])
        return any(p.arg == name for p in parameters) or any(n not in inside for n in nodes)

    def _reduction(self, updates: Sequence[Update]) -> Reduction:
        first = updates[0]
        self.roots |= {n for u in updates for n in u.mentions | u.companion_mentions}
        operator = max(u.operator for u in updates)  # "-" where any update subtracts
        one_side = len(frozenset[str]().union(*(u.operand_sides for u in updates))) == 1
        combinable = operator != "-" and one_side and not first.element
        return Reduction(
            name=first.name,
            operator=operator,
            updates=tuple(u.statement for u in updates),
            element=first.element,
            multiple_updates=combinable
            and may_repeat(self._loop.node.body, {u.statement for u in updates}, self._expansions),
            integer=all(self._is_integer(v) for u in updates for v in u.values),
            any_order=first.path.root in self._any,
            may_insert=first.element and any(_adds_elements(u.statement) for u in updates),
            companions=first.companions,
            none_first=first.none_first,
            by=first.by,
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
        for path in dict.fromkeys(u.path for u in self._updates if u.element):
            updates = [u for u in self._updates if u.path == path]
            alike = all(u.element and u.family == updates[0].family for u in updates)
            if path.leads_by_position:
                continue  # most likely a row of an array
            if alike and self._shared(path) and self._stray(path, updates) is None:
                self._note(path, {n for u in updates for n in u.mentions})
                yield self._reduction(updates)

    def ordered(self) -> Iterator[OrderedContainer]:
        found: dict[AccessPath, list[Addition]] = {}
        for addition in (a for s in self._statements for a in additions_of(s)):
            found.setdefault(addition.path, []).append(addition)
        for path, additions in found.items():
            known: set[ast.AST] = {a.root for a in additions}
            mentions = (n for n in self._mentions[path.root] if n not in known | self._harmless)
            if not self._shared(path) or any(self._may_reach(n, path) for n in mentions):
                continue
            writes = any(a.writes for a in additions)
            if writes and not (self._module.builtin("print") and self.kinds.is_text(path.text)):
                continue  # a file, or an object of an unknown type
            stored = any(isinstance(a.effect, ast.stmt) for a in additions)
            if path.steps and stored and not self.kinds.is_dictionary(path.text):
                continue  # rows of an array, for the dependence test and the inspector
            by_item = any(a.by_item for a in additions)
            if by_item and not all(puts_new(a, self._module) for a in additions):
                continue  # what is added to the item is seen at once under its other names
            self._note(path, known)
            self.roots |= known
            yield OrderedContainer(path.text, tuple(a.effect for a in additions), by_item)

    def _note(self, path: AccessPath, mentions: set[ast.AST]) -> None:
        """Note where a container is mentioned that has a key on its path: accesses go by the name before."""
        if not all(step.startswith(".") for step in path.steps):
            self.mentions |= mentions

    def _shared(self, path: AccessPath) -> bool:
        """Whether it is from outside, and no clause makes an object on the way private or distributed."""
        clauses = (c for c in self._loop.annotation.distributions if c.distribution is not Distribution.WHOLE)
        apart = {n for clause in clauses for n in clause.arrays} | self._private
        shared = path.root in self._names.shared and not any(path.overlaps(path_from(n)) for n in apart)
        return shared and self._is_plain(path)

    def _is_plain(self, path: AccessPath) -> bool:
        """Whether no method of the program runs where its attributes are read and set."""
        return not path.attributes or self._running.isdisjoint(path.attributes | _ATTRIBUTE_HOOKS)

    @cached_property
    def _running(self) -> frozenset[str]:
        """Names of attributes that may run a method, and of methods that any attribute may run."""
        modules = [self._module, *(m.names for m in self._context.other_modules)]
        found = (m.implicit_calls.properties | _ATTRIBUTE_HOOKS & m.methods.keys() for m in modules)
        return frozenset(self._module.methods).union(*found)

    def maybe_stores(
        self, elements: Sequence[Reduction], ordered: Sequence[OrderedContainer]
    ) -> Iterator[str]:
        """Containers that may also be arrays whose rows iterations store to."""
        annotation = self._loop.annotation
        # A `reduction` clause is more specific than `assume_independent`.
        clauses = annotation.reductions if annotation.assume_independent is not None else ()
        declared = {name for clause in clauses for name in clause.names}
        by_item = {effect for container in ordered if container.by_item for effect in container.effects}
        for name, calls in _effects(elements, ordered).items():
            if by_item.issuperset(calls) and name not in declared and not self.kinds.is_dictionary(name):
                yield name

    def closures(self, facts: RegionFacts, ordered: Sequence[OrderedContainer]) -> None:
        """Refuse functions and generators of the body that are put into a container."""
        added = {e for o in ordered for e in o.effects}
        for call in facts.calls:
            if call.node in added:
                for _, value, node in call.arguments:
                    used_up = call.function in _EXHAUSTING and isinstance(node, ast.GeneratorExp)
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


def _adds_elements(node: ast.stmt) -> bool:
    """Whether an update may add elements: `get` supplies a missing one, a slice of a list may grow."""
    return any(isinstance(n, ast.Slice) or getattr(n, "attr", "") == "get" for n in ast.walk(node))


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
