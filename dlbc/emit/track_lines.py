"""The map from lines of the generated program to lines of the source, exactly.

Both texts are printed from trees that share the user's nodes, and a node prints the same lines wherever it
stands. So the lines of every outermost shared node are mapped. Of these, only lines are kept whose text is
the same except for indentation, or that are known to print differently (loop headers, private names).
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from contextlib import nullcontext
from itertools import accumulate
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

#: One object for all nodes; libcst would make a new one for each.
_NOTHING = nullcontext()


class _Recorder(CodegenState):
    """Records between which tokens each node was printed, without descending into ``known`` nodes."""

    def __init__(self, module: cst.Module, known: Container[int]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.starts: dict[int, int] = {}
        self.ends: dict[int, int] = {}
        self._known = known
        self._within: cst.CSTNode | None = None

    def before_codegen(self, node: cst.CSTNode) -> None:
        if self._within is None:
            self.starts[id(node)] = len(self.tokens)
            if id(node) in self._known:
                self._within = node

    def after_codegen(self, node: cst.CSTNode) -> None:
        if self._within is None or self._within is node:
            self.ends[id(node)] = len(self.tokens)
            self._within = None

    def record_syntactic_position(self, *_nodes: Any, **_ends: Any) -> Any:
        """Do nothing: syntactic positions are not needed."""
        return _NOTHING


class PrintedModule:
    """A module's text, and the lines (from 1) that each of its nodes occupies.

    Of the nodes that it shares with the ``source``, only the outermost are known.
    """

    def __init__(self, module: cst.Module, source: PrintedModule | None = None) -> None:
        state = _Recorder(module, () if source is None else source.starts)
        module._codegen(state)
        self.module = module
        self.text = "".join(state.tokens)
        self.lines = _split(self.text)
        #: By node, the number of tokens before it; in printing order, outer nodes first.
        self.starts: dict[int, int] = state.starts
        self._ends = state.ends
        self._before = [0, *accumulate(_newlines(state.tokens))]
        self._tokens = state.tokens

    def lines_of(self, node: int) -> range | None:
        """The lines of a node, given by its identity; None if it is not in the module."""
        start = self.starts.get(node)
        if start is None:
            return None
        end = min(self._ends[node], len(self._tokens))
        first, last = self._before[start], self._before[end]
        if end > start and last > first and self._tokens[end - 1][-1:] in ("\n", "\r"):
            last -= 1
        return range(first + 1, last + 2)


def _newlines(tokens: Iterable[str]) -> Iterator[int]:
    """The line ends in each token; one that begins in a token and ends in the next is the first one's."""
    last = ""
    for token in tokens:
        if "\r" in token or last == "\r":
            yield len(_split(last + token)) - len(_split(last))
        else:
            yield token.count("\n")
        last = token[-1:] or last


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def map_lines(emitted: PrintedModule, source: PrintedModule, changed: frozenset[int]) -> dict[int, int]:
    """Generated line -> source line; ``changed`` are the source lines that print differently."""
    origins: dict[int, int] = {}
    for node in emitted.starts:
        ours, theirs = emitted.lines_of(node), source.lines_of(node)
        if ours is not None and theirs is not None and len(ours) == len(theirs):
            for line, origin in zip(ours, theirs, strict=True):
                origins.setdefault(line, origin)
    same = {
        line: origin
        for line, origin in sorted(origins.items())
        if origin in changed or _text(emitted, line) == _text(source, origin) != ""
    }
    return dict(_with_blank_lines(same, emitted, source))


def _text(module: PrintedModule, line: int) -> str:
    return module.lines[line - 1].strip()


def _with_blank_lines(
    lines: dict[int, int], emitted: PrintedModule, source: PrintedModule
) -> Iterator[tuple[int, int]]:
    """The map, with the blank lines that both texts have between the same two lines."""
    above = (0, 0)
    for line, origin in lines.items():
        gap = range(1, line - above[0])
        if len(gap) == origin - above[1] - 1 and not any(
            _text(emitted, above[0] + k) or _text(source, above[1] + k) for k in gap
        ):
            yield from ((above[0] + k, above[1] + k) for k in gap)
        yield line, origin
        above = (line, origin)


def format_runs(lines: dict[int, int]) -> str:
    """The map as the comment at the end of a generated file has it, by runs of lines: ``9-10=2 12=4``."""
    return " ".join(f"{a}-{b}={s}" if b > a else f"{a}={s}" for a, b, s in _runs(lines))


def _runs(lines: dict[int, int]) -> Iterator[tuple[int, int, int]]:
    start: tuple[int, int] | None = None
    previous = (0, 0)
    for line, origin in lines.items():
        if start and (line - previous[0] != 1 or origin - previous[1] != 1):
            yield start[0], previous[0], start[1]
            start = None
        start = start or (line, origin)
        previous = (line, origin)
    if start:
        yield start[0], previous[0], start[1]
