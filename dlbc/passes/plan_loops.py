"""Plan one annotated parallel loop: run the passes over it and assemble what emission needs.

A plan comes out only if no pass found an error; findings of independent passes are collected, so that a
person sees them together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, has_errors
from dlbc.ir.access import Access, Facts
from dlbc.ir.before import perhaps_unbound
from dlbc.ir.cost import Cost, Folding
from dlbc.ir.cost_plan import CostPlan, Folded
from dlbc.ir.effects import Summaries
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.ir.mangling import mangled_names, rename, rename_array, rename_reduction, swapped
from dlbc.ir.plan import ArrayPlan, LoopPlan, SpaceForm
from dlbc.ir.proof import Means, Refusal, Status, Verdict
from dlbc.ir.reduction import Contributions
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.ir.report import LoopReport, Wanted
from dlbc.ir.scalars import Scalars
from dlbc.ir.space import IndexSpace
from dlbc.ir.uses import UseKind, bound_names, every_node, uses_of
from dlbc.passes.check_caught import check_caught
from dlbc.passes.check_effects import Effects, check_effects
from dlbc.passes.check_form import check_form
from dlbc.passes.check_hidden import check_hidden
from dlbc.passes.check_scalars import check_scalars
from dlbc.passes.choose_cost import choose_cost
from dlbc.passes.classify_scalars import classify_scalars
from dlbc.passes.classify_variables import classify_variables
from dlbc.passes.compute_liveness import compute_liveness
from dlbc.passes.find_accesses import find_accesses
from dlbc.passes.find_aliases import Aliases, find_aliases
from dlbc.passes.find_facts import find_facts
from dlbc.passes.find_hidden import find_hidden
from dlbc.passes.find_iterators import find_iterators
from dlbc.passes.find_lists import find_lists
from dlbc.passes.find_reductions import find_reductions
from dlbc.passes.fold_bitonic import fold_bitonic
from dlbc.passes.infer_cost import infer_cost
from dlbc.passes.infer_distribution import infer_distribution, iterations_of
from dlbc.passes.read_cost import GivenCost, read_cost
from dlbc.passes.resolve_names import resolve_module, resolve_names
from dlbc.passes.summarize_functions import summarize_functions
from dlbc.passes.test_dependence import test_dependence
from dlbc.passes.write_space import write_space
from dlbc.prove.provers import Provers
from dlbc.source import Source

__all__ = ["plan_loops", "report_loops", "survey_module"]

#: Diagnostics of dependences that are proved.
_PROVED = frozenset({"DLB301", "DLB303"})


Planned = tuple[LoopPlan | None, tuple[Diagnostic, ...]]


def plan_loops(module: Module, loops: Sequence[AnnotatedLoop]) -> list[Planned]:
    """Of each `parallel` loop the plan, or None, and why not; remarks may come with a plan."""
    return [(report.plan, report.findings) for report in report_loops(module, loops)]


def survey_module(module: Module) -> tuple[ModuleNames, Summaries]:
    """What holds for the module as a whole, whichever of its loops are looked at."""
    world = resolve_module(module)
    iterators, growing = find_iterators(module.tree, world)
    lists, plain = find_lists(module.tree)
    world = replace(world, lists=lists, plain=plain)
    world = replace(world, hidden=find_hidden(module.tree, world), iterators=iterators, growing=growing)
    return world, summarize_functions(world)


def report_loops(
    module: Module,
    loops: Sequence[AnnotatedLoop],
    wanted: Wanted = Wanted.PLANS,
    survey: tuple[ModuleNames, Summaries] | None = None,
) -> list[LoopReport]:
    """The same, with what was tried; what is not ``wanted`` is left out where it takes time."""
    world, summaries = survey or survey_module(module)
    provers = Provers()
    loops = [replace(loop, read_by_costs=_read_by_costs(loops, loop)) for loop in loops]
    return [_plan_loop(module, loop, world, summaries, provers, wanted) for loop in loops]


def _read_by_costs(loops: Sequence[AnnotatedLoop], besides: AnnotatedLoop) -> frozenset[str]:
    """Names from around the loops that the costs of all but one of them read."""
    found: set[str] = set()
    for loop in loops:
        if loop is not besides and loop.annotation.cost is not None:
            expression = ast.parse(loop.annotation.cost.expression, mode="eval")
            found |= {u.name for u in uses_of(expression)} - bound_names([loop.node.target]).keys()
    return frozenset(found)


def _plan_loop(
    module: Module,
    loop: AnnotatedLoop,
    world: ModuleNames,
    summaries: Summaries,
    provers: Provers,
    wanted: Wanted,
) -> LoopReport:
    source = module.source
    names = resolve_names(loop, world)
    findings = [*check_form(loop, names, world, source)]
    if has_errors(findings):
        return LoopReport(loop, None, _sorted(findings))
    facts = find_accesses(loop, names, world, summaries)
    scalars = classify_scalars(loop.node.body, names)
    contributions, refused = find_reductions(loop, names, facts, scalars, world, source)
    findings += refused
    effects = check_effects(facts, names, world, summaries, source, loop, contributions)
    findings += check_scalars(scalars, facts, effects.callees, loop, names, source, contributions.settled)
    findings += effects.findings
    added_to = frozenset(contributions.containers) - contributions.disputed
    findings += check_hidden(facts, effects.callees, names, world, source, loop, added_to, effects.writing)
    touched = [*facts.accesses, *effects.stores]
    accesses = _in_order(_not_private(touched, loop))
    aliases = find_aliases(loop, names, world, _depths(accesses))
    judge = _Judge(effects, loop, names, find_facts(loop, names, world), aliases, provers, source)
    contributions = contributions.without(_plain_stores(contributions, accesses, judge))
    findings += check_caught(contributions, loop, world, source)
    accesses = [a for a in accesses if a.array not in contributions.containers]
    verdicts, refusals = judge.verdicts(accesses)
    findings += (r.finding for r in refusals)
    arrays, contradictions = infer_distribution(
        accesses, verdicts, _seen_elsewhere(accesses, effects), names.index, loop.annotation
    )
    findings += contradictions
    findings += _deleted(loop, names, scalars, source)
    changed = {a.array for a in touched if a.writes} | verdicts.keys()
    growing = frozenset(o.name for o in contributions.ordered)
    stored = frozenset(changed | {*contributions.containers})
    given, misread = read_cost(loop, names, world, summaries, stored, growing)
    findings += misread
    trusted = _trusted(facts, effects, loop)
    asserted = tuple(dict.fromkeys(name for name, _ in effects.asserted))
    unseen = tuple(effects.unseen.items())
    told = tuple(verdicts.values()), tuple(refusals), trusted, unseen, effects.prints, asserted
    if has_errors(findings):
        return LoopReport(loop, None, _sorted(findings), *told)
    cutting, refuted = _cut(loop, names, world, summaries, judge.space, given, stored, wanted)
    findings += refuted
    if refuted:
        return LoopReport(loop, None, _sorted(findings), *told)
    lengths = tuple(_of_fixed_length(accesses))
    plan = _assemble(loop, module, names, world, scalars, arrays, contributions, verdicts, lengths, cutting)
    variables, unfit = classify_variables(
        loop, names, scalars, judge.space, accesses, arrays, contributions, _last(plan, names), source
    )
    if unfit:
        return LoopReport(loop, None, _sorted([*findings, *unfit]), *told)
    status = _status(verdicts.values(), (*trusted, *asserted), tuple(effects.unseen))
    plan = replace(plan, variables=variables, outside=tuple(effects.unseen), status=status)
    told_of_work = cutting.derived, cutting.folding, cutting.why, cutting.known, judge.space
    return LoopReport(loop, plan, _sorted(findings), *told, *told_of_work)


@dataclass(frozen=True)
class _Cutting:
    """The work of the iterations: derived, as the loop is cut by it, in the kernel; and why not there."""

    derived: Cost | None
    known: Cost | None
    folding: Folding | None
    folded: Folded
    plan: CostPlan | None
    why: str = ""


def _cut(
    loop: AnnotatedLoop,
    names: LoopNames,
    world: ModuleNames,
    summaries: Summaries,
    space: IndexSpace | None,
    given: GivenCost | None,
    stored: frozenset[str],
    wanted: Wanted,
) -> tuple[_Cutting, tuple[Diagnostic, ...]]:
    """How the iterations are cut into shares; the user's word on their work goes before what is derived."""
    annotation = loop.annotation
    needed = given is None and (wanted is Wanted.PLANS or annotation.fold is not None)
    derived = infer_cost(loop, names, world, space) if needed or wanted is Wanted.COSTS else None
    known = derived if given is None else given.cost
    folded, folding, refuted = fold_bitonic(annotation, known, space)
    if given is not None or derived is None:
        return _Cutting(derived, known, folding, folded, None if given is None else given.plan), refuted
    choice = choose_cost(loop, names, world, summaries, derived, space, stored)
    return _Cutting(derived, known, folding, folded, choice.plan, choice.why), refuted


