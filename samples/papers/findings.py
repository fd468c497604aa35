"""What a chapter of docs/papers.md says: values of listed numbers, tables and plots, as frozen data.

The chapters compute (`papers.<name>.chapter`), `papers.markdown` and `papers.plots` show. In between findings
are JSON files, so that the document can be made again without computing or running anything.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = [
    "Chapter",
    "Extent",
    "Image",
    "Panel",
    "Plot",
    "Section",
    "Series",
    "Table",
    "Value",
    "joined",
    "misprints",
    "rounded",
]


@dataclass(frozen=True, slots=True)
class Extent:
    """How much is computed: ``quick`` is what takes seconds, ``runs`` says that ranks are started too."""

    quick: bool = False
    runs: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """What was found for a number of the catalogue, by its name.

    ``computed`` is by the formulas of the paper, ``here`` simulated or measured. Empty: not found that way.
    """

    number: str
    computed: str = ""
    here: str = ""

    @property
    def found(self) -> str:
        """What is held against the print: what the formulas give, else what was simulated or measured."""
        return self.computed or self.here


@dataclass(frozen=True, slots=True)
class Table:
    """A table of texts, below its caption."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Series:
    """Points (x, y), drawn in matplotlib's ``style``, or as ``bars`` at the labels of the panel."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    style: str = "-"
    bars: bool = False


@dataclass(frozen=True, slots=True)
class Image:
    """Values 0 .. 255, row by row."""

    rows: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """A pair of axes: series, or an image. ``log`` names logarithmic axes; ``ticks`` label 0, 1, .. of x."""

    title: str
    series: tuple[Series, ...] = ()
    xlabel: str = ""
    ylabel: str = ""
    log: str = ""
    ticks: tuple[str, ...] = ()
    image: Image | None = None


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure, its file name without ending, and what is below it."""

    name: str
    caption: str
    panels: tuple[Panel, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A table or figure of the paper, or several that belong together."""

    title: str
    text: str = ""
    values: tuple[Value, ...] = ()
    tables: tuple[Table, ...] = ()
    plots: tuple[Plot, ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """One paper: how it is cited, what its summary says, and its sections."""

    paper: str
    title: str
    source: str
    summary: str
    sections: tuple[Section, ...] = field(default=())

    def values(self) -> Iterator[Value]:
        """All values, in order."""
        for section in self.sections:
            yield from section.values

    def plots(self) -> Iterator[Plot]:
        """All plots, in order."""
        for section in self.sections:
            yield from section.plots

    def as_json(self) -> str:
        """As text, a section a line; the same chapter gives the same bytes."""
        found = asdict(self)
        sections = ",\n".join(_line(each) for each in found.pop("sections"))
        return f'{_line(found)[:-1]}, "sections": [\n{sections}\n]}}\n'

    @classmethod
    def of_json(cls, text: str) -> Chapter:
        """What `as_json` wrote; ValueError for anything else."""
        try:
            return _chapter(json.loads(text))
        except (AttributeError, KeyError, TypeError) as error:
            raise ValueError(f"expected the findings of a paper: {error!r}") from error


def rounded(values: ArrayLike, digits: int = 5) -> tuple[float, ...]:
    """Values with so many significant digits: more are not seen in a plot."""
    return tuple(float(f"{value:.{digits}g}") for value in np.asarray(values, dtype=np.float64).tolist())


def joined(values: Iterable[object]) -> str:
    """Values one after the other."""
    return " ".join(map(str, values))


def misprints(items: str) -> Section:
    """The section that lists what is wrong in formulas and text."""
    return Section("Misprints in formulas and text", items)


def _line(found: Mapping[str, Any]) -> str:
    return json.dumps(found, allow_nan=False, ensure_ascii=False)


def _chapter(found: Mapping[str, Any]) -> Chapter:
    sections = tuple(_section(each) for each in found["sections"])
    return Chapter(found["paper"], found["title"], found["source"], found["summary"], sections)


def _section(found: Mapping[str, Any]) -> Section:
    return Section(
        found["title"],
        found["text"],
        tuple(Value(**each) for each in found["values"]),
        tuple(
            Table(each["caption"], tuple(each["head"]), tuple(map(tuple, each["rows"])))
            for each in found["tables"]
        ),
        tuple(
            Plot(each["name"], each["caption"], tuple(map(_panel, each["panels"]))) for each in found["plots"]
        ),
    )


def _panel(found: Mapping[str, Any]) -> Panel:
    series = tuple(
        Series(each["label"], tuple(each["x"]), tuple(each["y"]), each["style"], each["bars"])
        for each in found["series"]
    )
    image = found["image"] and Image(tuple(map(tuple, found["image"]["rows"])))
    known = {name: found[name] for name in ("title", "xlabel", "ylabel", "log")}
    return Panel(**known, series=series, ticks=tuple(found["ticks"]), image=image)
