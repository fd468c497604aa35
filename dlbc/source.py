"""Source text and places in it: the only line and column arithmetic of the compiler.

Lines count from 1 and columns from 1, in characters, as editors and diagnostics show them. Python's
own tree counts columns in UTF-8 bytes from 0; `Source.place_of` is the one place that converts.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True, slots=True, order=True)
class SourcePlace:
    """A stretch of source text; ``end_column`` is one past its last character."""

    line: int
    column: int
    end_line: int
    end_column: int

    def within(self, other: SourcePlace) -> bool:
        """Whether it lies wholly inside ``other``."""
        begins = (other.line, other.column) <= (self.line, self.column)
        return begins and (self.end_line, self.end_column) <= (other.end_line, other.end_column)


_MENTIONED = re.compile(r"\bline ([1-9][0-9]*)\b")


@dataclass(frozen=True)
class Source:
    """One file: its path as the user gave it, its bytes, and the text Python reads from them.

    ``encoding`` is the codec that turns one into the other, ``utf-8-sig`` where a byte order mark leads.
    ``cells``: of a notebook, the line at which each of its code cells begins; its text is all of them.
    """

    path: str
    data: bytes = field(repr=False)
    text: str = field(repr=False)
    encoding: str = "utf-8"
    cells: tuple[int, ...] = ()

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends, split as Python's tokenizer splits them."""
        return tuple(self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n"))

    @cached_property
    def _whole_lines(self) -> tuple[str, ...]:
        return tuple(re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+$", self.text))

    def segment(self, node: ast.expr | ast.stmt) -> str:
        """The text of a node as it is written, line ends included."""
        last = node.end_lineno or node.lineno
        lines = [line.encode() for line in self._whole_lines[node.lineno - 1 : last]]
        lines[-1] = lines[-1][: node.end_col_offset]
        lines[0] = lines[0][node.col_offset :]
        return b"".join(lines).decode(errors="replace")

    def line(self, number: int) -> str:
        """Line ``number`` (from 1), empty beyond the end."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def in_cell(self, line: int) -> tuple[int, int]:
        """The code cell that a line is in, from 1, and the line in it; 0 and the line in other files."""
        cell = bisect_right(self.cells, line)
        return (cell, line - self.cells[cell - 1] + 1) if cell else (0, line)

    def line_name(self, line: int) -> str:
        """A line as people read it."""
        cell, inside = self.in_cell(line)
        return f"cell {cell}, line {inside}" if cell else f"line {line}"

    def position(self, place: SourcePlace) -> str:
        """The file and the place, as people read it."""
        if self.in_cell(place.line)[0]:
            return f"{self.path}, {self.line_name(place.line)}"
        return f"{self.path}:{place.line}:{place.column}" if place.line else self.path

    def by_cells(self, text: str) -> str:
        """A text that mentions lines of the program, with the lines of the notebook's cells instead."""
        return _MENTIONED.sub(lambda found: self.line_name(int(found[1])), text) if self.cells else text

    def place_of(self, node: ast.expr | ast.stmt | ast.excepthandler | ast.arg | ast.keyword) -> SourcePlace:
        """Where a node of Python's own tree stands."""
        end_line = node.end_lineno or node.lineno
        return SourcePlace(
            node.lineno,
            self._column(node.lineno, node.col_offset),
            end_line,
            self._column(end_line, node.end_col_offset or node.col_offset),
        )

    def _column(self, line: int, offset: int) -> int:
        return len(self.line(line).encode()[:offset].decode(errors="replace")) + 1