def _depths(accesses: Sequence[Access]) -> dict[str, int]:
    """By how many subscripts each array is indexed at most."""
    found: dict[str, int] = {}
    for access in accesses:
        found[access.array] = max(found.get(access.array, 0), len(access.subscripts))
    return found


def _not_private(accesses: Sequence[Access], loop: AnnotatedLoop) -> list[Access]:
    """Without those of scratch arrays: by the word of the user each iteration has its own."""
    private = {n for clause in loop.annotation.private for n in clause.names}
    return [a for a in accesses if a.root not in private]


def _plain_stores(contributions: Contributions, accesses: Sequence[Access], judge: _Judge) -> frozenset[str]:
    """Names of contributions that take stores like any array: iterations store to elements of their own.

    A dependence that is proved is none that a contribution could explain: it stays to be reported.
    """
    updated = {r.name for r in contributions.reductions}
    found = set()
    for name in contributions.disputed:
        touching = [a for a in accesses if a.array == name]
        verdicts, refusals = judge.verdicts(touching)
        proved = any(r.finding.code in _PROVED for r in refusals) and name not in updated
        if name in contributions.arrays:
            plain = bool(verdicts) or all(map(_computed, touching))
        else:
            plain = any(v.means is not Means.INSPECTOR and not v.guards for v in verdicts.values())
        if proved or plain:
            found.add(name)
    return frozenset(found)


