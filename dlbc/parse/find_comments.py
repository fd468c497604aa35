"""Find the `# dlb:` comments of a text, and those that look like one, by position.

Python's tokenizer says what is a comment (a string that holds ``# dlb:`` is none). A comment that stands
alone on its line knows the next token of code, which is what it may annotate.
"""

from __future__ import annotations

import io
import re
import tokenize

from dlbrt.records import dataclass

from dlbc.source import Source, SourcePlace

__all__ = ["DlbComment", "ScannedComments", "find_comments"]

MARK = "# dlb:"
_CANDIDATE = re.compile(r"#.*dlb", re.IGNORECASE)
_NEAR_MISS = re.compile(
    r"#+[\s#!]*dlb\s*:|#[\s#!]*dlb\s+(parallel|iterate)\b|#.*\s#\s*dlb\s*:\s*(parallel|iterate)\b",
    re.IGNORECASE,
)
_NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class DlbComment:
    """One comment line; ``text`` is what follows the mark, ``next_code`` (line, column) what it precedes.

    ``own_line`` is false where code stands before it; lines and columns count from 1.
    """

    place: SourcePlace
    text: str
    own_line: bool
    next_code: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ScannedComments:
    """The comments of a file in order, the near misses, and where the colons of its code stand."""

    comments: tuple[DlbComment, ...] = ()
    near_misses: tuple[SourcePlace, ...] = ()
    colons: tuple[tuple[int, int], ...] = ()


def find_comments(source: Source) -> ScannedComments:
    """Scan the text; it must already have compiled. Raises tokenize.TokenError where scanning fails."""
    if not _CANDIDATE.search(source.text):
        return ScannedComments()
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
            at_end = token.type == tokenize.ENDMARKER
            following = None if at_end else (token.start[0], token.start[1] + 1)
            found += [_comment(w, source, following) for w in waiting]
            waiting.clear()
    return ScannedComments(tuple(found), tuple(misses), tuple(colons))


def _place(token: tokenize.TokenInfo) -> SourcePlace:
    return SourcePlace(token.start[0], token.start[1] + 1, token.end[0], token.end[1] + 1)


def _comment(token: tokenize.TokenInfo, source: Source, following: tuple[int, int] | None) -> DlbComment:
    own_line = not source.line(token.start[0])[: token.start[1]].strip()
    return DlbComment(_place(token), token.string[len(MARK) :], own_line, following if own_line else None)
