"""A report for a terminal: the same words and tables as the page, in plain text, without its pictures."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

from dlbc.commands.report.content import Report
from dlbc.commands.report.findings import TimeFinding
from dlbc.commands.report.loop_view import LoopView
from dlbc.commands.report.tables import Table
from dlbc.commands.report.words import about, part, seconds_text, sentence

#: Lines are at most this long, so that sentences can be read.
_WIDEST = 100

#: Letters of the bar of times.
_BAR = 40


def text_of_report(report: Report, columns: int | None = None) -> str:
    """The report in lines of at most ``columns`` letters, by default those of the terminal."""
    width = max(40, min(_WIDEST, columns or shutil.get_terminal_size().columns))
    return "\n".join(_lines(report, width))


def _lines(report: Report, width: int) -> Iterator[str]:
    def wrapped(text: str, indent: str = "") -> list[str]:
        return _wrapped(text, width, indent)

    yield from wrapped(f"Report of {report.name}")
    if report.command:
        yield from wrapped(f"{report.command}", "  ")
    yield from wrapped(f"{report.date.replace('T', ' ')}. {report.about}" if report.date else report.about)
    yield ""
    yield from wrapped(report.headline)
    if report.advice is not None:
        yield from ("", "The one thing to change")
        yield from wrapped(f"{_what(report.advice)}.", "  ")
        yield from wrapped(f"{sentence(report.advice.remedy)}.", "  ")
        yield from wrapped(report.worth, "  ")
    else:
        yield from wrapped(report.worth)
    for each in report.others:
        yield from wrapped(f"* {_what(each)}: {each.remedy}. Worth up to {about(each.gain_s)}.", "  ")
    yield from ("", "Where the time went")
    for portion in report.portions:
        bar = "#" * round(portion.percent / 100 * _BAR)
        numbers = f"{seconds_text(portion.seconds):>10} {part(portion.percent / 100):>6}"
        yield f"  {numbers}  {portion.label:34} {bar}"[:width].rstrip()
    if report.efficiencies is not None:
        yield ""
        yield from _table(report.efficiencies, width)
    for loop in report.loops:
        yield ""
        yield from _loop(loop, width, (report.advice, *report.others))
    for routine in report.routines:
        yield from ("", f"Routine {routine.source}")
        yield from wrapped(routine.facts, "  ")
        yield from _table(routine.looks, width)
    if report.notes:
        yield ""
    for note in report.notes:
        yield from wrapped(note)


def _loop(loop: LoopView, width: int, shown: Sequence[TimeFinding | None]) -> Iterator[str]:
    def wrapped(text: str, indent: str = "") -> list[str]:
        return _wrapped(text, width, indent)

    yield f"Loop {loop.source}"
    yield from wrapped(loop.facts, "  ")
    for finding in loop.findings:
        remedy = "" if finding in shown else f": {finding.remedy}"
        yield from wrapped(f"* {sentence(finding.what)}{remedy}. Worth up to {about(finding.gain_s)}.", "  ")
    yield from _table(loop.ranks, width)
    if loop.costs:
        yield from wrapped(loop.costs, "  ")
    if loop.audit:
        yield from wrapped(loop.audit, "  ")
    if loop.audited is not None:
        yield from _table(loop.audited, width)
    if loop.predictions is not None:
        yield from _table(loop.predictions, width)
    yield from wrapped(loop.redistributions, "  ")


def _wrapped(text: str, width: int, indent: str) -> list[str]:
    """A text in lines; what follows the mark of a list stands under its words."""
    below = indent + "  " * text.startswith("* ")
    return textwrap.wrap(text, width, initial_indent=indent, subsequent_indent=below) or [""]


def _what(finding: TimeFinding) -> str:
    return sentence(finding.what) + (f" ({finding.place})" if finding.place else "")


def _table(table: Table, width: int) -> Iterator[str]:
    """Columns as wide as their cells; heads are broken into lines, and long lines cut."""
    cells = list(zip(*table.rows, strict=True)) if table.rows else [() for _ in table.heads]
    widths = [max([len(c) for c in own] + [len(w) for w in head.split()] + [1])
              for own, head in zip(cells, table.heads, strict=True)]  # fmt: skip
    heads = [textwrap.wrap(head, size) for head, size in zip(table.heads, widths, strict=True)]
    for line in zip_longest(*(_bottom(head, max(map(len, heads))) for head in heads), fillvalue=""):
        yield _row(line, widths, width)
    for row in table.rows:
        yield _row(row, widths, width)


def _bottom(lines: list[str], height: int) -> list[str]:
    return [""] * (height - len(lines)) + lines


def _row(cells: Iterable[str], widths: Iterable[int], width: int) -> str:
    first, *others = (cell.ljust(size) if not k else cell.rjust(size)
                      for k, (cell, size) in enumerate(zip(cells, widths, strict=True)))  # fmt: skip
    return f"  {'  '.join([first, *others])}"[:width].rstrip()
