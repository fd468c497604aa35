"""Plan the annotated parallel loops: run the passes over each and assemble what emission needs.

A loop gets a plan only if no pass found an error. The findings of independent passes are collected, so that
the user sees all of them at once.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from dlbrt.records import dataclass

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.iteration_cost import Cost, FoldLegality
from dlbc.analysis.call_targets import FindModule, Program, ProgramModule
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.dependence_problem import Provers
from dlbc.analysis.effects import FunctionSummaries
from dlbc.analysis.iterated_sequences import surely_runs
from dlbc.analysis.names import without_hidden
from dlbc.analysis.uses import ScalarFacts, bound_names, uses_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, has_errors, in_order
from dlbc.ir import access
from dlbc.ir.access import Access, RegionFacts
from dlbc.ir.loop import AnnotatedLoop, IndependenceProof, Module, ProofFailure, status_of
from dlbc.ir.plan import (
    ArrayPlan,
    CostPlan,
    FoldDecision,
    IterationContributions,
    LoopPlan,
    LoopReport,
    ReportDetail,
)
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.native.facts import NotCompilableError
from dlbc.native.plan_chunk import plan_chunk
from dlbc.passes.assemble_plan import PlanParts, assemble_plan
from dlbc.passes.check_closures import check_closures
from dlbc.passes.check_contributions import check_contributions
from dlbc.passes.check_effects import BodyEffects, check_effects
from dlbc.passes.check_form import check_form, check_handlers
from dlbc.passes.check_iterated import check_iterated
from dlbc.passes.check_surroundings import check_surroundings
from dlbc.passes.choose_cost import choose_cost, fold_bitonic
from dlbc.passes.choose_help import with_fitting_help
from dlbc.passes.classify_variables import check_scalars, classify_scalars, classify_variables
from dlbc.passes.compute_liveness import check_kept, compute_liveness, is_seen_after_failure, with_finalized
from dlbc.passes.find_accesses import find_accesses, find_aliases
from dlbc.passes.find_context import find_context
from dlbc.passes.find_implicit_calls import check_implicit_calls
from dlbc.passes.find_reductions import find_reductions
from dlbc.passes.infer_cost import ClauseCost, infer_cost, read_cost
from dlbc.passes.infer_distribution import infer_distribution, iteration_distribution
from dlbc.passes.prove_independence import IndependenceTest
from dlbc.passes.resolve_names import resolve_names
from dlbc.passes.survey_program import read_program, survey_module
from dlbc.source import Source

#: That an object which iterations share is changed, without what they do with it.
_CHANGES = frozenset({"DLB309", "DLB407"})


def report_loops(
    module: Module,
    loops: Sequence[AnnotatedLoop],
    wanted: ReportDetail = ReportDetail.PLANS,
    survey: tuple[ModuleNames, FunctionSummaries] | None = None,
    find: FindModule | None = None,
    surveyed: dict[str, ProgramModule] | None = None,
) -> list[LoopReport]:
    """A report for each `parallel` loop: its plan, or why it has none; remarks may come with a plan.

    Costly details that ``wanted`` does not ask for are left out. ``find`` gives the program's own modules,
    ``surveyed`` those that were surveyed before, as for `read_program`.
    """
    plan = loop_planner(module, wanted, survey, find, surveyed)
    read = [_read_by_cost(loop) for loop in loops]
    times = Counter(name for names in read for name in names)
    others = tuple(loop.node for loop in loops)
    loops = [
        replace(
            loop,
            read_by_costs=frozenset(name for name, count in times.items() if count > (name in own)),
            others=others,
        )
        for loop, own in zip(loops, read, strict=True)
    ]
    return [plan(loop) for loop in loops]


def loop_planner(
    module: Module,
    wanted: ReportDetail,
    survey: tuple[ModuleNames, FunctionSummaries] | None = None,
    find: FindModule | None = None,
    surveyed: dict[str, ProgramModule] | None = None,
) -> Callable[[AnnotatedLoop], LoopReport]:
    """What plans a single loop of a module; arguments as those of `report_loops`."""
    survey = survey or survey_module(module)
    program = read_program(module, survey, find, surveyed)
    around = _ModuleContext(module.source, *survey, Provers(), wanted, program)
    return lambda loop: _plan_loop(loop, around)


def _read_by_cost(loop: AnnotatedLoop) -> frozenset[str]:
    """Names from around the loop that its `cost` clause reads."""
    if loop.annotation.cost is None:
        return frozenset()
    expression = ast.parse(loop.annotation.cost.expression, mode="eval")
    return frozenset({u.name for u in uses_of(expression)} - bound_names([loop.node.target]).keys())


@dataclass(frozen=True)
class _ModuleContext:
    """What all loops of a module share."""

    source: Source
    module_names: ModuleNames
    summaries: FunctionSummaries
    provers: Provers
    wanted: ReportDetail
    program: Program


def _plan_loop(loop: AnnotatedLoop, around: _ModuleContext) -> LoopReport:
    module = without_hidden(around.module_names, loop)
    names = resolve_names(loop, module)
    context = AnalysisContext(loop, names, module, around.summaries, around.source, around.program)
    unfit = (*check_surroundings(context), *check_form(context))
    if has_errors(unfit):
        return LoopReport(loop, None, _sorted(unfit))
    body = _read_body(context)
    proof = _prove(context, body, around.provers)
    live = compute_liveness(loop, names.temporaries)
    lost = check_kept(context, live, body.scalars)
    live = with_finalized(context, live)
    stored = frozenset({a.array for a in body.touched if a.writes} | proof.stored)
    growing = frozenset(o.name for o in proof.contributions.ordered)
    given, misread = read_cost(context, stored, growing)
    found = _causes((*unfit, *body.findings, *proof.findings, *lost, *misread))
    findings = [with_fitting_help(finding, context) for finding in found]
    refusal = LoopReport(
        loop,
        plan=None,
        findings=_sorted(findings),
        proofs=tuple(proof.proofs.values()),
        failures=tuple(proof.failures),
        trusted=_trusted(body.facts, body.effects, loop),
        unseen=tuple(body.effects.unseen.items()),
        watched=tuple(body.effects.watched.items()),
        prints=body.effects.prints,
        asserted=tuple(dict.fromkeys(name for name, _ in body.effects.asserted)),
        by_name=body.effects.by_name,
    )
    if has_errors(findings):
        return refusal
    cutting, refuted = _partition_cost(context, proof.space, given, stored, around.wanted)
    if refuted:
        return replace(refusal, findings=_sorted([*findings, *refuted]))
    return _with_plan(context, refusal, body, proof, cutting, live)


@dataclass(frozen=True)
class _Body:
    """What the body of a loop does."""

    facts: RegionFacts
    scalars: ScalarFacts
    contributions: IterationContributions
    effects: BodyEffects
    findings: tuple[Diagnostic, ...]

    @property
    def touched(self) -> list[Access]:
        return [*self.facts.accesses, *self.effects.stores]


def _read_body(context: AnalysisContext) -> _Body:
    facts = find_accesses(context)
    # Another module of the program may bind names of this one.
    integers = {} if context.other_modules else context.module.integers
    runs = partial(surely_runs, module=context.module, integers=integers)
    scalars = classify_scalars(context.body, context.names, runs)
    contributions, refused = find_reductions(context, facts, scalars)
    effects = check_effects(context, facts, contributions)
    added_to = frozenset(contributions.containers) - contributions.maybe_stores
    findings = (
        *refused,
        *check_scalars(context, scalars, settled=contributions.explained),
        *check_closures(context, facts, effects.callees),
        *effects.findings,
        *check_implicit_calls(context, facts, effects.callees, added_to, effects.writing),
        *check_iterated(
            context, _changed(facts, contributions, effects), effects.callees, prints=effects.prints
        ),
    )
    return _Body(facts, scalars, contributions, effects, findings)


def _changed(facts: RegionFacts, contributions: IterationContributions, effects: BodyEffects) -> set[str]:
    """The names, or paths, of what the body changes and others may see."""
    found = {a.array for a in (*facts.accesses, *effects.stores) if a.writes}
    found |= {origin.name for change in facts.mutations for origin in change.origins if origin.name}
    found |= {text for text, _ in effects.items}
    return found | {*contributions.names, *contributions.containers}


@dataclass(frozen=True)
class _Proof:
    """The tests of the arrays that a loop stores to; ``contributions`` leaves out the plain stores."""

    accesses: list[Access]
    contributions: IterationContributions
    arrays: tuple[ArrayPlan, ...]
    proofs: dict[str, IndependenceProof]
    failures: list[ProofFailure]
    space: IndexSpace | None
    findings: tuple[Diagnostic, ...]

    @property
    def stored(self) -> set[str]:
        return {*self.proofs, *self.contributions.containers}


def _prove(context: AnalysisContext, body: _Body, provers: Provers) -> _Proof:
    accesses = access.in_text_order(access.without_private(body.touched, context.loop))
    aliases = find_aliases(context, access.depths_of(accesses))
    space = find_context(context.loop, context.names, context.module)
    test = IndependenceTest(context, body.effects.cleared, space, aliases, provers)
    plain = test.plain_stores(body.contributions, accesses)
    contributions = body.contributions.without(plain, accesses)
    caught = check_handlers(context, contributions)
    accesses = [a for a in accesses if not contributions.explains(a)]
    proofs, failures = test.prove(accesses)
    escaping = access.escaping_arrays(accesses, body.effects.cleared)
    arrays, contradictions = infer_distribution(context, accesses, proofs, escaping)
    used = check_contributions(context, body.facts, contributions)
    findings = (*caught, *(f.finding for f in failures), *contradictions, *used)
    return _Proof(accesses, contributions, arrays, proofs, failures, space, findings)


def _with_plan(
    context: AnalysisContext,
    loop_report: LoopReport,
    body: _Body,
    proof: _Proof,
    cutting: _PartitionCost,
    live: frozenset[str],
) -> LoopReport:
    """The report with the plan, unless a variable has no class."""
    loop = context.loop
    arrays, contributions = proof.arrays, proof.contributions
    dispatch = tuple(dict.fromkeys(e.guard for e in body.facts.expansions.values() if e.guard))
    parts = PlanParts(
        dispatch=dispatch,
        iterations=iteration_distribution(loop.annotation),
        scalars=body.scalars,
        accesses=proof.accesses,
        arrays=arrays,
        items=body.effects.items,
        contributions=contributions,
        proofs=tuple(proof.proofs.values()),
        cost=cutting.plan,
        fold_decision=cutting.fold_decision,
        live=live,
        seen_after_failure=is_seen_after_failure(loop, context.names.temporaries.union(contributions.names)),
    )
    plan = assemble_plan(context, parts)
    variables, unfit = classify_variables(
        context,
        body.scalars,
        proof.space,
        proof.accesses,
        arrays,
        contributions,
        last=_last(plan, context.names),
    )
    loop_report = replace(loop_report, findings=_sorted([*loop_report.findings, *unfit]))
    if unfit:
        return loop_report
    trusted, watched = (*loop_report.trusted, *loop_report.asserted), loop_report.watched
    status = status_of(loop_report.proofs, trusted, watched, bool(dispatch))
    plan = replace(
        plan,
        variables=variables,
        watched=watched,
        seeds=body.effects.seeds if _are_in_kernel(body.effects.seeds, plan) else (),
        seeded=body.effects.seeded,
        status=status,
    )
    plan, left = _compiled(context, plan)
    return replace(
        loop_report,
        findings=_sorted([*loop_report.findings, *left]),
        plan=plan,
        cost=cutting.derived,
        fold_legality=cutting.fold_legality,
        cost_omitted=cutting.why,
        partition_cost=cutting.partition_cost,
        space=proof.space,
    )


def _compiled(context: AnalysisContext, plan: LoopPlan) -> tuple[LoopPlan, tuple[Diagnostic, ...]]:
    """The plan with its chunk functions where the user wants them, or a remark why it has none."""
    if context.loop.annotation.jit is None:
        return plan, ()
    try:
        return replace(plan, chunk=plan_chunk(context, plan)), ()
    except NotCompilableError as why:
        place = context.loop.annotation.jit.place
        if isinstance(why.node, ast.expr | ast.stmt) and hasattr(why.node, "lineno"):
            place = context.place_of(why.node)
        return plan, (with_fitting_help(report("DLB116", place, reason=str(why)), context),)


def _are_in_kernel(holders: Iterable[str | int], plan: LoopPlan) -> bool:
    """Whether the kernel has all these names; numbers are of sequences that the loop runs over."""
    return all(isinstance(holder, int) or holder in plan.parameters for holder in holders)


@dataclass(frozen=True)
class _PartitionCost:
    """The work of the iterations: as derived, as the loop is partitioned by it, and as the kernel has it.

    ``why``: why the derived work is not in the kernel.
    """

    derived: Cost | None
    partition_cost: Cost | None
    fold_legality: FoldLegality | None
    fold_decision: FoldDecision
    plan: CostPlan | None
    why: str = ""


def _partition_cost(
    context: AnalysisContext,
    space: IndexSpace | None,
    given: ClauseCost | None,
    stored: frozenset[str],
    wanted: ReportDetail,
) -> tuple[_PartitionCost, tuple[Diagnostic, ...]]:
    """How the iterations are partitioned into shares; the user's `cost` goes before derived work."""
    loop, annotation = context.loop, context.loop.annotation
    needed = given is None and (wanted is ReportDetail.PLANS or annotation.fold is not None)
    derive = needed or wanted is ReportDetail.COSTS
    derived = infer_cost(loop, context.names, context.module, space) if derive else None
    known = derived if given is None else given.cost
    folded, folding, refuted = fold_bitonic(annotation, known, space)
    if given is not None or derived is None:
        return _PartitionCost(derived, known, folding, folded, None if given is None else given.plan), refuted
    choice = choose_cost(context, derived, space, stored)
    return _PartitionCost(derived, known, folding, folded, choice.plan, choice.why), refuted


def _causes(findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    """The findings without those that say of an object, where another is about it, that it changes."""
    whole = {(f.place.line, f.place.column) for f in findings if f.code == "DLB306"}
    return [f for f in findings if f.code not in _CHANGES or (f.place.line, f.place.column) not in whole]


def _sorted(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    return in_order(dict.fromkeys(findings))


def _last(plan: LoopPlan, names: LoopNames) -> frozenset[str]:
    """The names whose last value is read after the loop, as the user writes them."""
    written = {mangled: name for name, mangled in plan.mangled}
    kept = {written.get(n, n) for n in (*plan.definite, *plan.conditional)}
    return frozenset(kept | {*names.targets}) if plan.targets_live else frozenset(kept)


def _trusted(facts: RegionFacts, effects: BodyEffects, loop: AnnotatedLoop) -> tuple[str, ...]:
    """Objects from outside that the loop changes, and that the user declared private."""
    stored = {a.root for a in facts.accesses if a.writes} | effects.trusted
    return tuple(n for clause in loop.annotation.private for n in clause.names if n in stored)
