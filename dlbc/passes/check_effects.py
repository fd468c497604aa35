"""Check what the body does beyond storing into elements: calls, changes in place, the world outside.

Law: a change of an object that was made in the same iteration is free; one of an element that the index
selects is a store into that array; a contribution is combined in iteration order, and so is standard output;
every other change of something that exists outside the loop is refused, each kind with its own sentence. A
callable that cannot be seen is taken to change nothing, with a remark.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from dlbrt.records import dataclass

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, Note
from dlbc.ir.access import (
    Access,
    AccessKind,
    Call,
    Change,
    ChangeKind,
    Domain,
    Facts,
    Origin,
    OriginKind,
    Origins,
)
from dlbc.ir.callees import callees, is_opaque, mentioned, mutated_arguments
from dlbc.ir.effects import OUTWARD, Summaries, Summary, direct_deeds, writes_output
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.reduction import Contributions
from dlbc.ir.region import LoopNames, ModuleNames, Region
from dlbc.ir.unseen import unseen
from dlbc.ir.uses import every_node
from dlbc.ir.walk_code import walk_code
from dlbc.library.row import Effect
from dlbc.library.table import lookup
from dlbc.source import Place, Source

__all__ = ["Effects", "check_effects"]

_CHANGES = {ChangeKind.ATTRIBUTE: "DLB408", ChangeKind.DELETE: "DLB414", ChangeKind.AUGMENTED: "DLB315"}


@dataclass(frozen=True)
class Effects:
    """``stores``: changes that are stores into an array. ``callees``: functions that the body may reach.

    ``cleared``: per dotted array, places that hand on its owner to functions that do not touch the array.
    ``unseen``: what may run and cannot be seen, with a place in the body. ``trusted``: private objects from
    outside that the body changes. ``prints``: something writes to standard output. ``asserted``: what writes
    to files by the word of the user, each with a place in the body.
    """

    findings: tuple[Diagnostic, ...]
    stores: tuple[Access, ...]
    callees: tuple[Summary, ...]
    cleared: Mapping[str, frozenset[ast.AST]]
    unseen: Mapping[str, Place]
    trusted: frozenset[str]
    prints: bool
    asserted: tuple[tuple[str, Place], ...] = ()

    @property
    def writing(self) -> tuple[Place, ...]:
        """Where the body writes to files, refused or asserted."""
        refused = (f.place for f in self.findings if f.code == Effect.FILE.value)
        return (*refused, *(place for _, place in self.asserted))


def check_effects(
    facts: Facts,
    names: LoopNames,
    world: ModuleNames,
    summaries: Summaries,
    source: Source,
    loop: AnnotatedLoop,
    contributions: Contributions,
) -> Effects:
    """Everything that the body and its callees do beside element stores and contributions."""
    body = loop.node.body
    inside = {n for s in body for n in every_node(s)}
    reached = summaries.reachable(_roots(facts, body, world)) - inside
    functions = tuple(sorted((summaries.of[f] for f in reached), key=_line))
    check = _Check(names, world, summaries, source, loop, contributions)
    for change in facts.changes:
        check.change(change)
    for call in facts.calls:
        check.call(call)
    for function in functions:
        check.function(function, _mention(function, body, source))
    check.stores_elsewhere(facts)
    written = {a.array for a in (*facts.accesses, *check.stores) if a.writes} | {*contributions.containers}
    check.iterated(loop, written | {*contributions.names})
    for function in functions:
        check.hidden(function, written, _mention(function, body, source))
    cleared = _cleared(facts, world, summaries)
    trusted = frozenset(check.trusted)
    prints = any(map(writes_output, facts.calls)) or any(f.prints for f in functions)
    return Effects(
        tuple(check.findings), tuple(check.stores), functions, cleared, check.unseen, trusted, prints,
        tuple(dict.fromkeys(check.asserted)),
    )  # fmt: skip


def _roots(facts: Facts, body: list[ast.stmt], world: ModuleNames) -> frozenset[ast.AST]:
    """What the body may run: by name, by operators, through values."""
    found = {f for call in facts.calls for f, _ in callees(call, world)} | mentioned(body, frozenset(), world)
    if any(is_opaque(call, world) for call in facts.calls):
        found |= world.hidden.escaping
    return frozenset(found) | world.hidden.implicit


def _line(summary: Summary) -> tuple[int, int]:
    return getattr(summary.node, "lineno", 0), getattr(summary.node, "col_offset", 0)


def _mention(function: Summary, body: list[ast.stmt], source: Source) -> Place:
    """Where the body names the function, or anything that leads to it: its first call if not itself."""
    nodes = [n for s in body for n in every_node(s)]
    for node in nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name == function.name:
                return source.place_of(node)
    first = next((n for n in nodes if isinstance(n, ast.Call)), body[0])
    return source.place_of(first)


class _Check:
    def __init__(
        self,
        names: LoopNames,
        world: ModuleNames,
        summaries: Summaries,
        source: Source,
        loop: AnnotatedLoop,
        contributions: Contributions,
    ) -> None:
        self._around, self._body = loop.path, loop.node.body
        self._claimed = contributions.claimed
        self._private = {n for clause in loop.annotation.private for n in clause.names}
        self._names, self._world, self._summaries, self._source = names, world, summaries, source
        self.findings: list[Diagnostic] = []
        self.stores: list[Access] = []
        self.unseen: dict[str, Place] = {}
        self.trusted: set[str] = set()
        self._asserts = loop.annotation.assume_independent is not None
        self.asserted: list[tuple[str, Place]] = []

    def change(self, change: Change) -> None:
        """A change in place that the body makes by itself."""
        code = _CHANGES.get(change.kind)
        always = change.kind in (ChangeKind.ATTRIBUTE, ChangeKind.DELETE)
        self._on(change.origins, change.node, code, change.detail, elements=not always, domain=change.domain)

    def call(self, call: Call) -> None:
        """One call in the body."""
        for deed in direct_deeds(call):
            if call.node in self._claimed:
                continue
            if deed.effect is Effect.FILE and self._asserts:
                self.asserted.append((deed.function, self._source.place_of(call.node)))
            elif deed.effect in OUTWARD:
                self._report(deed.effect.value, call.node, function=deed.function)
            else:
                whole = deed.effect is Effect.DRAW
                self._on(deed.origins, call.node, deed.effect.value, deed.function, elements=not whole)
        for summary, value, node in mutated_arguments(call, self._world, self._summaries.of):
            self._on(value.outer | value.inner, node, "DLB410", summary.name)
        name = None if call.node in self._claimed else unseen(call, self._world)
        if name is not None:
            self._unseen(name, self._source.place_of(call.node))

    def _unseen(self, name: str, place: Place, *notes: Note) -> None:
        """Something may run that cannot be seen: said once for each."""
        if name not in self.unseen:
            self.unseen[name] = place
            self.findings.append(report("DLB412", place, notes=notes, function=name))

    def function(self, function: Summary, place: Place) -> None:
        """A function of the module that the body may reach."""
        for name, node in function.unseen.items():
            self._unseen(name, place, Note(self._source.place_of(node), f"in `{function.name}`"))
        for deed in function.deeds:
            if deed.effect is Effect.FILE and self._asserts:
                self.asserted.append((deed.function, place))
            elif deed.effect in OUTWARD:
                note = Note(self._source.place_of(deed.node), f"in `{function.name}`")
                self._once(report(deed.effect.value, place, notes=(note,), function=deed.function))
        for names in (function.rebinds, function.touches):
            for name, node in names.items():
                if function.closed and self._elsewhere(function, name):
                    continue
                note = Note(self._source.place_of(node), f"`{name}` is changed here")
                self._once(report("DLB409", place, notes=(note,), function=function.name, name=name))

    def _elsewhere(self, function: Summary, name: str) -> bool:
        """Whether the name belongs to a function that is not around the loop: each call has its own."""
        owner = function.owners.get(name)
        return owner is not None and owner not in self._around

    def _once(self, finding: Diagnostic) -> None:
        """One finding of a kind per place in the body: a long chain of callees says the same thing often."""
        if (finding.code, finding.place) not in {(f.code, f.place) for f in self.findings}:
            self.findings.append(finding)

    def hidden(self, function: Summary, written: set[str], place: Place) -> None:
        """A callee that reads an array which the body writes."""
        roots = {array.partition(".")[0]: array for array in written if "." not in array}
        for name, node in function.reads.items():
            if name in roots and not self._elsewhere(function, name):
                note = Note(self._source.place_of(node), "read here")
                self.findings.append(
                    report("DLB413", place, notes=(note,), function=function.name, array=name)
                )

    def iterated(self, loop: AnnotatedLoop, written: set[str]) -> None:
        """What the loop runs over, if the body stores into it."""
        region = Region(
            (ast.copy_location(ast.Expr(loop.node.iter), loop.node.iter),), frozenset(), self._world
        )
        for access in walk_code(region).accesses:
            if any(access.overlaps(array) for array in written):
                self._report("DLB316", access.node, array=access.array)

    def stores_elsewhere(self, facts: Facts) -> None:
        """Stores into what belongs to a module, a class or a function."""
        for access in facts.accesses:
            if (
                access.writes
                and access.root in self._world.constant
                and access.root not in self._names.shared
            ):
                self._report("DLB416", access.node, name=access.array)

    def _on(
        self,
        origins: Origins,
        node: ast.expr | ast.stmt,
        code: str | None,
        detail: str,
        elements: bool = True,
        domain: Domain = Domain(exact=False),  # noqa: B008
    ) -> None:
        """A change of objects of these origins: a store into an array where the index selects them."""
        for origin in sorted(origins, key=lambda o: (o.kind.value, o.name, str(o.subscripts))):
            if origin.kind is OriginKind.ELEMENT:
                self._report("DLB308", node, name=origin.name)
            elif origin.kind is OriginKind.UNKNOWN:
                self._report("DLB309", node)
            elif origin.kind is OriginKind.SHARED and origin.name in self._private:
                self.trusted.add(origin.name)
            elif origin.kind is OriginKind.SHARED:
                if code is None or (elements and _selected(origin)):
                    self._store(origin, node, domain)
                else:
                    self._report(code, node, name=origin.name, function=detail)
                    return

    def _store(self, origin: Origin, node: ast.expr | ast.stmt, domain: Domain) -> None:
        self.stores.append(
            Access(origin.name, origin.subscripts, AccessKind.UPDATE, node, in_place=True, domain=domain)
        )

    def _report(self, code: str, node: ast.expr | ast.stmt, **fields: str) -> None:
        notes = tuple(self._other_use(fields.get("name", ""))) if code == Effect.ORDERED.value else ()
        self.findings.append(report(code, self._source.place_of(node), "", notes, **fields))

    def _other_use(self, name: str) -> Iterator[Note]:
        """Where the body does more with a container than add to it."""
        nodes = [n for s in self._body for n in every_node(s)]
        called = [n.func for n in nodes if isinstance(n, ast.Call)]
        receivers = {
            f.value
            for f in called
            if isinstance(f, ast.Attribute) and lookup(f".{f.attr}").effect is Effect.ORDERED
        }
        others = [n for n in nodes if isinstance(n, ast.Name) and n.id == name and n not in receivers]
        for node in sorted(others, key=lambda n: (n.lineno, n.col_offset))[:1]:
            yield Note(self._source.place_of(node), "used here in another way")


def _selected(origin: Origin) -> bool:
    return any(s.moves for s in origin.subscripts)


def _cleared(facts: Facts, world: ModuleNames, summaries: Summaries) -> dict[str, frozenset[ast.AST]]:
    dotted = {a.array for a in facts.accesses if "." in a.array}
    found: dict[str, set[ast.AST]] = {array: set() for array in dotted}
    for call in facts.calls:
        reached = summaries.reachable(frozenset(f for f, _ in callees(call, world)))
        if not reached:
            continue
        seen = {name for f in reached for name in summaries.of[f].attributes}
        dynamic = {"getattr", "setattr", "vars", "__dict__"} & {
            n for f in reached for n in summaries.of[f].reads
        }
        for array in dotted:
            if not dynamic and array.rpartition(".")[2] not in seen:
                found[array].update(_handed_on(call))
    return {array: frozenset(nodes) for array, nodes in found.items()}


def _handed_on(call: Call) -> Iterator[ast.AST]:
    if isinstance(call.node.func, ast.Attribute):
        yield call.node.func.value
    for _, _, node in call.arguments:
        yield node
