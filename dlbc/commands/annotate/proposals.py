"""The annotations that are proposed for a file, each of them proved in the text that has them all.

`dlbc.pipeline.propose` finds the loops. Here they are written into a copy of the program, together with
`iterate` above the sequential loops around them, and the copy is compiled as `dlbc check --strict` compiles a
program. What is not proved there, or is of no use, is taken out, and the rest is compiled again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.algebra.iteration_cost import CostClass
from dlbc.commands.annotate.insert import moved, with_comments
from dlbc.diagnostics.diagnostic import Diagnostic, has_errors
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import FoldDecision, LoopReport
from dlbc.ir.routine import RoutinePlan, WrapKind
from dlbc.parse.find_modules import SearchPath
from dlbc.passes.propose_loops import RefusedLoop, judge
from dlbc.pipeline import TransformResult, explain, propose
from dlbc.source import Source

#: How often annotations are taken out and the rest is compiled again, before all are taken out.
_ROUNDS = 4

ITERATE = "iterate"

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True)
class Proposal:
    """A loop with its annotation.

    ``line`` is its line in the program as it is; ``report`` is that of the annotated program. ``routine`` is
    the line of the sequential loop around it that is to be annotated `iterate`, 0 if there is none.
    """

    line: int
    text: str
    report: LoopReport
    routine: int = 0


@dataclass(frozen=True)
class FileProposals:
    """What is found in a file; ``diagnostics`` say why nothing is, if its own annotations are not right."""

    source: Source
    diagnostics: tuple[Diagnostic, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    refused: tuple[RefusedLoop, ...] = ()

    @property
    def loops(self) -> tuple[AnnotatedLoop, ...]:
        """All of its loops."""
        return (*(p.report.loop for p in self.proposals), *(r.loop for r in self.refused))


def find_proposals(source: Source, search: SearchPath) -> FileProposals:
    """What is proposed for a program, and what is in the way of its other loops."""
    found = propose(source, search=search)
    if found.diagnostics or not found.proposed:
        return FileProposals(source, found.diagnostics, (), found.refused)
    loops = {report.loop.node.lineno: report for report in found.proposed}
    comments = {line: _text(report) for line, report in loops.items()}
    routines = {line: node.lineno for line, r in loops.items() if (node := _around(r)) is not None}
    refused = list(found.refused)
    for _ in range(_ROUNDS):
        everything = {**comments, **dict.fromkeys(routines.values(), ITERATE)}
        result = explain(with_comments(source, everything), strict=True, search=search)
        if has_errors(_outside(result)):
            break
        reports = {report.loop.node.lineno: report for report in result.reports}
        of_loops = {line: reports[moved(line, everything)] for line in comments}
        better = _better(result, of_loops, routines, everything)
        if better == (comments, routines):
            proposals = (
                Proposal(line, text, of_loops[line], routines.get(line, 0)) for line, text in comments.items()
            )
            return FileProposals(source, (), tuple(proposals), tuple(refused))
        refused += (judge(of_loops[line]) for line in comments.keys() - better[0].keys())
        comments, routines = better
    return FileProposals(source, (), (), tuple(refused))


def _outside(result: TransformResult) -> list[Diagnostic]:
    """The diagnostics that belong to no loop."""
    of_loops = {finding for report in result.reports for finding in report.findings}
    return [finding for finding in result.diagnostics if finding not in of_loops]


def _better(
    result: TransformResult,
    of_loops: Mapping[int, LoopReport],
    routines: Mapping[int, int],
    everything: Mapping[int, str],
) -> tuple[dict[int, str], dict[int, int]]:
    """The comments of proved loops, with fitting distributions, and routines that keep arrays on ranks."""
    useful = {plan.routine.node.lineno: plan for plan in result.routines if _is_useful(plan)}
    useful |= {nested.node.lineno: plan for plan in useful.values() for nested in plan.nested}
    proved = {line: report for line, report in of_loops.items() if judge(report).is_proved}
    kept = {line: around for line, around in routines.items() if line in proved}
    kept = {line: around for line, around in kept.items() if moved(around, everything) in useful}
    texts = {line: _text(report, _is_in_turn(report, result.routines)) for line, report in proved.items()}
    return texts, kept


def _is_useful(plan: RoutinePlan) -> bool:
    """Whether arrays stay on the ranks: no code between the loops looks at whole arrays in each pass."""
    kinds = (WrapKind.EXPRESSION, WrapKind.BEFORE)
    whole = {ast.unparse(wrap.node) for wrap in plan.wraps if wrap.kind in kinds}
    return bool(plan.resident) and whole.isdisjoint(plan.resident) and not plan.unseen


def _is_in_turn(report: LoopReport, routines: Iterable[RoutinePlan]) -> bool:
    """Whether blocks would leave ranks idle, and no copies of neighbouring rows speak for them."""
    plan, cost = report.plan, report.partition_cost
    assert plan is not None, "the loop is proved"
    if any(v.halo_below or v.halo_above for v in plan.variables):
        return False
    if any(r.narrowing and report.loop.ordinal in r.loops for r in routines):
        return True
    cut = plan.cost is not None or plan.fold_decision is not FoldDecision.NO
    return not cut and cost is not None and cost.cost_class not in (CostClass.UNIFORM, CostClass.UNKNOWN)


def _text(report: LoopReport, in_turn: bool = False) -> str:
    """The annotation of a loop."""
    words = ["parallel", *([Distribution.CYCLIC.value] if in_turn else [])]
    return ", ".join([*words, *(["jit"] if report.loop.annotation.jit is not None else [])])


def _around(report: LoopReport) -> ast.For | ast.While | None:
    """The innermost loop around it in the same function, if that may be a routine."""
    for node in reversed(report.loop.path):
        if isinstance(node, ast.For | ast.While):
            return node
        if isinstance(node, (*_SCOPES, ast.AsyncFor)):
            return None
    return None
