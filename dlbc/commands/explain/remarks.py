"""Remarks: one list of what was done with each loop, what was not and why, and what is known of it.

Whatever `dlbc explain` shows, as text by sections, as remarks line by line, as JSON or as a page, is this
list. `Fact` is what the modules beside this one find out; here it gets its place in the source.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence

from dlbrt.records import dataclass

from dlbc.diagnostics.diagnostic import Diagnostic, Severity
from dlbc.diagnostics.remark_codes import REMARKS, RemarkKind
from dlbc.source import Source, SourcePlace

#: The part of the compiler that a diagnostic's code belongs to, by its first digit.
FAMILIES = {
    "0": "files",
    "1": "annotation",
    "2": "form",
    "3": "independence",
    "4": "effects",
    "5": "program",
}

#: Diagnostics that belong to another part than their family.
_PARTS = {"DLB116": "jit", "DLB129": "routine", "DLB130": "routine", "DLB423": "independence"}

#: Diagnostics, not errors, that say what is known rather than what was not done.
_KNOWN = frozenset({"DLB106", "DLB412"})


@dataclass(frozen=True, slots=True)
class Fact:
    """What is to be said of a loop: a code, what it is about, a sentence, and what to try.

    ``subject`` is a name of the program, or a word for the matter; facts on one subject stand together.
    ``node``: where in the program it is so, if that is not found by the subject.
    """

    code: str
    subject: str
    text: str
    hint: str = ""
    node: ast.AST | SourcePlace | None = None


@dataclass(frozen=True, slots=True)
class Remark:
    """One remark, at its place. ``section`` is the heading under which the text has it.

    ``diagnostic``: it is one of the catalogue, with the severity there.
    """

    code: str
    kind: RemarkKind
    part: str
    section: str
    subject: str
    text: str
    hint: str
    place: SourcePlace
    diagnostic: Diagnostic | None = None


@dataclass(frozen=True, slots=True)
class RemarkFilter:
    """Which remarks are shown: ``kinds``, and ``only`` codes, beginnings of codes or parts; all if empty."""

    kinds: frozenset[RemarkKind] = frozenset()
    only: tuple[str, ...] = ()

    @property
    def active(self) -> bool:
        """Whether any remark may be left out."""
        return bool(self.kinds or self.only)

    def takes(self, remark: Remark) -> bool:
        """Whether the remark is shown."""
        if self.kinds and remark.kind not in self.kinds:
            return False
        return not self.only or any(remark.part == o or remark.code.startswith(o.upper()) for o in self.only)


EVERYTHING = RemarkFilter()


class LoopPlaces:
    """Where in a loop things stand: a node, or the first mention of a name, or else the head of the loop."""

    def __init__(self, source: Source, node: ast.For | ast.While) -> None:
        self._source, self._node = source, node
        self._mentions: dict[str, SourcePlace] | None = None

    @property
    def head(self) -> SourcePlace:
        """The header, from `for` or `while` up to the colon."""
        first = self._source.place_of(self._node)
        last = self._node.test if isinstance(self._node, ast.While) else self._node.iter
        end = self._source.place_of(last)
        return SourcePlace(first.line, first.column, end.end_line, end.end_column)

    def of(self, fact: Fact) -> SourcePlace:
        """The place of a fact."""
        if isinstance(fact.node, SourcePlace):
            return fact.node
        if isinstance(fact.node, ast.expr | ast.stmt):
            return self._source.place_of(fact.node)
        return self._mentioned().get(fact.subject, self.head)

    def _mentioned(self) -> dict[str, SourcePlace]:
        """The first place of each name and access path, in the order of the text."""
        if self._mentions is None:
            wanted = (ast.Name, ast.Attribute, ast.Subscript)
            nodes = [n for n in ast.walk(self._node) if isinstance(n, wanted)]
            nodes.sort(key=lambda n: (n.lineno, n.col_offset))
            self._mentions = {}
            for node in nodes:
                self._mentions.setdefault(ast.unparse(node), self._source.place_of(node))
        return self._mentions


def remarks_on(section: str, facts: Iterable[Fact], places: LoopPlaces) -> Iterator[Remark]:
    """The facts of a section as remarks."""
    for fact in facts:
        entry = REMARKS[fact.code]
        yield Remark(
            fact.code, entry.kind, entry.part, section, fact.subject, fact.text, fact.hint, places.of(fact)
        )


def remark_of(finding: Diagnostic, section: str = "findings") -> Remark:
    """A diagnostic as a remark: what it keeps from being done, unless it only says what is known."""
    known = finding.severity is not Severity.ERROR and finding.code in _KNOWN
    kind = RemarkKind.ANALYSIS if known else RemarkKind.MISSED
    part = _PARTS.get(finding.code, FAMILIES[finding.code[3]])
    return Remark(
        finding.code, kind, part, section, "", finding.message, finding.help, finding.place, finding
    )


def in_sections(remarks: Sequence[Remark]) -> Iterator[tuple[str, list[Remark]]]:
    """The remarks under their headings, in order."""
    found: dict[str, list[Remark]] = {}
    for remark in remarks:
        found.setdefault(remark.section, []).append(remark)
    yield from found.items()
