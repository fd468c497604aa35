"""The verdict on a loop in a few words, and the verdicts on many loops in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from dlbc.diagnostics.diagnostic import Diagnostic, Severity, TextStyle, has_errors
from dlbc.diagnostics.remark_codes import RemarkKind
from dlbc.ir.loop import ProofStatus
from dlbc.ir.plan import LoopReport
from dlbc.pipeline import TransformResult

REFUSED = "refused"

#: How a terminal shows the kinds of remarks.
REMARK_STYLES = {
    RemarkKind.PASSED: TextStyle.GOOD,
    RemarkKind.MISSED: TextStyle.WARNING,
    RemarkKind.ANALYSIS: TextStyle.REMARK,
}


def status_text(report: LoopReport) -> str:
    """The verdict on a loop."""
    if report.plan is None or has_errors(report.findings):
        return REFUSED
    return report.plan.status.value


def is_refused(report: LoopReport) -> bool:
    """Whether the loop is not made parallel."""
    return status_text(report) == REFUSED


def count_verdicts(reports: Iterable[LoopReport], files: int = 1) -> str:
    """Such as ``3 loops: 2 parallel (1 checked while it runs), 1 refused``; empty without loops."""
    counts = Counter(map(status_text, reports))
    loops, refused = counts.total(), counts[REFUSED]
    if not loops:
        return ""
    weaker = [s.value for s in ProofStatus if s is not ProofStatus.PROVEN and counts[s.value]]
    conditions = [f"{counts[status]} {status}" for status in weaker]
    parallel = "parallel" + (f" ({', '.join(conditions)})" if conditions else "")
    if refused == loops:
        verdicts = REFUSED
    else:
        verdicts = f"{loops - refused} {parallel}, {refused} {REFUSED}" if refused else parallel
    where = f" in {files} files" if files > 1 else ""
    return f"{_counted(loops, 'loop')}{where}: {verdicts}"


def summarize(results: Collection[TransformResult]) -> str:
    """The verdicts on the loops of several files, and how many errors stand outside of them."""
    reports = [report for result in results for report in result.reports]
    errors = sum(d.severity is Severity.ERROR for result in results for d in elsewhere(result))
    if not reports:
        return f"no loop judged: {_counted(errors, 'error')}"
    return count_verdicts(reports, len(results)) + (f"; {_counted(errors, 'other error')}" if errors else "")


def rounded_otherwise(report: LoopReport) -> tuple[str, ...]:
    """Names whose value may differ in its last bits from the sequential program's, where it is a float."""
    reductions = () if report.plan is None else report.plan.reductions
    return tuple(r.name for r in reductions if r.multiple_updates and not r.integer and r.operator in "+-*")


def rounding_of(results: Iterable[TransformResult]) -> Iterator[str]:
    """A line for each loop of which that is so."""
    for result in results:
        for report in result.reports:
            if names := rounded_otherwise(report):
                listed = ", ".join(f"`{name}`" for name in names)
                what = f"iterations update {listed} several times each"
                bits = "may differ from plain Python's in its last bits, the same on any number of ranks"
                yield f"line {report.loop.node.lineno}: {what}: a float {bits}"


def elsewhere(result: TransformResult) -> list[Diagnostic]:
    """The diagnostics that belong to no loop."""
    of_loops = {finding for report in result.reports for finding in report.findings}
    return [finding for finding in result.diagnostics if finding not in of_loops]


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
