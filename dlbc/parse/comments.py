"""Find the `# dlb:` comments of a text, and near misses, and bind them to the loops that they annotate.

Python's tokenizer decides what is a comment (a string that holds ``# dlb:`` is none). A comment alone on its
line knows the next token of code. It binds to a loop that begins there, at the same indentation; adjacent
lines are one annotation. A comment at the end of a line binds to the loop whose header holds the line.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from bisect import bisect_left
from collections.abc import Iterable, Iterator

from dlbrt.contract import MARK
from dlbrt.records import dataclass

from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic, RelatedPlace
from dlbc.source import Source, SourcePlace

Loop = ast.For | ast.AsyncFor | ast.While

#: A text without this has no annotation, and nothing that resembles one.
CANDIDATE = re.compile(r"#.*(?:dlb|dbl|ldb)", re.IGNORECASE)
#: The mark in another form; before `parallel` or `iterate` also other punctuation, letters in another order
#: and words before it; the command's name with a colon before what resembles one of the two; and a mark
#: behind another comment.
_NEAR_MISS = re.compile(
    r"#+[\s#!]*dlb\s*:"
    r"|#[\s#!@:]*(?:pragma:?\s+)?(?:dlbc?\s*[^\w\s(]?|(?:dbl|ldb)\s*:)\s*(parallel|iterate)\b"
    r"|#+\s*dlbc\s*:\s*(?:par+a?l+\w*|itt?er\w*)\b"
    r"|#.*\s#\s*dlb\s*:\s*(parallel|iterate)\b",
    re.IGNORECASE,
)
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class DlbComment:
    """One comment line; ``text`` follows the mark, ``next_code`` is the (line, column) of the next token.

    ``own_line`` is false where code precedes the comment. Lines and columns count from 1.
    """

    place: SourcePlace
    text: str
    own_line: bool
    next_code: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ScannedComments:
    """The comments of a file in order, the near misses, and the places of the colons in its code.

    ``fails_at`` is the line at which the module `tokenize` gave up, where it did; then there is nothing else.
    Unlike Python's compiler it reads neither all lone carriage returns nor, everywhere, a line of a backslash
    alone before an indented one.
    """

    comments: tuple[DlbComment, ...] = ()
    near_misses: tuple[SourcePlace, ...] = ()
    colons: tuple[tuple[int, int], ...] = ()
    fails_at: int = 0


def find_comments(source: Source) -> ScannedComments:
    """Scan a text that compiles."""
    if not CANDIDATE.search(source.text):
        return ScannedComments()
    try:
        return _scanned(source)
    except tokenize.TokenError as error:
        return ScannedComments(fails_at=error.args[1][0])
    except SyntaxError as error:
        return ScannedComments(fails_at=error.lineno or 1)


def _scanned(source: Source) -> ScannedComments:
    found: list[DlbComment] = []
    waiting: list[tokenize.TokenInfo] = []
    misses: list[SourcePlace] = []
    colons: list[tuple[int, int]] = []
    for token in tokenize.generate_tokens(io.StringIO("\n".join(source.lines)).readline):
        if token.type == tokenize.COMMENT:
            if token.string.startswith(MARK):
                waiting.append(token)
            elif _NEAR_MISS.match(token.string):
                misses.append(_place(token))
        elif token.type not in _NO_CODE:
            if token.string == ":":
                colons.append((token.start[0], token.start[1] + 1))
            following = None if token.type == tokenize.ENDMARKER else (token.start[0], token.start[1] + 1)
            found += [_comment(w, source, following) for w in waiting]
            waiting.clear()
    return ScannedComments(tuple(found), tuple(misses), tuple(colons))


def _place(token: tokenize.TokenInfo) -> SourcePlace:
    return SourcePlace(token.start[0], token.start[1] + 1, token.end[0], token.end[1] + 1)


def _comment(token: tokenize.TokenInfo, source: Source, following: tuple[int, int] | None) -> DlbComment:
    own_line = not source.line(token.start[0])[: token.start[1]].strip()
    return DlbComment(_place(token), token.string[len(MARK) :], own_line, following if own_line else None)


@dataclass(frozen=True, slots=True)
class BoundComment:
    """The comment lines of one annotation, and the loop that they annotate."""

    lines: tuple[DlbComment, ...]
    loop: Loop

    @property
    def place(self) -> SourcePlace:
        """The first line of the annotation."""
        return self.lines[0].place


def bind_comments(
    scanned: ScannedComments, loops: Iterable[Loop], source: Source
) -> tuple[tuple[BoundComment, ...], tuple[Diagnostic, ...]]:
    """Every annotation with its loop, in document order; a diagnostic for each without a loop."""
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
            note = RelatedPlace(bound[loop].place, "the other annotation")
            problems.append(report("DLB105", first, notes=(note,)))
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
        place = SourcePlace(line, column, line, column + 3)
        note = RelatedPlace(place, f"this loop begins in column {column}")
        return report("DLB104", first.place, notes=(note,), column=column, found=first.place.column)
    if not first.own_line:
        return report("DLB103", first.place, found="on a line that is no loop header")
    if first.next_code is None:
        return report("DLB103", first.place, found="at the end of the file")
    return report("DLB103", first.place, found=f"above line {first.next_code[0]}, which begins no loop")
