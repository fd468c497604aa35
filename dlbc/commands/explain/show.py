"""The explanation of a whole file: as text by sections or by remarks, as an object of JSON for tools."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dlbc.commands.explain import sentences
from dlbc.commands.explain.describe import header_of, measured_at, place_object, routine_object
from dlbc.commands.explain.file import ExplainedFile, explain_file
from dlbc.commands.explain.rank_facts import ranks_as_json
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.explain.remarks import EVERYTHING, Remark, RemarkFilter, in_sections
from dlbc.commands.verdicts import REMARK_STYLES, count_verdicts, elsewhere, is_refused, status_text
from dlbc.diagnostics.diagnostic import Diagnostic, Severity, TextStyle, paint, render, shown
from dlbc.ir.plan import LoopPlan, LoopReport
from dlbc.pipeline import TransformResult
from dlbc.source import Source

_INDENT = "  "


def as_text(
    source: Source, result: TransformResult, *, color: bool = False, ranks: RankSpec | None = None
) -> str:
    """A paragraph per loop and routine, then the other diagnostics; ``ranks`` adds estimates for them."""
    return text_of_file(explain_file(source, result, ranks), color=color)


def text_of_file(file: ExplainedFile, *, color: bool = False) -> str:
    """The same of a file that is explained."""
    source = file.source
    numbered = [
        (report.loop.node.lineno, "\n".join(_loop(source, report, remarks, color)))
        for report, remarks in file.loops
    ]
    numbered += [
        (plan.routine.node.lineno, "\n".join(_routine(source, plan.routine.node, remarks, color)))
        for plan, remarks in file.routines
    ]
    paragraphs = [text for _, text in sorted(numbered, key=lambda pair: pair[0])]
    for remark in file.others:
        finding = remark.diagnostic
        paragraphs.append(
            line_of(source, remark, color) if finding is None else render(finding, source, color=color)
        )
    return "\n\n".join(paragraphs)


def as_lines(file: ExplainedFile, wanted: RemarkFilter, *, color: bool = False) -> str:
    """The remarks that the filter takes, one after the other in the order of the source, with their hints."""
    lines = [line_of(file.source, remark, color) for remark in file.remarks if wanted.takes(remark)]
    return "\n".join(lines)


def line_of(source: Source, remark: Remark, color: bool) -> str:
    """A remark as a diagnostic is shown, without the source line."""
    heading = paint(f"{remark.kind.value}[{remark.code}]", REMARK_STYLES[remark.kind], color)
    subject = f"{' '.join(remark.subject.split())}: " if remark.subject else ""
    text = shown(source.by_cells(f"{subject}{remark.text}"))
    line = f"{shown(source.position(remark.place))}: {heading}: {text}"
    return line + (f"\n  help: {shown(source.by_cells(remark.hint))}" if remark.hint else "")


def heading(source: Source, result: TransformResult, *, color: bool = False) -> str:
    """The line above a file's paragraphs where there are several files."""
    counted = count_verdicts(result.reports)
    return paint(f"== {source.path}" + (f", {counted}" if counted else ""), TextStyle.BOLD, color)


def _loop(source: Source, report: LoopReport, remarks: Sequence[Remark], color: bool) -> Iterator[str]:
    style = TextStyle.ERROR if is_refused(report) else TextStyle.GOOD
    status = paint(status_text(report), style, color)
    yield from _paragraph(source, report.loop.node, status, remarks, color)


def _routine(
    source: Source, node: ast.For | ast.While, remarks: Sequence[Remark], color: bool
) -> Iterator[str]:
    yield from _paragraph(source, node, paint("routine", TextStyle.GOOD, color), remarks, color)


def _paragraph(
    source: Source, node: ast.For | ast.While, status: str, remarks: Sequence[Remark], color: bool
) -> Iterator[str]:
    where = source.position(source.place_of(node)) if source.cells else f"{source.path}:{node.lineno}"
    yield paint(f"{where}: {header_of(source, node)}", TextStyle.BOLD, color)
    yield f"{_INDENT}{status}"
    for title, own in in_sections(remarks):
        if not title:  # what the status says
            continue
        yield f"{_INDENT}{paint(title, TextStyle.BOLD, color)}"
        rows = list(_rows(source, own))
        width = max(len(subject) for subject, _ in rows)
        for subject, text in rows:
            row = f"{subject:<{width}}  {text}".rstrip() if width else text
            yield f"{_INDENT * 2}{source.by_cells(row)}"


def _rows(source: Source, remarks: Sequence[Remark]) -> Iterator[tuple[str, str]]:
    """Subjects and sentences; a subject is written once for all that follows on it."""
    before = ""
    for remark in remarks:
        if remark.diagnostic is not None:
            yield remark.code, _finding(source, remark.diagnostic)
            continue
        yield ("" if remark.subject == before else remark.subject), remark.text
        before = remark.subject


def _finding(source: Source, finding: Diagnostic) -> str:
    place = f"{finding.place.line}:{finding.place.column} " if finding.place.line else ""
    if source.cells and place:
        place = f"line {finding.place.line}: "
    severity = "" if finding.severity is Severity.ERROR else f"{finding.severity.value}: "
    return f"{place}{severity}{finding.message}"


def as_object(source: Source, result: TransformResult, *, ranks: RankSpec | None = None) -> dict[str, Any]:
    """For JSON: the file, its loops, its routines, other diagnostics; ``ranks`` as for `as_text`."""
    return object_of_file(explain_file(source, result, ranks))


def object_of_file(file: ExplainedFile, wanted: RemarkFilter = EVERYTHING) -> dict[str, Any]:
    """The same of a file that is explained, with the remarks that the filter takes."""
    source, result, ranks = file.source, file.result, file.ranks

    def listed(remarks: Sequence[Remark]) -> dict[str, Any]:
        return {"remarks": [_remark_object(source, each) for each in remarks if wanted.takes(each)]}

    return {
        "file": source.path,
        "loops": [_loop_object(source, r, ranks) | listed(remarks) for r, remarks in file.loops],
        "routines": [
            routine_object(source, plan, result.reports, ranks) | listed(remarks)
            for plan, remarks in file.routines
        ],
        "findings": [_finding_object(source, finding) for finding in elsewhere(result)],
        **listed(file.others),
    }


def _remark_object(source: Source, remark: Remark) -> dict[str, Any]:
    end = remark.place
    return {
        "code": remark.code,
        "kind": remark.kind.value,
        "part": remark.part,
        **place_object(source, remark.place),
        "end_line": source.in_cell(end.end_line)[1],
        "end_column": end.end_column,
        "subject": source.by_cells(remark.subject),
        "message": source.by_cells(remark.text),
        "help": source.by_cells(remark.hint),
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
