"""Check the effects of the body other than element stores: calls, changes in place, files and output.

Law: an iteration may freely change an object that it made itself. A change of an element that the index
selects is a store into that array. Contributions and standard output are combined in iteration order. Every
other change of something that exists outside the loop is refused, each kind with its own message. A callable
whose code is not seen is assumed to change nothing, with a remark.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

from dlbrt.records import dataclass

from dlbc.analysis import effects
from dlbc.analysis.cached_results import is_cached, keeps_results
from dlbc.analysis.call_targets import ProgramModule
from dlbc.analysis.callees import (
    callees,
    functions_run,
    in_text_order,
    mention_of,
    mutated_arguments,
    unseen_callee,
    watched_in,
    watched_methods,
)
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.effects import NOT_ITS_OWN, FunctionSummaries, FunctionSummary
from dlbc.analysis.expand_calls import place_in_callee
from dlbc.analysis.iterated_sequences import sequences_of
from dlbc.analysis.seeds import draws_from, holders_of_seeds, seeded_generators
from dlbc.analysis.uses import every_node, is_super, object_of_super, unparsed
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.ir.access import (
    Access,
    AccessKind,
    CallSite,
    IterationDomain,
    Mutation,
    MutationKind,
    Origin,
    OriginKind,
    Origins,
    RegionFacts,
)
from dlbc.ir.access_path import root_of
from dlbc.ir.plan import IterationContributions
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup
from dlbc.source import SourcePlace

_CHANGES = {MutationKind.ATTRIBUTE: "DLB408", MutationKind.DELETE: "DLB414", MutationKind.AUGMENTED: "DLB315"}


@dataclass(frozen=True)
class BodyEffects:
    """``stores``: changes that are stores into an array. ``callees``: functions that the body may reach.

    ``cleared``: per dotted array, places that pass its owner to functions that do not touch the array.
    ``unseen``: functions that may run and whose code is not seen, with a place in the body. ``watched``:
    those, and calls of which the library table may say too little, with their lines. ``trusted``: private
    objects from outside that the body changes. ``prints``: something writes to standard output.
    ``asserted``: functions that write to files, or may change what is not theirs, allowed by
    `assume_independent`, with a place in the body.
    ``seeded``: global random generators that each iteration seeds before it draws from them.
    ``items``: sequences that the loop runs over whose items the body changes in place, with their numbers.
    ``seeds``: what holds the seeds, if the watched calls do no more than make generators of them.
    ``by_name``: methods of the file, with a place, called on objects that may be of other classes.
    """

    findings: tuple[Diagnostic, ...]
    stores: tuple[Access, ...]
    callees: tuple[FunctionSummary, ...]
    cleared: Mapping[str, frozenset[ast.AST]]
    unseen: Mapping[str, SourcePlace]
    watched: Mapping[str, int]
    trusted: frozenset[str]
    prints: bool
    asserted: tuple[tuple[str, SourcePlace], ...] = ()
    seeded: tuple[str, ...] = ()
    items: tuple[tuple[str, int], ...] = ()
    seeds: tuple[str | int, ...] = ()
    by_name: tuple[tuple[str, SourcePlace], ...] = ()

    @property
    def writing(self) -> tuple[SourcePlace, ...]:
        """Where the body writes to files, refused or asserted."""
        refused = (f.place for f in self.findings if f.code == EffectKind.FILE.value)
        return (*refused, *(place for _, place in self.asserted))


def check_effects(
    context: AnalysisContext, facts: RegionFacts, contributions: IterationContributions
) -> BodyEffects:
    """Everything that the body and its callees do besides element stores and contributions."""
    body, module, summaries = context.body, context.module, context.summaries
    inside = {n for s in body for n in every_node(s)}
    roots = functions_run(facts, body, module) | module.implicit_calls.special_methods
    reached = summaries.reachable(roots) - inside
    others = (n for f in reached if not _is_missing(f) for n in every_node(f))
    if not any(map(_reads_items, (*inside, *others))):
        reached = summaries.reachable(frozenset(f for f in roots if not _is_missing(f))) - inside
    functions = in_text_order(summaries.of[f] for f in reached)
    check = _Check(context, contributions)
    for change in facts.mutations:
        check.change(change)
    for call in facts.calls:
        check.call(call)
    for function in functions:
        check.function(function, context.place_of(mention_of(function, body)))
    check.stores_elsewhere(facts)
    check.stores_inside(facts)
    written = {a.array for a in (*facts.accesses, *check.stores) if a.writes} | {*contributions.containers}
    items = sequences_of(context.loop.node, check.items, context.module)
    written |= {text for text, _ in items} | {root_of(name) for name in written if "[" in name}
    cleared = _cleared(facts, context, (text for text, _ in items))
    check.used_whole(items, facts.accesses, cleared)
    expanded = {e.function for e in facts.expansions.values()} - reached
    followed = in_text_order(summaries.of[f] for f in expanded & summaries.of.keys())
    for function in (*functions, *followed):
        check.hidden(function, written, context.place_of(mention_of(function, body)))
    watched = check.doubted | _watched(facts, functions, context, contributions, check.seeded)
    return BodyEffects(
        findings=tuple(check.findings),
        stores=tuple(check.stores),
        callees=(*functions, *followed),
        cleared=cleared,
        unseen=check.unseen,
        watched=watched,
        trusted=frozenset(check.trusted),
        prints=any(map(effects.writes_output, facts.calls)) or any(f.prints for f in functions),
        asserted=tuple(dict.fromkeys(check.asserted)),
        seeded=tuple(sorted(check.seeded)),
        items=items,
        seeds=holders_of_seeds(facts, watched, (*functions, *followed), context.loop, context.module),
        by_name=tuple(dict(_by_name(facts, (*functions, *followed), context)).items()),
    )


def _is_missing(function: ast.AST) -> bool:
    return isinstance(function, ast.FunctionDef) and function.name == "__missing__"


def _reads_items(node: ast.AST) -> bool:
    """Whether it may run ``__missing__``, which stores do not."""
    return isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load)


def _by_name(
    facts: RegionFacts, functions: Iterable[FunctionSummary], context: AnalysisContext
) -> Iterator[tuple[str, SourcePlace]]:
    """Calls that reach methods of the file if their objects are of its classes, and not of one derived.

    In the body that is known of objects that it makes, and where the method is looked at before the loop.
    """
    module = context.module
    for call in facts.calls:
        made_here = call.receiver is not None and not call.receiver.points_to
        if call.function.startswith(".") and not made_here and callees(call, module):
            yield unparsed(call.node.func), context.place_of(call.node)
    for function in functions:
        place = context.place_of(mention_of(function, context.body))
        for node in every_node(function.node):
            match node:
                case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in module.methods:
                    if root_of(unparsed(value)) not in module.imports.keys() | module.classes.keys():
                        yield unparsed(node.func), place


#: Methods of loggers, which write wherever the program has said.
_LOGGING = frozenset({"critical", "debug", "error", "exception", "info", "log", "warning"})


class _Check:
    def __init__(self, context: AnalysisContext, contributions: IterationContributions) -> None:
        self._context, self._contributions = context, contributions
        self._loop, self._module = context.loop, context.module
        self.findings: list[Diagnostic] = []
        self.stores: list[Access] = []
        self.unseen: dict[str, SourcePlace] = {}
        self.trusted: set[str] = set()
        self._asserts = context.loop.annotation.assume_independent is not None
        self.asserted: list[tuple[str, SourcePlace]] = []
        #: Functions that may change what iterations share, or what they make; that is watched.
        self.doubted: dict[str, int] = {}
        compiled = context.loop.annotation.jit is not None  # compiled code has generators of its own
        self._seeds = frozenset() if compiled else seeded_generators(context.body, context.module)
        self.seeded: set[str] = set()
        self.items: set[str] = set()

    def change(self, change: Mutation) -> None:
        """A change in place that the body makes by itself."""
        if change.node in self._contributions.nodes:
            return
        code = _CHANGES.get(change.kind)
        self._on(change.origins, change.node, code, change.detail, domain=change.domain)

    def call(self, call: CallSite) -> None:
        place, contributes = self._context.place_of(call.node), call.node in self._contributions.nodes
        for side_effect in effects.direct_side_effects(call):
            kind, function = side_effect.effect, side_effect.function
            if contributes:
                if call.node in self._contributions.item_calls:
                    self._on(side_effect.origins, call.node, None, function)
            elif kind is EffectKind.FILE and self._asserts:
                self.asserted.append((function, place))
            elif kind is EffectKind.RANDOM and self._is_seeded(function):
                continue
            elif kind in effects.EXTERNAL_EFFECTS:
                self._report(kind.value, call.node, draws_from(function), function=function)
            else:
                code = "DLB425" if function.startswith("heapq.") else kind.value
                changed: ast.expr = call.node
                if function == "builtins.next":
                    first = call.node.args[0]
                    code, changed = "DLB417", first.value if isinstance(first, ast.Starred) else first
                self._on(side_effect.origins, changed, code, function)
        for summary, value, node in mutated_arguments(call, self._module, self._context.summaries.of):
            self._on(value.points_to | value.reachable, node, "DLB410", summary.name)
        name = None if contributes else unseen_callee(call, self._module)
        if name is not None:
            self._unseen(name, place, *place_in_callee(call.node))
            self._belonging(call)
            self._cached_elsewhere(call, place)

    def _belonging(self, call: CallSite) -> None:
        """What a method of another module may change, as far as it belongs to the iteration.

        Whether the call reaches this method shows at run time alone, so it is watched all the same.
        """
        for module in self._context.other_modules if call.function.startswith(".") else ():
            for _, value, node in mutated_arguments(call, module.names, module.summaries.of):
                origins = (o for o in value.points_to if o.kind in (OriginKind.ELEMENT, OriginKind.SHARED))
                own = (o for o in origins if o.kind is OriginKind.ELEMENT or _is_selected(o))
                self._on(frozenset(own), node, None, "")

    def _unseen(self, name: str, place: SourcePlace, *notes: RelatedPlace) -> None:
        """A function may run whose code is not seen: reported once for each."""
        if name not in self.unseen:
            self.unseen[name] = place
            self.findings.append(report("DLB412", place, notes=notes, function=name))

    def function(self, function: FunctionSummary, place: SourcePlace) -> None:
        for name, node in function.unseen.items():
            self._unseen(name, place, self._context.note(node, f"in `{function.name}`"))
        for side_effect in function.side_effects:
            if side_effect.effect is EffectKind.FILE and self._asserts:
                self.asserted.append((side_effect.function, place))
            elif side_effect.effect is EffectKind.RANDOM and self._is_seeded(side_effect.function):
                continue
            elif (kind := side_effect.effect) in effects.EXTERNAL_EFFECTS:
                note = self._context.note(side_effect.node, f"in `{function.name}`")
                name = side_effect.function
                self._once(report(kind.value, place, notes=(note,), case=draws_from(name), function=name))
        for names in (function.rebinds, function.mutated_shared):
            for name, node in names.items():
                if function.called_by_name_only and self._elsewhere(function, name):
                    continue
                note = self._context.note(node, f"`{name}` is changed here")
                if name == NOT_ITS_OWN and self._asserts:
                    self._unseen(function.name, place, note)
                    self.doubted.setdefault(function.name, place.line)
                    self.asserted.append((function.name, place))
                    continue
                self._once(report("DLB409", place, notes=(note,), function=function.name, name=name))
        if not is_cached(function.node, self._module):
            return
        self._writes_once(function, self._context.summaries, place)
        for reader in self._module.implicit_calls.cache_readers:
            note = self._context.note(reader, "what the cache has counted is read here")
            name = f"{function.name}.cache_info()"
            self._once(report("DLB409", place, notes=(note,), function=function.name, name=name))

    def _writes_once(
        self, function: FunctionSummary, summaries: FunctionSummaries, place: SourcePlace
    ) -> None:
        """A cached function that writes does so where its cache does not hold the result yet."""
        run = [summaries.of[each] for each in summaries.reachable(frozenset({function.node}))]
        logged = {text.rpartition(".")[2] for each in run for text in each.unseen} & _LOGGING
        if logged or any(each.prints for each in run):
            name = f"{function.name}.cache"
            self._once(report("DLB409", place, case="writes", function=function.name, name=name))

    def _cached_elsewhere(self, call: CallSite, place: SourcePlace) -> None:
        """The same in another module of the program, and what is done there to what caches give.

        Neither would show while the loop runs: each rank has caches of its own.
        """
        package, _, name = call.function.rpartition(".")
        if " of " in name:  # named so by `expand_calls`, in another module
            name, _, package = name.partition(" of ")
        for module in self._context.other_modules:
            table = module.names.functions if package == module.name else module.names.methods
            found = table.get(name, ()) if package in ("", module.name) else ()
            for summary in (module.summaries.of[f] for f in module.summaries.reachable(frozenset(found))):
                if is_cached(summary.node, module.names):
                    self._writes_once(summary, module.summaries, place)
                for held in summary.mutated_shared:
                    if keeps_results(held, module.names):
                        self._once(report("DLB409", place, function=summary.name, name=held))

    def _is_seeded(self, function: str) -> bool:
        """Whether it draws from a global generator that the iteration has seeded; noted if so."""
        generator = draws_from(function)
        self.seeded |= {generator} & self._seeds
        return generator in self._seeds

    def _elsewhere(self, function: FunctionSummary, name: str) -> bool:
        """Whether the name belongs to a function that does not enclose the loop: each call has its own."""
        owner = function.owners.get(name)
        return owner is not None and owner not in self._loop.path

    def _once(self, finding: Diagnostic) -> None:
        """Keep one finding of a kind per place in the body: a long chain of callees repeats itself."""
        if (finding.code, finding.place) not in {(f.code, f.place) for f in self.findings}:
            self.findings.append(finding)

    def hidden(self, function: FunctionSummary, written: set[str], place: SourcePlace) -> None:
        """A callee that reads an array which the body writes."""
        for name, node in function.reads.items():
            if name in written and not self._elsewhere(function, name):
                note = self._context.note(node, "read here")
                finding = report("DLB413", place, notes=(note,), function=function.name, array=name)
                self.findings.append(finding)

    def used_whole(
        self,
        items: Sequence[tuple[str, int]],
        accesses: Sequence[Access],
        cleared: Mapping[str, frozenset[ast.AST]],
    ) -> None:
        """An attribute whose items the body changes (``self.ps``), where its owner is used as a whole."""
        for text in (text for text, _ in items if all(map(str.isidentifier, text.split(".")))):
            harmless = cleared.get(text, frozenset())
            whole = (a for a in accesses if a.overlaps(text) and not a.subscripts and a.node not in harmless)
            if "." in text and (access := next(whole, None)) is not None:
                self._report("DLB306", access.node, array=text)

    def stores_elsewhere(self, facts: RegionFacts) -> None:
        """Stores into attributes of a module, a class or a function."""
        for access in facts.accesses:
            constant = access.root in self._module.constant and access.root not in self._context.names.shared
            outer = any(access.root in e.outer for e in facts.expansions.values())
            if access.writes and (constant or outer):
                self._report("DLB416", access.node, name=access.array)

    def stores_inside(self, facts: RegionFacts) -> None:
        """Stores into elements of a container, which may be what the body has put there (`out[i] = A[i]`)."""
        depths: dict[str, int] = {}
        for access in facts.accesses:
            if access.writes and access.in_place:
                depths[access.array] = max(depths.get(access.array, 0), len(access.subscripts))
        for value, node, holder in facts.escapes:
            depth = depths.get(holder, 0)
            if depth > 1:
                reached = value.points_to | value.reachable if depth > 2 else value.points_to
                self._on(reached - frozenset(o for o in reached if o.name == holder), node, None, "")

    def _on(
        self,
        origins: Origins,
        node: ast.expr | ast.stmt,
        code: str | None,
        detail: str,
        domain: IterationDomain = IterationDomain(exact=False),  # noqa: B008
    ) -> None:
        """A change of objects of these origins; where the index selects them, a store into an array."""
        for origin in sorted(origins, key=lambda o: (o.kind.value, o.name, str(o.subscripts))):
            if origin.kind is OriginKind.ELEMENT:
                self.items.add(origin.name)
            elif origin.kind is OriginKind.UNKNOWN:
                self._report("DLB309", node)
            elif origin.kind is OriginKind.SHARED and origin.name in self._loop.annotation.private_names:
                self.trusted.add(origin.name)
            elif origin.kind is OriginKind.SHARED:
                if code is not None and not _is_selected(origin):
                    self._report(code, node, name=origin.name, function=detail)
                    return
                self.stores.append(
                    Access(
                        origin.name, origin.subscripts, AccessKind.UPDATE, node, in_place=True, domain=domain
                    )
                )

    def _report(self, code: str, node: ast.expr | ast.stmt, case: str = "", **fields: str) -> None:
        notes = tuple(self._other_use(fields.get("name", ""))) if code == EffectKind.ORDERED.value else ()
        notes = (*notes, *place_in_callee(node))
        self.findings.append(report(code, self._context.place_of(node), "", notes, case=case, **fields))

    def _other_use(self, name: str) -> Iterator[RelatedPlace]:
        """The first place where the body does more with a container than add to it."""
        nodes = [n for s in self._context.body for n in every_node(s)]
        called = [n.func for n in nodes if isinstance(n, ast.Call)]
        receivers = {
            f.value
            for f in called
            if isinstance(f, ast.Attribute) and lookup(f".{f.attr}").effect is EffectKind.ORDERED
        }
        others = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and n not in receivers]
        for node in sorted(others, key=lambda n: (n.lineno, n.col_offset))[:1]:
            yield self._context.note(node, "used here in another way")


def _watched(
    facts: RegionFacts,
    functions: Sequence[FunctionSummary],
    context: AnalysisContext,
    contributions: IterationContributions,
    seeded: Container[str],
) -> dict[str, int]:
    """What the body and its callees run that is not seen for certain, with the first line of each.

    Draws from generators that the iteration has ``seeded`` are seen.
    """
    found: dict[str, int] = {}
    own = watched_in(facts, context.module, contributions.nodes)
    for name, node in (*own, *(item for function in functions for item in function.watched.items())):
        if draws_from(context.module.imported_name(name)) not in seeded:
            found.setdefault(name, getattr(node, "lineno", 0))
    elsewhere = {f"{name} in {m.name}": 0 for m in context.other_modules for name in _run_unnamed(m)}
    return found | dict(watched_methods(context.module)) | elsewhere


def _is_selected(origin: Origin) -> bool:
    """Whether the index selects the object."""
    return any(s.depends_on_index for s in origin.subscripts)


def _run_unnamed(module: ProgramModule) -> Iterator[str]:
    """Methods of another module that may run where the text shows no call, and do more than give a value."""
    yield from (name for name, _ in watched_methods(module.names))
    implicit, summaries = module.names.implicit_calls, module.summaries
    properties = {f for name in implicit.properties for f in module.names.methods[name]}
    for method in in_text_order(summaries.of[f] for f in properties | implicit.special_methods):
        if any(summaries.of[f].has_effects for f in summaries.reachable(frozenset({method.node}))):
            yield method.name


def _cleared(
    facts: RegionFacts, context: AnalysisContext, items: Iterable[str]
) -> dict[str, frozenset[ast.AST]]:
    summaries = context.summaries
    dotted = {name for name in (*(a.array for a in facts.accesses), *items) if "." in name.partition("[")[0]}
    found: dict[str, set[ast.AST]] = {array: set() for array in dotted}
    for call in facts.calls:
        reached = summaries.reachable(frozenset(f for f, _ in callees(call, context.module)))
        reads = {name for f in reached for name in summaries.of[f].reads}
        if not reached or not reads.isdisjoint({"getattr", "setattr", "vars", "__dict__"}):
            continue
        attributes = {name for f in reached for name in summaries.of[f].attributes}
        passed: set[ast.AST] = {node for _, _, node in call.arguments}
        if isinstance(call.node.func, ast.Attribute):
            holder = call.node.func.value
            passed.add(object_of_super(holder) if is_super(holder) else holder)
        for array in dotted:
            if array.partition("[")[0].rpartition(".")[2] not in attributes:
                found[array] |= passed
    return {array: frozenset(nodes) for array, nodes in found.items()}
