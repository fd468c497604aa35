"""Findings in print: as text for people, as JSON for tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from textwrap import TextWrapper

from dlbc.commands.doctor.findings import CheckFinding, CheckStatus
from dlbc.diagnostics.diagnostic import TextStyle, paint

_WIDTH = 110
_STYLES = {CheckStatus.BROKEN: TextStyle.ERROR, CheckStatus.WARNING: TextStyle.WARNING}
_MARGIN = max(len(status.value) for status in CheckStatus) + 1


def as_text(findings: Sequence[CheckFinding], *, color: bool) -> str:
    """A paragraph for each finding, and a last line that says what they come to."""
    lines = [line for finding in findings for line in _paragraph(finding, color)]
    return "\n".join([*lines, _summary(findings)])


def _paragraph(finding: CheckFinding, color: bool) -> list[str]:
    style = _STYLES.get(finding.status)
    word = f"{finding.status.value:<{_MARGIN}}"
    mark = word if style is None else paint(word, style, color)
    parts = [f"{finding.check}: {finding.found}"]
    if finding.expected:
        parts = [f"{finding.check}: expected {finding.expected}", f"found {finding.found}"]
    lines = [line for part in parts for line in _wrapped(part, "")]
    lines += _wrapped(finding.advice, "try: ") if finding.advice else []
    return [mark + lines[0], *(" " * _MARGIN + line for line in lines[1:])]


def _wrapped(text: str, begin: str) -> list[str]:
    """Lines of a text; paths and commands are never broken."""
    wrapper = TextWrapper(
        _WIDTH - _MARGIN,
        initial_indent=begin,
        subsequent_indent="  ",
        break_long_words=False,
        break_on_hyphens=False,
    )
    return wrapper.wrap(text)


def _summary(findings: Sequence[CheckFinding]) -> str:
    counts = {status: sum(finding.status is status for finding in findings) for status in CheckStatus}
    if broken := counts[CheckStatus.BROKEN]:
        return f"{broken} broken: a run would fail"
    warnings = counts[CheckStatus.WARNING]
    return f"a run works{f'; {warnings} warning' + 's' * (warnings != 1) if warnings else ''}"


def as_json(findings: Sequence[CheckFinding], ranks: int) -> str:
    """An object with ``ranks``, ``broken``, and ``findings`` with the fields of `CheckFinding`."""
    entries = [
        {
            "check": finding.check,
            "status": finding.status.value,
            "expected": finding.expected,
            "found": finding.found,
            "advice": finding.advice,
        }
        for finding in findings
    ]
    broken = any(finding.status is CheckStatus.BROKEN for finding in findings)
    return json.dumps({"ranks": ranks, "broken": broken, "findings": entries}, indent=2)
