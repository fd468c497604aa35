"""A program that fails, made small: statements are removed as long as it still fails.

Delta debugging (Zeller and Hildebrandt, TSE 28(2), 2002), applied to the statements of each block, outer
blocks first: halves of a block are removed, then quarters, down to single statements, until none can be.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence

__all__ = ["shrink"]

#: First and last line of a statement, from 1, with the comments directly above it.
Lines = tuple[int, int]


def shrink(text: str, fails: Callable[[str], bool], goes_on: Callable[[], bool] = lambda: True) -> str:
    """The smallest text found for which ``fails`` holds, as it does for ``text``.

    ``fails`` is asked of texts that Python can parse, of each once; ``goes_on`` before each question.
    """
    asked: set[str] = set()

    def still_fails(candidate: str) -> bool:
        if candidate in asked or not _parses(candidate) or not goes_on():
            return False
        asked.add(candidate)
        return fails(candidate)

    while (smaller := next(filter(still_fails, _smaller(text)), None)) is not None:
        text = smaller
    return text


def _smaller(text: str) -> Iterator[str]:
    """The text without some statements of one block, larger parts first."""
    blocks = list(_blocks(text))
    for size in sorted({-(-len(block) // 2**k) for block in blocks for k in range(12)}, reverse=True):
        for block in blocks:
            for first in range(0, len(block), size) if size <= len(block) else ():
                yield _without(text, block[first : first + size])


def _blocks(text: str) -> Iterator[list[Lines]]:
    """The statements of each block, outer blocks first; also each `else` and `finally` as a whole.

    Of statements on one line the first stands for all.
    """
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        end = 0  # of the block before
        for name in ("body", "handlers", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list) and block:
                if name in ("orelse", "finalbody"):
                    yield [(end + 1, block[-1].end_lineno)]
                end = block[-1].end_lineno
                found = [_with_comments(each, lines) for each in block]
                yield [pair for k, pair in enumerate(found) if k == 0 or pair[0] > found[k - 1][1]]


def _with_comments(node: ast.stmt | ast.excepthandler, lines: Sequence[str]) -> Lines:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(each.lineno for each in decorators)])
    while first > 1 and lines[first - 2].lstrip().startswith("#"):
        first -= 1
    assert node.end_lineno is not None
    return first, node.end_lineno


def _without(text: str, removed: Sequence[Lines]) -> str:
    gone = {k for first, last in removed for k in range(first, last + 1)}
    lines = text.splitlines(keepends=True)
    return "".join(line for k, line in enumerate(lines, start=1) if k not in gone)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return bool(text.strip())