def _computed(access: Access) -> bool:
    """Whether it says by arithmetic alone where it stores: a dependence there is no question of order."""
    return all(s.full or (s.forms and not any(f.elements for f in s.forms)) for s in access.subscripts)


def _in_order(accesses: Sequence[Access]) -> list[Access]:
    return sorted(accesses, key=lambda a: (getattr(a.node, "lineno", 0), getattr(a.node, "col_offset", 0)))


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    return tuple(sorted(dict.fromkeys(findings), key=lambda d: (d.place, d.code)))


@dataclass(frozen=True)
class _Judge:
    """Tests the stored arrays of one loop."""

    effects: Effects
    loop: AnnotatedLoop
    names: LoopNames
    space: IndexSpace | None
    aliases: Aliases
    provers: Provers
    source: Source

    def verdicts(self, accesses: Sequence[Access]) -> tuple[dict[str, Verdict], list[Refusal]]:
        """The verdict on every stored array that passed the dependence test, and what the others met with."""
        verdicts: dict[str, Verdict] = {}
        refusals: list[Refusal] = []
        assume = self.loop.annotation.assume_independent is not None
        stored = {self.aliases.get(a.array, (a.array, None))[0] for a in accesses if a.writes}
        accesses = [
            a.under(*alias) if (alias := self.aliases.get(a.array)) and alias[0] in stored else a
            for a in accesses
        ]
        written = frozenset(a.array for a in accesses if a.writes)
        for array in dict.fromkeys(a.array for a in accesses if a.writes):
            cleared = self.effects.cleared.get(array, ())
            touching = [a for a in accesses if a.overlaps(array) and a.node not in cleared]
            verdict = test_dependence(
                array, touching, self.names, self.space, written, self.source, self.provers, assume
            )
            if isinstance(verdict, Verdict):
                verdicts[array] = verdict
                verdicts |= {name: verdict for name, (origin, _) in self.aliases.items() if origin == array}
            else:
                refusals.append(verdict)
        return verdicts, refusals


def _seen_elsewhere(accesses: Sequence[Access], effects: Effects) -> frozenset[str]:
    """Arrays (``self.A``) of which the object they belong to is handed on as a whole."""
    found = set()
    for array in {a.array for a in accesses}:
        cleared = effects.cleared.get(array, ())
        if any(array.startswith(a.array + ".") and a.node not in cleared for a in accesses):
            found.add(array)
    return frozenset(found)


def _deleted(loop: AnnotatedLoop, names: LoopNames, scalars: Scalars, source: Source) -> Iterator[Diagnostic]:
    """Temporaries that end deleted: whether they are bound after the loop cannot be kept."""
    gone = {u.name: u.node for s in loop.node.body for u in uses_of(s) if u.kind is UseKind.DELETE}
    live = compute_liveness(loop, names.temporaries) if gone else frozenset()
    for name in sorted((gone.keys() & live) - scalars.definite):
        yield report("DLB421", source.place_of(gone[name]), name=name)


