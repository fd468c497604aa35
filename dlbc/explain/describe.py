"""The sections of one loop's explanation, as rows of a subject and a sentence."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbrt.contract import Distribution
from dlbrt.records import dataclass

from dlbc.diagnostics import Diagnostic, Severity, has_errors
from dlbc.explain.ranks import RankSpec, describe_ranks
from dlbc.explain.strategies import SUMMARIES
from dlbc.explain.words import describe_arrays, describe_reduction, describe_variable, written_name
from dlbc.explain.work import describe_cost
from dlbc.ir.cost_plan import FoldDecision
from dlbc.ir.plan import LoopPlan
from dlbc.ir.proof import ProofMethod, ProofStatus
from dlbc.ir.report import LoopReport

__all__ = ["Section", "describe", "is_refused", "status_text"]

Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Section:
    """A title and its rows; the subject of a row may be empty, which continues the one before."""

    title: str
    rows: tuple[Row, ...]


def is_refused(report: LoopReport) -> bool:
    """Whether the loop is not made parallel."""
    return report.plan is None or has_errors(report.findings)


def status_text(report: LoopReport) -> str:
    """The verdict in a few words."""
    if report.plan is None or has_errors(report.findings):
        return "refused"
    return report.plan.status.value


def describe(report: LoopReport, ranks: RankSpec | None = None) -> tuple[Section, ...]:
    """All sections that have something to say; of a loop that is refused, why and what was tried."""
    sections = [Section("findings", tuple(map(_finding, report.findings)))]
    sections.append(Section("dependences", tuple(_dependences(report))))
    if report.plan is not None:
        sections += _planned(report, report.plan)
        if ranks is not None:
            title = f"on {ranks.count} rank{'s' * (ranks.count > 1)}"
            sections.append(Section(title, tuple(describe_ranks(report, ranks))))
    return tuple(s for s in sections if s.rows)


def _planned(report: LoopReport, plan: LoopPlan) -> Iterator[Section]:
    yield Section("rests on", tuple(_conditions(report, plan)))
    yield Section("iterations", ((_dealt(plan), ""), *((line, "") for line in _items(plan.loop.node.iter))))
    yield Section("arrays", tuple(describe_arrays(plan)))
    yield Section("variables", tuple((v.name, describe_variable(v)) for v in plan.variables))
    yield Section(
        "reductions", tuple((written_name(r.name, plan), describe_reduction(r)) for r in plan.reductions)
    )
    yield Section("ordered effects", tuple(_ordered(report, plan)))
    yield Section("cost", tuple(describe_cost(report)))


def _finding(finding: Diagnostic) -> Row:
    place = f"{finding.place.line}:{finding.place.column} " if finding.place.line else ""
    word = "" if finding.severity is Severity.ERROR else f"{finding.severity.value}: "
    return finding.code, f"{place}{word}{finding.message}"


def _dependences(report: LoopReport) -> Iterator[Row]:
    """Per array that is stored into, each means that was tried; the last one decided."""
    for verdict in report.proofs:
        yield from _steps(verdict.array, verdict.tried or (verdict.method.value,))
    for refusal in report.failures:
        yield from _steps(refusal.array, (*refusal.tried, f"refused: {refusal.finding.code}"))


def _steps(array: str, lines: tuple[str, ...]) -> Iterator[Row]:
    for number, line in enumerate(lines):
        yield ("" if number else array), line


def _conditions(report: LoopReport, plan: LoopPlan) -> Iterator[Row]:
    """What has to hold beside what the text shows."""
    for guard in plan.guards:
        yield "guard", f"`{guard}`, looked at before the loop; where it is false rank 0 runs the loop alone"
    for verdict in plan.proofs:
        if verdict.method is ProofMethod.INSPECTOR:
            yield (
                "inspector",
                (
                    f"the rows of `{verdict.array}`, looked at before the loop; where two iterations meet "
                    "rank 0 runs the loop alone"
                ),
            )
    for name in plan.outside:
        yield "outside", f"`{name}` is taken to change nothing that iterations share"
    for verdict in plan.proofs:
        if verdict.method is ProofMethod.ASSERTED:
            yield "user", f"`assume_independent`: each iteration has elements of `{verdict.array}` of its own"
    for name in report.asserted:
        yield "user", f"`assume_independent`: it does not matter in which order `{name}` writes"
    for name in report.trusted:
        yield "user", f"`private({name})`: no iteration reads what another one left in it"
    if plan.status is ProofStatus.PROVEN:
        yield "text", "what the program says"
    if plan.arrays:
        yield (
            "data",
            "that arrays do not overlap, looked at before the loop; where they do rank 0 runs it alone",
        )


def _ordered(report: LoopReport, plan: LoopPlan) -> Iterator[Row]:
    for container in plan.ordered:
        name = written_name(container.name, plan)
        yield name, "added to and stored into in iteration order: it ends as the sequential program leaves it"
    if report.prints:
        yield "standard output", "captured on each rank, written in iteration order"


def _items(space: ast.expr) -> Iterator[str]:
    """What is sent of the sequences that the loop runs over; a range needs no sending."""
    match space:
        case ast.Call(func=ast.Name(id="range")):
            return
        case ast.Call(func=ast.Name(id="enumerate" | "reversed" | "tqdm"), args=[inner, *_]):
            yield from _items(inner)
        case ast.Call(func=ast.Name(id="zip"), args=parts):
            for part in parts:
                yield from _items(part)
        case _:
            yield f"each rank gets the items of `{ast.unparse(space)}` that its iterations take"


def _dealt(plan: LoopPlan) -> str:
    form = "round-robin" if plan.iterations is Distribution.CYCLIC else "in blocks"
    if plan.fold_decision is not FoldDecision.NO:
        form = f"in pairs or singly, {form}" if plan.unfolds_for else f"in pairs, {form}"
    strategy = "auto, unless the run names another"
    if plan.strategy is not None:
        strategy = f"{plan.strategy} ({SUMMARIES[plan.strategy]})"
    group = "" if plan.group is None else f", groups of {plan.group}"
    return f"dealt {form}; strategy {strategy}{group}"
