"""The verdict on a loop in a few words, and the verdicts on many loops in one line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dlbc.diagnostics.diagnostic import has_errors
from dlbc.ir.loop import ProofStatus
from dlbc.ir.plan import LoopReport

REFUSED = "refused"


def status_text(report: LoopReport) -> str:
    """The verdict on a loop."""
    if report.plan is None or has_errors(report.findings):
        return REFUSED
    return report.plan.status.value


def is_refused(report: LoopReport) -> bool:
    """Whether the loop is not made parallel."""
    return status_text(report) == REFUSED


def count_verdicts(reports: Iterable[LoopReport]) -> str:
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
    return f"{loops} loop{'s' * (loops > 1)}: {verdicts}"
