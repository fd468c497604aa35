"""Which line of the generated program comes from which line of the source, exactly.

Both texts are printed from trees that share the user's nodes: a node prints the same lines wherever it
stands. So the lines of every shared node are mapped, the outermost alone, and of these only those kept whose
text is the same but for indentation, or that are known to print otherwise (loop headers, private names).
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from contextlib import nullcontext
from itertools import accumulate
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

#: One for all nodes, where libcst makes a new one for each.
_NOTHING = nullcontext()


class _Recorder(CodegenState):
    """Notes between which tokens each node was printed; of those in a ``known`` one nothing."""

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
        """Positions are not asked for."""
        return _NOTHING


class PrintedModule:
    """A module's text, and the lines (from 1) that each of its nodes takes.

    Of nodes that it shares with the ``source`` the outermost are known alone.
    """

    def __init__(self, module: cst.Module, source: PrintedModule | None = None) -> None:
        state = _Recorder(module, () if source is None else source.starts)
        module._codegen(state)
        self.module = module
        self.text = "".join(state.tokens)
        self.lines = _split(self.text)
        #: Between which tokens nodes stand, in the order printed, outer ones first.
        self.starts: dict[int, int] = state.starts
        self._ends = state.ends
        self._before = [0, *accumulate(map(_newlines, state.tokens))]
        self._tokens = state.tokens

    def lines_of(self, node: int) -> range | None:
        """The lines of a node, named by its identity; None for one that is not in the module."""
        start = self.starts.get(node)
        if start is None:
            return None
        end = self._ends[node]
        first, last = self._before[start], self._before[min(end, len(self._tokens))]
        if (
            end > start
            and last > first
            and self._tokens[min(end, len(self._tokens)) - 1][-1:] in ("\n", "\r")
        ):
            last -= 1
        return range(first + 1, last + 2)


def _newlines(token: str) -> int:
    if "\r" in token:
        return len(_split(token)) - 1
    return token.count("\n")


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def map_lines(emitted: PrintedModule, source: PrintedModule, changed: frozenset[int]) -> dict[int, int]:
    """Generated line -> source line; ``changed`` are the source lines that print otherwise."""
    found: dict[int, int] = {}
    for node in emitted.starts:
        if node not in source.starts:
            continue
        ours, theirs = emitted.lines_of(node), source.lines_of(node)
        if ours is None or theirs is None or len(ours) != len(theirs):
            continue
        for line, origin in zip(ours, theirs, strict=True):
            found.setdefault(line, origin)
    same = {
        line: origin
        for line, origin in sorted(found.items())
        if origin in changed or _text(emitted, line) == _text(source, origin) != ""
    }
    return dict(_with_blank_lines(same, emitted, source))


def _text(module: PrintedModule, line: int) -> str:
    return module.lines[line - 1].strip()


def _with_blank_lines(
    lines: dict[int, int], emitted: PrintedModule, source: PrintedModule
) -> Iterator[tuple[int, int]]:
    """The map with the blank lines that stand in both texts between the same two lines."""
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
    """The runs as the comment at the end of a generated file lists them: ``9-10=2 12=4``."""
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
