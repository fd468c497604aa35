"""Charts as SVG, for a page that needs nothing else: lines, steps and dots over two linear axes.

Colours and sizes of letters stand in the page's style sheet, by class. Each dot has a title, which
browsers show where the pointer rests, and screen readers read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, log10

from dlbrt.records import dataclass
from markupsafe import Markup

from dlbc.commands.report.words import seconds_text

#: Width and height, and the margins around the plot: left, right, top, bottom.
_WIDTH, _HEIGHT = 700, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 92, 112, 26, 50

#: Lines that are told apart by colour and dashes.
LINES = 8

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a chart: its ``label`` stands at its end; ``kind`` is its class of the style sheet.

    ``dots`` marks each point with a title; ``marked`` is a point with a larger mark.
    """

    label: str
    points: tuple[Point, ...]
    kind: str
    dots: tuple[str, ...] = ()
    marked: Point | None = None


@dataclass(frozen=True, slots=True)
class Chart:
    """Lines over axes that begin at 0 (the lower one at ``first``); ``y_seconds``: y is a time."""

    title: str
    x: str
    y: str
    lines: tuple[Line, ...]
    y_seconds: bool = True
    first: float = 0.0

    def svg(self) -> Markup:
        """The picture; empty if there is nothing to draw."""
        points = [point for line in self.lines for point in line.points]
        if not points:
            return Markup("")
        plot = _Plot(
            self.first, max(max(x for x, _ in points), self.first + 1e-12), max(y for _, y in points) or 1.0
        )
        parts = [*self._axes(plot), *(part for line in self.lines for part in _drawn(line, plot))]
        parts += _labels(self.lines, plot)
        head = Markup('<svg viewBox="0 0 {} {}" role="img" aria-label="{}">').format(
            _WIDTH, _HEIGHT, self.title
        )
        return head + Markup("\n").join(parts) + Markup("</svg>")

    def _axes(self, plot: _Plot) -> Iterator[Markup]:
        yield Markup("<title>{}</title>").format(self.title)
        for value in steps(plot.x_low, plot.x_high, 4):
            yield Markup('<text class="tick x" x="{:.1f}" y="{}">{}</text>').format(
                plot.x(value), _HEIGHT - _BOTTOM + 20, number_text(value)
            )
        for value in steps(0.0, plot.y_high, 4):
            y = plot.y(value)
            yield Markup('<line class="grid" x1="{}" y1="{:.1f}" x2="{}" y2="{:.1f}"/>').format(
                _LEFT, y, _WIDTH - _RIGHT, y
            )
            label = seconds_text(value) if self.y_seconds and value else number_text(value)
            yield Markup('<text class="tick y" x="{}" y="{:.1f}">{}</text>').format(_LEFT - 8, y + 4, label)
        yield Markup('<text class="axis" x="{}" y="{}">{}</text>').format(
            _WIDTH - _RIGHT, _HEIGHT - 6, self.x
        )
        yield Markup('<text class="axis left" x="{}" y="{}">{}</text>').format(4, _TOP - 8, self.y)


@dataclass(frozen=True, slots=True)
class _Plot:
    """Where values lie in the picture."""

    x_low: float
    x_high: float
    y_high: float

    def x(self, value: float) -> float:
        return _LEFT + (value - self.x_low) / (self.x_high - self.x_low) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        return _HEIGHT - _BOTTOM - value / self.y_high * (_HEIGHT - _TOP - _BOTTOM - 12)


def _drawn(line: Line, plot: _Plot) -> Iterator[Markup]:
    path = " ".join(f"{plot.x(x):.1f},{plot.y(y):.1f}" for x, y in line.points)
    yield Markup('<polyline class="line {}" points="{}"/>').format(line.kind, path)
    for (x, y), title in zip(line.points, line.dots, strict=False):
        yield Markup(
            '<circle class="dot {}" cx="{:.1f}" cy="{:.1f}" r="3.5"><title>{}</title></circle>'
        ).format(line.kind, plot.x(x), plot.y(y), title)
    if line.marked is not None:
        x, y = plot.x(line.marked[0]), plot.y(line.marked[1])
        yield Markup('<path class="share {}" d="M{:.1f} {:.1f}v{:.1f}"/>').format(
            line.kind, x, y, _HEIGHT - _BOTTOM - y
        )
        yield Markup('<circle class="share {}" cx="{:.1f}" cy="{:.1f}" r="6"/>').format(line.kind, x, y)


def _labels(lines: Sequence[Line], plot: _Plot) -> Iterator[Markup]:
    """Names at the ends of lines, moved apart where they would overlap."""
    ends = sorted(
        ((plot.y(line.points[-1][1]), line) for line in lines if line.points), key=lambda each: each[0]
    )
    reached = 0.0
    for y, line in ends:
        reached = max(y + 4, reached + 16)
        x = min(plot.x(line.points[-1][0]) + 8, _WIDTH - _RIGHT + 8)
        yield Markup('<text class="name {}" x="{:.1f}" y="{:.1f}">{}</text>').format(
            line.kind, x, reached, line.label
        )


def steps(low: float, high: float, most: int) -> list[float]:
    """At most ``most`` + 1 round values from ``low`` to ``high``."""
    span = high - low
    if not span > 0:
        return [low]
    size = 10.0 ** floor(log10(span / most))
    size *= next(factor for factor in (1, 2, 5, 10) if span / (size * factor) <= most)
    first = -(-low // size)
    return [k * size for k in range(int(first), int(high / size + 1e-9) + 1)]


def number_text(value: float) -> str:
    """A number of an axis."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{value / (1e3 if letter == 'k' else size):g} {letter}"
    return f"{value:g}"


def stepped(edges: Sequence[float], values: Sequence[float]) -> tuple[Point, ...]:
    """The corners of a line that has each value between two edges."""
    pairs = zip(edges, edges[1:], values, strict=False)
    return tuple(point for low, high, value in pairs for point in ((low, value), (high, value)))
