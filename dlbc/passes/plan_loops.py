"""Plan one annotated parallel loop: run the passes over it and assemble what emission needs.

A plan comes out only if no pass found an error; findings of independent passes are collected, so that a
person sees them together.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dlbrt.records import dataclass

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, has_errors
from dlbc.ir.access import Access, Facts
from dlbc.ir.access_lists import depths_of, in_order, is_computed, seen_as_wholes, without_private
from dlbc.ir.cost import Cost, Folding
from dlbc.ir.cost_plan import CostPlan, Folded
from dlbc.ir.effects import Summaries
from dlbc.ir.loop import AnnotatedLoop, Module
from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.ir.proof import Means, Refusal, Verdict, status_of
from dlbc.ir.reduction import Contributions
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.ir.report import LoopReport, Wanted
from dlbc.ir.scalars import Scalars
from dlbc.ir.space import IndexSpace
from dlbc.ir.uses import UseKind, bound_names, uses_of
from dlbc.passes.assemble_plan import Pieces, assemble_plan
from dlbc.passes.check_caught import check_caught
from dlbc.passes.check_effects import Effects, check_effects
from dlbc.passes.check_form import check_form
from dlbc.passes.check_hidden import check_hidden
from dlbc.passes.check_scalars import check_scalars
from dlbc.passes.choose_cost import choose_cost
from dlbc.passes.classify_scalars import classify_scalars
from dlbc.passes.classify_variables import classify_variables
from dlbc.passes.compute_liveness import compute_liveness, is_seen_after_failure
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
    around = _Around(module, *(survey or survey_module(module)), Provers(), wanted)
    loops = [replace(loop, read_by_costs=_read_by_costs(loops, loop)) for loop in loops]
    return [_plan_loop(loop, around) for loop in loops]


def _read_by_costs(loops: Sequence[AnnotatedLoop], besides: AnnotatedLoop) -> frozenset[str]:
    """Names from around the loops that the costs of all but one of them read."""
    found: set[str] = set()
    for loop in loops:
        if loop is not besides and loop.annotation.cost is not None:
            expression = ast.parse(loop.annotation.cost.expression, mode="eval")
            found |= {u.name for u in uses_of(expression)} - bound_names([loop.node.target]).keys()
    return frozenset(found)


@dataclass(frozen=True)
class _Around:
    """What is the same for all loops of a module."""

    module: Module
    world: ModuleNames
    summaries: Summaries
    provers: Provers
    wanted: Wanted

    @property
    def source(self) -> Source:
        """The text."""
        return self.module.source


def _plan_loop(loop: AnnotatedLoop, around: _Around) -> LoopReport:
    names = resolve_names(loop, around.world)
    unfit = tuple(check_form(loop, names, around.world, around.source))
    if has_errors(unfit):
        return LoopReport(loop, None, _sorted(unfit))
    body = _read_body(loop, names, around)
    proof = _prove(loop, body, around)
    live = compute_liveness(loop, names.temporaries)
    deleted = _deleted(loop, live, body.scalars, around.source)
    stored = frozenset({a.array for a in body.touched if a.writes} | proof.stored)
    growing = frozenset(o.name for o in proof.contributions.ordered)
    given, misread = read_cost(loop, names, around.world, around.summaries, stored, growing)
    findings = (*unfit, *body.findings, *proof.findings, *deleted, *misread)
    told = _told(loop, body, proof)
    if has_errors(findings):
        return replace(told, findings=_sorted(findings))
    cutting, refuted = _cut(loop, names, around, proof.space, given, stored)
    if refuted:
        return replace(told, findings=_sorted([*findings, *refuted]))
    return _planned(replace(told, findings=findings), body, proof, cutting, live, around)


@dataclass(frozen=True)
class _Body:
    """What the body of a loop does."""

    names: LoopNames
    facts: Facts
    scalars: Scalars
    contributions: Contributions
    effects: Effects
    findings: tuple[Diagnostic, ...]

    @property
    def touched(self) -> list[Access]:
        """Every access to elements."""
        return [*self.facts.accesses, *self.effects.stores]


def _read_body(loop: AnnotatedLoop, names: LoopNames, around: _Around) -> _Body:
    world, summaries, source = around.world, around.summaries, around.source
    facts = find_accesses(loop, names, world, summaries)
    scalars = classify_scalars(loop.node.body, names)
    contributions, refused = find_reductions(loop, names, facts, scalars, world, source)
    effects = check_effects(facts, names, world, summaries, source, loop, contributions)
    callees, settled = effects.callees, contributions.settled
    added_to = frozenset(contributions.containers) - contributions.disputed
    findings = (
        *refused,
        *check_scalars(scalars, facts, callees, loop, names, source, settled),
        *effects.findings,
        *check_hidden(facts, callees, names, world, source, loop, added_to, effects.writing),
    )
    return _Body(names, facts, scalars, contributions, effects, findings)


@dataclass(frozen=True)
class _Proof:
    """What was found of the arrays that a loop stores to; ``contributions`` are those that are no stores."""

    accesses: list[Access]
    contributions: Contributions
    arrays: tuple[ArrayPlan, ...]
    verdicts: dict[str, Verdict]
    refusals: list[Refusal]
    space: IndexSpace | None
    findings: tuple[Diagnostic, ...]

    @property
    def stored(self) -> set[str]:
        """What is stored or contributed to."""
        return {*self.verdicts, *self.contributions.containers}


def _prove(loop: AnnotatedLoop, body: _Body, around: _Around) -> _Proof:
    world, names, effects = around.world, body.names, body.effects
    accesses = in_order(without_private(body.touched, loop))
    aliases = find_aliases(loop, names, world, depths_of(accesses))
    space = find_facts(loop, names, world)
    judge = _Judge(effects, loop, names, space, aliases, around.provers, around.source)
    plain = _plain_stores(body.contributions, accesses, judge)
    contributions = body.contributions.without(plain)
    caught = check_caught(contributions, loop, world, around.source)
    accesses = [a for a in accesses if a.array not in contributions.containers]
    verdicts, refusals = judge.verdicts(accesses)
    arrays, contradictions = infer_distribution(
        accesses, verdicts, seen_as_wholes(accesses, effects.cleared), names.index, loop
    )
    findings = (*caught, *(r.finding for r in refusals), *contradictions)
    return _Proof(accesses, contributions, arrays, verdicts, refusals, space, findings)


def _told(loop: AnnotatedLoop, body: _Body, proof: _Proof) -> LoopReport:
    """What is told of a loop whether it is planned or not."""
    return LoopReport(
        loop,
        plan=None,
        findings=(),
        verdicts=tuple(proof.verdicts.values()),
        refusals=tuple(proof.refusals),
        trusted=_trusted(body.facts, body.effects, loop),
        unseen=tuple(body.effects.unseen.items()),
        prints=body.effects.prints,
        asserted=tuple(dict.fromkeys(name for name, _ in body.effects.asserted)),
    )


def _planned(
    told: LoopReport, body: _Body, proof: _Proof, cutting: _Cutting, live: frozenset[str], around: _Around
) -> LoopReport:
    """The report with the plan, unless a variable has no class."""
    loop, names, scalars = told.loop, body.names, body.scalars
    arrays, contributions = proof.arrays, proof.contributions
    plan = assemble_plan(loop, _pieces(loop, body, proof, cutting, live, around))
    last = _last(plan, names)
    variables, unfit = classify_variables(
        loop, names, scalars, proof.space, proof.accesses, arrays, contributions, last, around.source
    )
    told = replace(told, findings=_sorted([*told.findings, *unfit]))
    if unfit:
        return told
    outside = tuple(name for name, _ in told.unseen)
    status = status_of(told.verdicts, (*told.trusted, *told.asserted), outside)
    return replace(
        told,
        plan=replace(plan, variables=variables, outside=outside, status=status),
        cost=cutting.derived,
        folding=cutting.folding,
        omitted=cutting.why,
        known=cutting.known,
        space=proof.space,
    )


def _pieces(
    loop: AnnotatedLoop, body: _Body, proof: _Proof, cutting: _Cutting, live: frozenset[str], around: _Around
) -> Pieces:
    return Pieces(
        space=write_space(loop.node.iter, around.module, around.world),
        iterations=iterations_of(loop.annotation),
        names=body.names,
        scalars=body.scalars,
        accesses=proof.accesses,
        arrays=proof.arrays,
        contributions=proof.contributions,
        verdicts=tuple(proof.verdicts.values()),
        cost=cutting.plan,
        folded=cutting.folded,
        live=live,
        seen_after_failure=is_seen_after_failure(loop, frozenset(proof.contributions.names)),
    )


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
    around: _Around,
    space: IndexSpace | None,
    given: GivenCost | None,
    stored: frozenset[str],
) -> tuple[_Cutting, tuple[Diagnostic, ...]]:
    """How the iterations are cut into shares; the user's word on their work goes before what is derived."""
    annotation, world, wanted = loop.annotation, around.world, around.wanted
    needed = given is None and (wanted is Wanted.PLANS or annotation.fold is not None)
    derived = infer_cost(loop, names, world, space) if needed or wanted is Wanted.COSTS else None
    known = derived if given is None else given.cost
    folded, folding, refuted = fold_bitonic(annotation, known, space)
    if given is not None or derived is None:
        return _Cutting(derived, known, folding, folded, None if given is None else given.plan), refuted
    choice = choose_cost(loop, names, world, around.summaries, derived, space, stored)
    return _Cutting(derived, known, folding, folded, choice.plan, choice.why), refuted


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
            plain = bool(verdicts) or all(map(is_computed, touching))
        else:
            plain = any(v.means is not Means.INSPECTOR and not v.guards for v in verdicts.values())
        if proved or plain:
            found.add(name)
    return frozenset(found)


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


def _deleted(
    loop: AnnotatedLoop, live: frozenset[str], scalars: Scalars, source: Source
) -> Iterator[Diagnostic]:
    """Temporaries that end deleted: whether they are bound after the loop cannot be kept."""
    gone = {u.name: u.node for s in loop.node.body for u in uses_of(s) if u.kind is UseKind.DELETE}
    for name in sorted((gone.keys() & live) - scalars.definite):
        yield report("DLB421", source.place_of(gone[name]), name=name)


def _last(plan: LoopPlan, names: LoopNames) -> frozenset[str]:
    """The names of which the last value is read after the loop, as the user writes them."""
    written = {mangled: name for name, mangled in plan.mangled}
    kept = {written.get(n, n) for n in (*plan.definite, *plan.conditional)}
    return frozenset(kept | {*names.targets}) if plan.targets_live else frozenset(kept)


def _trusted(facts: Facts, effects: Effects, loop: AnnotatedLoop) -> tuple[str, ...]:
    """Objects from outside that the loop changes, and that are private by the word of the user."""
    stored = {a.root for a in facts.accesses if a.writes} | effects.trusted
    return tuple(n for clause in loop.annotation.private for n in clause.names if n in stored)
