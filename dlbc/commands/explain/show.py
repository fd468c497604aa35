"""The explanation of a whole file: as text for people, as an object of JSON for tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dlbc.commands.explain import sentences
from dlbc.commands.explain.describe import (
    Section,
    describe,
    describe_routine,
    header_of,
    measured_at,
    place_object,
    routine_object,
)
from dlbc.commands.explain.ranks import RankSpec, ranks_as_json
from dlbc.commands.verdicts import count_verdicts, elsewhere, is_refused, status_text
from dlbc.diagnostics.diagnostic import Diagnostic, TextStyle, paint, render
from dlbc.ir.plan import LoopPlan, LoopReport
from dlbc.ir.routine import RoutinePlan
from dlbc.pipeline import TransformResult
from dlbc.source import Source

_INDENT = "  "


def as_text(
    source: Source, result: TransformResult, *, color: bool = False, ranks: RankSpec | None = None
) -> str:
    """A paragraph per loop and routine, then the other diagnostics; ``ranks`` adds estimates for them."""
    numbered = [(r.loop.node.lineno, "\n".join(_loop(source, r, color, ranks))) for r in result.reports]
    numbered += [
        (r.routine.node.lineno, "\n".join(_routine(source, r, result.reports, color, ranks)))
        for r in result.routines
    ]
    paragraphs = [text for _, text in sorted(numbered, key=lambda pair: pair[0])]
    paragraphs += [render(finding, source, color=color) for finding in elsewhere(result)]
    return "\n\n".join(paragraphs)


def heading(source: Source, result: TransformResult, *, color: bool = False) -> str:
    """The line above a file's paragraphs where there are several files."""
    counted = count_verdicts(result.reports)
    return paint(f"== {source.path}" + (f", {counted}" if counted else ""), TextStyle.BOLD, color)


def _loop(source: Source, report: LoopReport, color: bool, ranks: RankSpec | None) -> Iterator[str]:
    style = TextStyle.ERROR if is_refused(report) else TextStyle.GOOD
    status = paint(status_text(report), style, color)
    yield from _paragraph(source, report.loop.node, status, describe(source, report, ranks), color)


def _routine(
    source: Source, plan: RoutinePlan, reports: Sequence[LoopReport], color: bool, ranks: RankSpec | None
) -> Iterator[str]:
    status = paint("routine", TextStyle.GOOD, color)
    sections = describe_routine(plan, reports, ranks)
    yield from _paragraph(source, plan.routine.node, status, sections, color)


def _paragraph(
    source: Source, node: ast.For | ast.While, status: str, sections: Sequence[Section], color: bool
) -> Iterator[str]:
    where = source.position(source.place_of(node)) if source.cells else f"{source.path}:{node.lineno}"
    yield paint(f"{where}: {header_of(source, node)}", TextStyle.BOLD, color)
    yield f"{_INDENT}{status}"
    for section in sections:
        yield f"{_INDENT}{paint(section.title, TextStyle.BOLD, color)}"
        width = max(len(subject) for subject, _ in section.rows)
        for subject, text in section.rows:
            row = f"{subject:<{width}}  {text}".rstrip() if width else text
            yield f"{_INDENT * 2}{source.by_cells(row)}"


def as_object(source: Source, result: TransformResult, *, ranks: RankSpec | None = None) -> dict[str, Any]:
    """For JSON: the file, its loops, its routines, other diagnostics; ``ranks`` as for `as_text`."""
    return {
        "file": source.path,
        "loops": [_loop_object(source, report, ranks) for report in result.reports],
        "routines": [routine_object(source, plan, result.reports, ranks) for plan in result.routines],
        "findings": [_finding_object(source, finding) for finding in elsewhere(result)],
    }


def _finding_object(source: Source, finding: Diagnostic) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        **place_object(source, finding.place),
        "message": source.by_cells(finding.message),
        "help": source.by_cells(finding.help),
    }


def _loop_object(source: Source, report: LoopReport, ranks: RankSpec | None) -> dict[str, Any]:
    decided = [
        {"array": v.array, "means": v.method.value, "axis": v.axis, "guards": v.guards, "tried": v.tried}
        for v in report.proofs
    ]
    decided += [{"array": r.array, "refused": r.finding.code, "tried": r.tried} for r in report.failures]
    place = source.place_of(report.loop.node)
    return {
        **place_object(source, place),
        "header": header_of(source, report.loop.node),
        "status": status_text(report),
        "findings": [_finding_object(source, finding) for finding in report.findings],
        "dependences": decided,
        "asserted_private": report.trusted,
        "asserted_files": report.asserted,
        "standard_output": report.prints,
        **({} if report.plan is None else _plan_object(source, report, report.plan)),
        **({} if report.plan is None or ranks is None else {"on_ranks": _on_ranks(source, report, ranks)}),
    }


def _on_ranks(source: Source, report: LoopReport, ranks: RankSpec) -> dict[str, Any]:
    measured = measured_at(source, report, ranks)
    return ranks_as_json(report, ranks) | ({} if measured is None else {"measured": asdict(measured)})


def _plan_object(source: Source, report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    return {
        "iterations": plan.iterations.value,
        "strategy": plan.strategy,
        "guards": plan.guards,
        "watched": {name: source.in_cell(line)[1] for name, line in plan.watched},
        "arrays": [
            {"name": sentences.written_name(a.name, plan), "distribution": a.distribution.value}
            | {"axis": a.axis, "mode": a.mode.value, "rows": a.rows, "inspect": a.inspect}
            for a in plan.arrays
        ],
        "variables": [
            {"name": v.name, "class": v.variable_class.value, "axis": v.axis}
            | {"halo": [v.halo_below, v.halo_above], "detail": sentences.describe_variable(v)}
            for v in plan.variables
        ],
        "reductions": [
            {"name": sentences.written_name(r.name, plan), "operator": r.operator, "element": r.element}
            for r in plan.reductions
        ],
        "ordered": [sentences.written_name(o.name, plan) for o in plan.ordered],
        "cost": sentences.cost_object(source, report, plan),
        "folding": sentences.folding_object(report, plan),
        "profile": sentences.profile_object(plan.profile),
    }
