"""The document of all chapters: a page of summary, then a chapter for each paper, as Markdown.

A value is shown beside its number of the list: printed there, computed from the paper's formulas, here. Every
number of the list is shown; one that a chapter has nothing for has its reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from papers.catalogue import Number, Verdict, numbers
from papers.findings import Chapter, Section, Table, Value

__all__ = ["document", "text_table"]

_HEAD = """# Five papers, computed again

Every table and figure of five papers on load balancing, as far as it can be computed, simulated or
measured: what the paper prints, what its own formulas give, and what this project finds. `python
samples/papers/reproduce.py` writes this page and its plots. `docs/papers/*.json` keep what was found, so
that `--kept` writes the page again without computing anything. `--runs` measures on ranks, too; `--only
zaki,swartz` is for some of the papers; `--quick` takes a minute, prints its tables and writes nothing.

The numbers are listed in `samples/papers/catalogue.toml`, each with the value that an independent
computation gave. Their verdicts are checked by a test: *reproduced* means that what is found has the digits
printed, rounded or cut off. A *misprint* has its correction. What *does not reproduce* has its reason;
*near* says that the size is right, and that a seed, a thickness or a curve which the paper does not give
decides on the rest. *Not printed* are values that the paper leaves to the reader, or shows as bars.
"""


def document(chapters: Sequence[Chapter], pictures: str = "papers") -> str:
    """The page; ``pictures`` is the folder of the plots, seen from it."""
    parts = [_HEAD, *_summary(chapters)]
    for chapter in chapters:
        parts += _chapter(chapter, pictures)
    return "\n".join(parts).rstrip() + "\n"


def _summary(chapters: Sequence[Chapter]) -> Iterator[str]:
    head = ("paper", *(verdict.value for verdict in Verdict))
    rows, all_verdicts = [], Counter[Verdict]()
    for chapter in chapters:
        count = Counter(number.verdict for number in _listed(chapter.paper))
        all_verdicts += count
        rows.append(
            (f"[{chapter.title}](#{_anchor(chapter.title)})", *(str(count[each]) for each in Verdict))
        )
    rows.append(("all", *(str(all_verdicts[each]) for each in Verdict)))
    yield from _markdown(head, rows)
    yield ""
    for chapter in chapters:
        yield f"**{chapter.title}.** {chapter.summary}\n"


def _chapter(chapter: Chapter, pictures: str) -> Iterator[str]:
    yield f"## {chapter.title}\n\n{chapter.source}\n"
    for section in chapter.sections:
        yield f"### {section.title}\n"
        yield from _body(section, pictures)
    shown = {value.number for value in chapter.values()}
    if left := [number for number in _listed(chapter.paper) if number.name not in shown]:
        yield "### What is not computed\n"
        yield from _markdown(_VALUES, [_row(number, Value(number.name)) for number in left])
        yield ""


def _body(section: Section, pictures: str) -> Iterator[str]:
    if section.text:
        yield f"{section.text}\n"
    if section.values:
        known = numbers()
        yield from _markdown(_VALUES, [_row(known[value.number], value) for value in section.values])
        yield ""
    for table in section.tables:
        yield from _table(table)
    for plot in section.plots:
        yield f"![{plot.caption}]({pictures}/{plot.name}.svg)\n\n*{plot.caption}*\n"


_VALUES = ("number", "printed", "computed", "here", "verdict")


def _row(number: Number, value: Value) -> tuple[str, ...]:
    verdict = f"{number.verdict.value}: {number.why}" if number.why else number.verdict.value
    what = f"{number.place}: {number.what}"
    if number.free:
        what += f" (open: {number.free})"
    return what, number.printed, value.computed, value.here, verdict


def _table(table: Table) -> Iterator[str]:
    yield f"{table.caption}\n"
    yield from _markdown(table.head, table.rows)
    yield ""


def _markdown(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield _line(head)
    yield "|" + " --- |" * len(head)
    yield from map(_line, rows)


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _listed(paper: str) -> list[Number]:
    return [number for number in numbers().values() if number.paper == paper]


def _anchor(title: str) -> str:
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return kept.replace(" ", "-")


def text_table(chapter: Chapter) -> str:
    """The values of a chapter for a terminal."""
    known = numbers()
    rows = [("", "printed", "computed", "here", "verdict")]
    for value in chapter.values():
        number = known[value.number]
        rows.append((value.number, number.printed, value.computed, value.here, number.verdict.value))
    widths = [min(48, max(len(row[column]) for row in rows)) for column in range(5)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return "\n".join([chapter.title, *(line.rstrip() for line in lines)]) + "\n"
