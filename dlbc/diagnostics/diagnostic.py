"""Coded diagnostics: what is wrong, where, and what to try.

A diagnostic is data; `render` turns it into the paragraph that a person reads. Its texts stand in the rows of
`dlbc.diagnostics.catalogue`; a new diagnostic is one more row there and a refuse case in the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field
from enum import Enum

from dlbrt.records import dataclass

from dlbc.source import Source, SourcePlace


class Severity(Enum):
    """Errors stop the transformation; warnings and remarks do not."""

    ERROR = "error"
    WARNING = "warning"
    REMARK = "remark"


class TextStyle(Enum):
    """How a terminal shows a text: the parameters of its escape sequence."""

    BOLD = "1"
    GOOD = "1;32"
    ERROR = "1;31"
    WARNING = "1;33"
    REMARK = "1;36"


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A second place that a diagnostic refers to, with its label; ``source``: the file, if it is another."""

    place: SourcePlace
    label: str
    source: Source | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding: its stable code and place, one sentence on the cause, and a help line if there is one."""

    code: str
    severity: Severity
    place: SourcePlace
    message: str
    label: str = ""
    help: str = ""
    notes: tuple[RelatedPlace, ...] = ()


@dataclass(frozen=True, slots=True)
class CatalogueEntry:
    """One row of the catalogue; its texts are `str.format` templates.

    ``cases``: the help for cases in which another one than ``help`` fits, by a word for the case.
    """

    severity: Severity
    message: str
    help: str = ""
    cases: Mapping[str, str] = field(default_factory=dict)

    @property
    def helps(self) -> tuple[str, ...]:
        """All help texts, that for any other case first."""
        return tuple(filter(None, dict.fromkeys((self.help, *self.cases.values()))))


#: The severities, as rows of the catalogue name them.
E, W, R = Severity.ERROR, Severity.WARNING, Severity.REMARK


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any diagnostic stops the transformation."""
    return any(d.severity is Severity.ERROR for d in diagnostics)


def in_order(diagnostics: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The diagnostics in the order of the text."""
    return tuple(sorted(diagnostics, key=lambda d: (d.place, d.code)))


def paint(text: str, style: TextStyle, color: bool) -> str:
    """The text with the escape sequences of a style; unchanged where ``color`` is false."""
    return f"\x1b[{style.value}m{text}\x1b[0m" if color else text


def render(diagnostic: Diagnostic, source: Source, *, color: bool = False) -> str:
    """The paragraph: place and code, the source line with the place marked, help.

    A place on line 0 is the file as a whole and has neither position nor excerpt.
    """
    place = diagnostic.place
    style = TextStyle[diagnostic.severity.name]
    heading = paint(f"{diagnostic.severity.value}[{diagnostic.code}]", style, color)
    lines = [f"{shown(source.position(place))}: {heading}: {shown(source.by_cells(diagnostic.message))}"]
    if place.line:
        line, marks = excerpt(source, place, diagnostic.label, "^")
        lines += [line, paint(marks, style, color)]
    for note in diagnostic.notes:
        lines += excerpt(note.source or source, note.place, _note_label(note, source, place), "-")
    if diagnostic.help:
        lines.append(f"  help: {shown(source.by_cells(diagnostic.help))}")
    return "\n".join(lines)


def _note_label(note: RelatedPlace, source: Source, place: SourcePlace) -> str:
    """The label, with the file or the cell where it is another one than that of the diagnostic."""
    if note.source is not None:
        return f"{note.label}, {shown(note.source.path)}:{note.place.line}"
    cell, _ = source.in_cell(note.place.line)
    return note.label if cell == source.in_cell(place.line)[0] else f"{note.label}, cell {cell}"


def excerpt(source: Source, place: SourcePlace, label: str, mark: str) -> list[str]:
    """The source line of ``place``, and below it the marks and the label; control characters are escaped."""
    text = source.line(place.line)
    end = place.end_column if place.end_line == place.line else len(text) + 1
    marked = text[place.column - 1 : end - 1]
    width = max(1, end - place.column + len(shown(marked)) - len(marked))
    gutter = f"{source.in_cell(place.line)[1]:5d} | "
    # The padding keeps tabs, so that the caret stands under its character in any terminal.
    pad = "".join("\t" if c == "\t" else " " for c in shown(text[: place.column - 1]))
    caption = f" {shown(label)}" if label else ""
    return [gutter + shown(text), " " * 5 + " | " + pad + mark * width + caption]


def shown(text: str) -> str:
    """The text with control characters escaped: messages and labels quote the program."""
    return "".join(c if c.isprintable() or c == "\t" else ascii(c)[1:-1] for c in text)
