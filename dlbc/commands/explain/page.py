"""The remarks beside the source, as one self-contained page.

The source is cut at the loops, and beside each part stand the remarks on what begins there. Whatever comes
from the file is escaped by the template.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from dlbrt.records import dataclass
from dlbrt.whole_files import write_whole

from dlbc.commands.common import print_error, show_text
from dlbc.commands.explain.describe import header_of
from dlbc.commands.explain.file import ExplainedFile
from dlbc.commands.explain.remarks import EVERYTHING, Remark, RemarkFilter
from dlbc.commands.pages import environment, script, style
from dlbc.commands.verdicts import count_verdicts, status_text
from dlbc.diagnostics.diagnostic import shown
from dlbc.diagnostics.remark_codes import RemarkKind

_ASSETS = Path(__file__).parent / "assets"

#: What stands at the head of each page, so that no other file is overwritten.
_OURS = '<meta name="generator" content="dlbc explain">'


@dataclass(frozen=True, slots=True)
class PageRemark:
    """A remark as the page shows it: ``where`` names its place; it marks the lines ``first`` to ``last``."""

    kind: str
    code: str
    part: str
    subject: str
    text: str
    hint: str
    where: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of the source, its number as people read it, and the kinds of the remarks on it."""

    number: int
    name: str
    text: str
    kinds: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RemarkGroup:
    """The remarks on one loop or routine, under its ``title``, with the verdict on it."""

    title: str
    verdict: str
    remarks: tuple[PageRemark, ...]


@dataclass(frozen=True, slots=True)
class PageSegment:
    """Consecutive lines, and what is to be said of the loops that begin in them."""

    lines: tuple[PageLine, ...]
    groups: tuple[RemarkGroup, ...]


@dataclass(frozen=True, slots=True)
class PageFile:
    """A file: its name, the verdicts on its loops in a line, and its segments."""

    name: str
    about: str
    segments: tuple[PageSegment, ...]


def write_page(
    files: Sequence[ExplainedFile], output: str | None, alone: bool, wanted: RemarkFilter = EVERYTHING
) -> int:
    """Write the page and print its path; the exit status. A page goes to standard output for ``-``.

    Without ``output`` no file is overwritten that is not such a page.
    """
    text = page(files, wanted)
    if output == "-":
        show_text(text.rstrip("\n"))
        return 0
    target = Path(output) if output else _beside(files, alone)
    if not output and _is_foreign(target):
        return print_error(f"{target}: exists, and is no page of dlbc explain; -o says where to write")
    try:
        write_whole(target, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        return print_error(f"{target}: cannot be written ({error.strerror or error})")
    show_text(str(target))
    return 0


def _beside(files: Sequence[ExplainedFile], alone: bool) -> Path:
    return Path(files[0].source.path).with_suffix(".html") if alone else Path("explain.html")


def _is_foreign(target: Path) -> bool:
    try:
        return _OURS.encode() not in target.read_bytes()
    except FileNotFoundError:
        return False
    except OSError:
        return True


def page(files: Sequence[ExplainedFile], wanted: RemarkFilter = EVERYTHING) -> str:
    """The text of the page."""
    kinds = Counter(r.kind for file in files for r in file.remarks if wanted.takes(r))
    names = [_shown_name(file) for file in files]
    text = (
        environment(_ASSETS)
        .get_template("page.html.j2")
        .render(
            title=f"Remarks on {names[0] if len(names) == 1 else f'{len(names)} files'}",
            generator=_OURS,
            kinds=[(kind.value, kinds[kind]) for kind in RemarkKind],
            files=[_file(file, wanted) for file in files],
            style=style(_ASSETS),
            script=script(_ASSETS),
        )
    )
    return f"{text}\n"


def _shown_name(file: ExplainedFile) -> str:
    return shown(file.source.path)


def _file(file: ExplainedFile, wanted: RemarkFilter) -> PageFile:
    about = count_verdicts(file.result.reports) or "no parallel loop"
    return PageFile(_shown_name(file), f"{about}.", tuple(_segments(file, wanted)))


def _segments(file: ExplainedFile, wanted: RemarkFilter) -> Iterator[PageSegment]:
    source = file.source
    on_line: dict[int, set[RemarkKind]] = {}
    for remark in filter(wanted.takes, file.remarks):
        on_line.setdefault(remark.place.line, set()).add(remark.kind)
    groups: dict[int, list[RemarkGroup]] = {}
    for begin, group in _groups(file, wanted):
        groups.setdefault(max(begin, 1), []).append(group)
    last = len(source.lines) - (not source.lines[-1])
    begins = sorted({1, *groups})
    for begin, end in zip(begins, [*begins[1:], last + 1], strict=True):
        lines = (_line(file, number, on_line.get(number, set())) for number in range(begin, end))
        yield PageSegment(tuple(lines), tuple(groups.get(begin, ())))


def _line(file: ExplainedFile, number: int, kinds: set[RemarkKind]) -> PageLine:
    cell, inside = file.source.in_cell(number)
    name = f"{cell}:{inside}" if cell else str(inside)
    text = shown(file.source.line(number).expandtabs())
    return PageLine(number, name, text, tuple(kind.value for kind in RemarkKind if kind in kinds))


def _groups(file: ExplainedFile, wanted: RemarkFilter) -> Iterator[tuple[int, RemarkGroup]]:
    """The groups, each with the line at which its segment begins."""
    source = file.source

    def made(title: str, verdict: str, remarks: Sequence[Remark]) -> RemarkGroup:
        return RemarkGroup(
            title, verdict, tuple(_remark(file, each) for each in remarks if wanted.takes(each))
        )

    for report, remarks in file.loops:
        line = min(report.loop.annotation.place.line, report.loop.node.lineno)
        title = shown(f"{source.line_name(report.loop.node.lineno)}: {header_of(source, report.loop.node)}")
        yield line, made(title, status_text(report), remarks)
    for plan, remarks in file.routines:
        node, place = plan.routine.node, plan.routine.annotation.place
        title = shown(f"{source.line_name(node.lineno)}: {header_of(source, node)}")
        yield min(place.line, node.lineno), made(title, "routine", remarks)
    for remark in filter(wanted.takes, file.others):
        line = remark.place.line
        yield line, made(source.line_name(line) if line else "the file", "", [remark])


def _remark(file: ExplainedFile, remark: Remark) -> PageRemark:
    place, source = remark.place, file.source
    _, inside = source.in_cell(place.line)
    return PageRemark(
        remark.kind.value,
        remark.code,
        remark.part,
        shown(source.by_cells(" ".join(remark.subject.split()))),
        shown(source.by_cells(remark.text)),
        shown(source.by_cells(remark.hint)),
        f"{inside}:{place.column}" if place.line else "",
        place.line,
        place.end_line,
    )