def _assemble(
    loop: AnnotatedLoop,
    module: Module,
    names: LoopNames,
    world: ModuleNames,
    scalars: Scalars,
    arrays: tuple[ArrayPlan, ...],
    contributions: Contributions,
    verdicts: Mapping[str, Verdict],
    lengths: Sequence[str],
    cutting: _Cutting,
) -> LoopPlan:
    private = {n for clause in loop.annotation.private for n in clause.names}
    kept = (names.temporaries - {*names.targets, *contributions.names}) | names.rebound
    live = compute_liveness(loop, names.temporaries)
    definite = live & kept & scalars.definite
    order = [n for n in _order(loop) if n in live & kept and n not in private]
    schedule = loop.annotation.schedule
    guards = tuple(dict.fromkeys((*(g for v in verdicts.values() for g in v.guards), *lengths)))
    read = cutting.plan.names if cutting.plan is not None and cutting.plan.derived else ()
    own = tuple(_parameters(names, arrays, contributions))
    mangled = dict(mangled_names(loop))
    return LoopPlan(
        loop=loop,
        space=SpaceForm(write_space(loop.node.iter, module, world), rename(names.index, mangled)),
        parameters=tuple(mangled.get(p, p) for p in dict.fromkeys((*own, *_named_in(guards), *read))),
        arrays=tuple(rename_array(a, mangled) for a in arrays),
        iterations=iterations_of(loop.annotation),
        definite=tuple(mangled.get(n, n) for n in order if n in definite),
        conditional=tuple(mangled.get(n, n) for n in order if n not in definite),
        targets_live=bool(live & (set(names.targets) - names.rebound)),
        strategy=None if schedule is None else schedule.strategy,
        group=None if schedule is None else schedule.group,
        mangled=tuple(mangled.items()),
        reductions=tuple(rename_reduction(r, mangled) for r in contributions.reductions),
        ordered=tuple(replace(o, name=mangled.get(o.name, o.name)) for o in contributions.ordered),
        unsure=tuple(mangled.get(p, p) for p in dict.fromkeys((*own, *read)) if perhaps_unbound(p, loop)),
        guards=tuple(swapped(guard, mangled) for guard in guards),
        verdicts=tuple(verdicts.values()),
        cost=cutting.plan,
        folded=cutting.folded,
        profile=loop.annotation.profile,
    )


def _of_fixed_length(accesses: Sequence[Access]) -> Iterator[str]:
    """Guards of arrays to slices of which the loop assigns: that of a list may change the list's length."""
    for access in accesses:
        node = access.node
        sliced = isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)
        if access.writes and sliced and not isinstance(node.value, ast.Subscript):  # type: ignore[union-attr]
            yield f"{access.array}.ndim > 0"


def _named_in(texts: Sequence[str]) -> Iterator[str]:
    """The names in expressions, functions apart."""
    for text in texts:
        nodes = list(ast.walk(ast.parse(text, mode="eval")))
        functions = {id(n.func) for n in nodes if isinstance(n, ast.Call)}
        yield from sorted({n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in functions})


def _last(plan: LoopPlan, names: LoopNames) -> frozenset[str]:
    """The names of which the last value is read after the loop, as the user writes them."""
    written = {mangled: name for name, mangled in plan.mangled}
    kept = {written.get(n, n) for n in (*plan.definite, *plan.conditional)}
    return frozenset(kept | {*names.targets}) if plan.targets_live else frozenset(kept)


def _trusted(facts: Facts, effects: Effects, loop: AnnotatedLoop) -> tuple[str, ...]:
    """Objects from outside that the loop changes, and that are private by the word of the user."""
    stored = {a.root for a in facts.accesses if a.writes} | effects.trusted
    return tuple(n for clause in loop.annotation.private for n in clause.names if n in stored)


def _status(verdicts: Iterable[Verdict], trusted: Sequence[str], outside: Sequence[str]) -> Status:
    """How far the independence of the iterations is established."""
    verdicts = tuple(verdicts)
    if trusted or any(v.means is Means.ASSERTED for v in verdicts):
        return Status.ASSERTED
    if outside:
        return Status.CONDITIONAL
    looked = any(v.guards or v.means is Means.INSPECTOR for v in verdicts)
    return Status.GUARDED if looked else Status.PROVEN


def _parameters(names: LoopNames, arrays: Sequence[ArrayPlan], contributions: Contributions) -> Iterator[str]:
    """The arrays of the table first, in its order, then what is contributed to, then the rest."""
    roots = [a.name.partition(".")[0] for a in arrays]
    first = (*(n for n in roots if n in names.parameters), *contributions.containers)
    bound = (r.name for r in contributions.reductions if not r.element)
    yield from dict.fromkeys((*first, *bound, *names.parameters))


def _order(loop: AnnotatedLoop) -> dict[str, None]:
    """All names of the loop in document order."""
    found = [n for n in every_node(loop.node) if isinstance(n, ast.Name)]
    found.sort(key=lambda n: (n.lineno, n.col_offset))
    order = dict.fromkeys(n.id for n in found)
    for node in every_node(loop.node):
        for field in ("name", "rest"):
            if isinstance(name := getattr(node, field, None), str):
                order.setdefault(name)
        if isinstance(node, ast.Import | ast.ImportFrom):
            order |= dict.fromkeys((a.asname or a.name).split(".")[0] for a in node.names)
    return order
