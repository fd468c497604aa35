"""Propose loops: the outermost ones that are provably parallel, compiled where that keeps their bits.

Law: a proposal rests on proof alone. `plan_loops` plans the loop as it plans an annotated one, and finds that
its iterations are independent, in any case or under a condition that is checked before the loop. What needs
the user's word, what calls code that is not seen, what data decides and what never runs is refused.

Each loop is planned once, from the outside in. What is inside a proposed loop is not looked at, since it runs
sequentially there. A proposed loop is planned once more, with `jit`. So the time is about that of checking a
program in which all loops are annotated.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import replace

from dlbrt.contract import Mode
from dlbrt.records import dataclass

from dlbc.analysis.call_targets import FindModule, ProgramModule
from dlbc.analysis.uses import own_nodes
from dlbc.diagnostics.diagnostic import Diagnostic, Severity, in_order
from dlbc.ir.annotation import JitClause
from dlbc.ir.loop import AnnotatedLoop, Module, ProofMethod, ProofStatus
from dlbc.ir.plan import LoopReport, ReportDetail
from dlbc.passes.check_form import check_strict
from dlbc.passes.plan_loops import loop_planner
from dlbc.source import SourcePlace

#: Warnings that the loop never runs.
_NEVER_RUNS = frozenset({"DLB505", "DLB506"})

_PROOFS = frozenset({ProofStatus.PROVEN, ProofStatus.GUARDED})


@dataclass(frozen=True)
class RefusedLoop:
    """A loop that is not proposed, and what is in the way.

    ``findings`` are errors, and warnings that it never runs; ``watched``: calls that would be checked while
    the loop runs, with their lines; ``by_name``: methods, with their places, that another class may have
    overridden; ``by_data``: arrays whose subscripts data decides.
    """

    loop: AnnotatedLoop
    findings: tuple[Diagnostic, ...]
    watched: tuple[tuple[str, int], ...] = ()
    by_name: tuple[tuple[str, SourcePlace], ...] = ()
    by_data: tuple[str, ...] = ()

    @property
    def is_proved(self) -> bool:
        """Whether nothing is in the way."""
        return not (self.findings or self.watched or self.by_name or self.by_data)


def propose_loops(
    module: Module,
    candidates: Sequence[AnnotatedLoop],
    find: FindModule | None = None,
    surveyed: dict[str, ProgramModule] | None = None,
) -> tuple[tuple[LoopReport, ...], tuple[RefusedLoop, ...]]:
    """The reports of the loops that are proposed, and the loops that are refused, in document order.

    ``candidates`` are in document order; ``find`` and ``surveyed`` as for `report_loops`.
    """
    plan = loop_planner(module, ReportDetail.PLANS, None, find, surveyed)
    proposed: list[LoopReport] = []
    refused: list[RefusedLoop] = []
    around: set[ast.AST] = set()
    for loop in candidates:
        if not around.isdisjoint(loop.path):
            continue
        report = plan(loop)
        verdict = judge(report)
        if verdict.is_proved:
            around.add(loop.node)
            proposed.append(_compiled(report, plan))
        else:
            refused.append(verdict)
    return tuple(proposed), tuple(refused)


def judge(report: LoopReport) -> RefusedLoop:
    """What keeps the loop of a report from being proposed."""
    errors = [d for d in check_strict(report) if d.severity is Severity.ERROR]
    never = [d for d in report.findings if d.code in _NEVER_RUNS]
    found = RefusedLoop(report.loop, in_order([*errors, *never]))
    if found.findings or report.plan is None:
        return found
    by_data = tuple(p.array for p in report.proofs if p.method is ProofMethod.INSPECTOR)
    watched = () if report.plan.status in _PROOFS else report.plan.watched
    return replace(found, watched=watched, by_name=report.by_name, by_data=by_data)


def _compiled(report: LoopReport, plan: Callable[[AnnotatedLoop], LoopReport]) -> LoopReport:
    """The report of the loop with `jit`, if its body compiles and no bit may differ; else as it is."""
    loop = report.loop
    jit = JitClause(as_written=False, place=loop.annotation.place)
    tried = plan(replace(loop, annotation=replace(loop.annotation, jit=jit)))
    chunk = None if tried.plan is None else tried.plan.chunk
    compiles = judge(tried).is_proved and chunk is not None and not chunk.differing
    return tried if compiles and _computes(tried) else report


def _computes(report: LoopReport) -> bool:
    """Whether iterations do more than one addition to a container: they loop, or store into arrays."""
    inner = any(isinstance(n, ast.For | ast.While) for n in own_nodes(report.loop.node.body))
    return inner or (report.plan is not None and any(a.mode is not Mode.READ for a in report.plan.arrays))
