"""Bind `# dlb:` comments to the loops that they annotate.

A comment above a loop binds where the next code is that loop, at the same indentation; adjacent lines are
one annotation. A comment at the end of a line binds to the loop whose header holds the line.
"""

from __future__ import annotations

import ast
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from dlbrt.records import dataclass

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, RelatedPlace
from dlbc.parse.find_comments import DlbComment, ScannedComments
from dlbc.source import Source, SourcePlace

__all__ = ["BoundComment", "Loop", "bind_comments"]

Loop = ast.For | ast.AsyncFor | ast.While


@dataclass(frozen=True, slots=True)
class BoundComment:
    """The comment lines of one annotation, and the loop they stand at."""

    lines: tuple[DlbComment, ...]
    loop: Loop

    @property
    def place(self) -> SourcePlace:
        """The first line of the annotation."""
        return self.lines[0].place


def bind_comments(
    scanned: ScannedComments, loops: Iterable[Loop], source: Source
) -> tuple[tuple[BoundComment, ...], tuple[Diagnostic, ...]]:
    """Every annotation with its loop, in document order; one diagnostic for each that has none."""
    starts = {(loop.lineno, loop.col_offset + 1): loop for loop in loops}
    headers = _header_lines(starts.values(), scanned, source)
    bound: dict[Loop, BoundComment] = {}
    problems = [report("DLB106", place) for place in scanned.near_misses]
    for lines in _annotations(scanned.comments):
        loop = _loop_of(lines, starts, headers)
        first = lines[0].place
        if loop is None:
            problems.append(_unbound(lines, starts))
        elif loop in bound:
            problems.append(
                report("DLB105", first, notes=(RelatedPlace(bound[loop].place, "the other annotation"),))
            )
        else:
            bound[loop] = BoundComment(lines, loop)
    return tuple(bound.values()), tuple(problems)


def _annotations(comments: Iterable[DlbComment]) -> Iterator[tuple[DlbComment, ...]]:
    group: list[DlbComment] = []
    for comment in comments:
        if group and not _adjacent(group[-1], comment):
            yield tuple(group)
            group = []
        group.append(comment)
    if group:
        yield tuple(group)


def _adjacent(above: DlbComment, below: DlbComment) -> bool:
    a, b = above.place, below.place
    return above.own_line and below.own_line and b.line == a.line + 1 and b.column == a.column


def _header_lines(loops: Iterable[Loop], scanned: ScannedComments, source: Source) -> dict[int, Loop]:
    trailing = {c.place.line for c in scanned.comments if not c.own_line}
    headers: dict[int, Loop] = {}
    for loop in loops if trailing else ():
        head = loop.test if isinstance(loop, ast.While) else loop.iter
        end = source.place_of(head)
        colon = scanned.colons[bisect_left(scanned.colons, (end.end_line, end.end_column))]
        headers |= dict.fromkeys(range(loop.lineno, colon[0] + 1), loop)
    return headers


def _loop_of(
    lines: tuple[DlbComment, ...], starts: dict[tuple[int, int], Loop], headers: dict[int, Loop]
) -> Loop | None:
    first = lines[0]
    if not first.own_line:
        return headers.get(first.place.line)
    loop = starts.get(first.next_code) if first.next_code else None
    return loop if loop and loop.col_offset + 1 == first.place.column else None


def _unbound(lines: tuple[DlbComment, ...], starts: dict[tuple[int, int], Loop]) -> Diagnostic:
    first = lines[0]
    if first.next_code in starts and first.next_code:
        line, column = first.next_code
        loop = RelatedPlace(
            SourcePlace(line, column, line, column + 3), f"this loop begins in column {column}"
        )
        return report("DLB104", first.place, notes=(loop,), column=column, found=first.place.column)
    if not first.own_line:
        return report("DLB103", first.place, found="on a line that is no loop header")
    if first.next_code is None:
        return report("DLB103", first.place, found="at the end of the file")
    return report("DLB103", first.place, found=f"above line {first.next_code[0]}, which begins no loop")
