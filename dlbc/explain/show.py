"""Explanations of a whole file: as text for people, as JSON for tools."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from dlbc.diagnostics import Diagnostic, Style, paint, render
from dlbc.explain.describe import Section, describe, is_refused, status_word
from dlbc.explain.ranks import Ranks, rank_object
from dlbc.explain.words import variable_words, written_name
from dlbc.explain.work import cost_object, folding_object, profile_object
from dlbc.ir.plan import LoopPlan
from dlbc.ir.report import LoopReport
from dlbc.source import Source

__all__ = ["as_json", "as_text"]

_INDENT = "  "


def as_text(
    source: Source,
    reports: Sequence[LoopReport],
    findings: Sequence[Diagnostic],
    *,
    color: bool = False,
    ranks: Ranks | None = None,
) -> str:
    """A paragraph per loop, then what was found outside of them; with ``ranks`` what loops cost there."""
    paragraphs = ["\n".join(_loop(source, report, color, ranks)) for report in reports]
    paragraphs += [render(finding, source, color=color) for finding in _elsewhere(reports, findings)]
    return "\n\n".join(paragraphs)


def _elsewhere(reports: Sequence[LoopReport], findings: Sequence[Diagnostic]) -> list[Diagnostic]:
    told = {finding for report in reports for finding in report.findings}
    return [finding for finding in findings if finding not in told]


def _loop(source: Source, report: LoopReport, color: bool, ranks: Ranks | None) -> Iterator[str]:
    style = Style.ERROR if is_refused(report) else Style.GOOD
    head = paint(f"{source.path}:{report.loop.node.lineno}: {_header(source, report)}", Style.BOLD, color)
    yield head
    yield f"{_INDENT}{paint(status_word(report), style, color)}"
    for section in describe(report, ranks):
        yield from _section(section, color)


def _header(source: Source, report: LoopReport) -> str:
    """The line of the `for`, marked where it goes on."""
    node = report.loop.node
    line = source.line(node.lineno)
    text = line[source.place_of(node).column - 1 :].rstrip()
    return text + (" ..." if (node.iter.end_lineno or node.lineno) > node.lineno else "")


def _section(section: Section, color: bool) -> Iterator[str]:
    yield f"{_INDENT}{paint(section.title, Style.BOLD, color)}"
    width = max(len(subject) for subject, _ in section.rows)
    for subject, text in section.rows:
        yield f"{_INDENT * 2}{subject:<{width}}  {text}".rstrip() if width else f"{_INDENT * 2}{text}"


def as_json(
    source: Source,
    reports: Sequence[LoopReport],
    findings: Sequence[Diagnostic],
    *,
    ranks: Ranks | None = None,
) -> str:
    """One object: the file, its loops, and the diagnostics outside of them; ``ranks`` as `as_text`."""
    document = {
        "file": source.path,
        "loops": [_loop_object(source, report, ranks) for report in reports],
        "findings": [_finding_object(finding) for finding in _elsewhere(reports, findings)],
    }
    return json.dumps(document, indent=2)


def _finding_object(finding: Diagnostic) -> dict[str, Any]:
    place = finding.place
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "line": place.line,
        "column": place.column,
        "message": finding.message,
        "help": finding.help,
    }


def _loop_object(source: Source, report: LoopReport, ranks: Ranks | None) -> dict[str, Any]:
    decided = [
        {"array": v.array, "means": v.means.value, "axis": v.axis, "guards": v.guards, "tried": v.tried}
        for v in report.verdicts
    ]
    decided += [{"array": r.array, "refused": r.finding.code, "tried": r.tried} for r in report.refusals]
    place = source.place_of(report.loop.node)
    return {
        "line": place.line,
        "column": place.column,
        "header": _header(source, report),
        "status": status_word(report),
        "findings": [_finding_object(finding) for finding in report.findings],
        "dependences": decided,
        "asserted_private": report.trusted,
        "asserted_files": report.asserted,
        "standard_output": report.prints,
        **({} if report.plan is None else _plan_object(report, report.plan)),
        **({} if report.plan is None or ranks is None else {"on_ranks": rank_object(report, ranks)}),
    }


def _plan_object(report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    return {
        "iterations": plan.iterations.value,
        "strategy": plan.strategy,
        "guards": plan.guards,
        "outside": plan.outside,
        "arrays": [
            {
                "name": written_name(a.name, plan),
                "distribution": a.distribution.value,
                "axis": a.axis,
                "mode": a.mode.value,
                "rows": a.rows,
                "inspect": a.inspect,
            }
            for a in plan.arrays
        ],
        "variables": [
            {
                "name": v.name,
                "class": v.role.value,
                "axis": v.axis,
                "halo": [v.below, v.above],
                "detail": variable_words(v),
            }
            for v in plan.variables
        ],
        "reductions": [
            {"name": written_name(r.name, plan), "operator": r.operator, "element": r.element}
            for r in plan.reductions
        ],
        "ordered": [written_name(o.name, plan) for o in plan.ordered],
        "cost": cost_object(report, plan),
        "folding": folding_object(report, plan),
        "profile": profile_object(plan.profile),
    }
