"""Insert annotations into the text of a program; everything else of the file stays byte for byte."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from dlbrt.contract import MARK

from dlbc.source import Source

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$")
_INDENT = re.compile(r"[ \t\f]*")


def with_comments(source: Source, comments: Mapping[int, str]) -> Source:
    """The program with a comment above each of these lines, by the line's number.

    They are lines of code, so a comment that names the encoding stands above them and stays where it is.
    """
    lines = _LINE.findall(source.text)
    for number, text in comments.items():
        line = lines[number - 1]
        end = line[len(line.rstrip("\r\n")) :] or "\n"
        lines[number - 1] = f"{_INDENT.match(line)[0]}{MARK} {text}{end}{line}"  # type: ignore[index]
    text = "".join(lines)
    return Source(source.path, text.encode(source.encoding), text, source.encoding)


def moved(line: int, comments: Mapping[int, str]) -> int:
    """The number that a line has once the comments are there."""
    return line + sum(number <= line for number in comments)


def unified_diff(before: Source, after: Source) -> str:
    """What changes, as `diff -u` shows it; empty where nothing does."""
    old, new = (text.text.splitlines(keepends=True) for text in (before, after))
    return "".join(difflib.unified_diff(old, new, before.path, before.path))
