"""Plots of findings as SVG files; matplotlib (the extra ``plot``) is loaded when the first is drawn."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

from papers.findings import Panel, Plot

__all__ = ["MISSING", "draw", "missing"]

#: What to do without matplotlib.
MISSING = "plots need matplotlib: install the project with its extra `plot`, or name --no-plots"

_ACROSS = 4
_INCHES = (4.6, 3.6)
_SETTINGS: Any = {
    "svg.hashsalt": "papers", "svg.fonttype": "none", "font.size": 8, "axes.titlesize": 9,
    "path.simplify": True, "lines.linewidth": 1.1,
}  # fmt: skip


def missing() -> str:
    """Why nothing can be drawn; empty if it can."""
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        return MISSING
    return ""


def draw(plot: Plot, path: Path) -> None:
    """Write a plot; the same plot gives the same bytes with the same matplotlib."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        across = min(len(plot.panels), _ACROSS if plot.panels[0].image else 2)
        down = ceil(len(plot.panels) / across)
        width, height = (2.2, 2.3) if plot.panels[0].image else _INCHES
        figure = Figure(
            figsize=(width * across + (1 - min(across - 1, 1)), height * down), layout="constrained"
        )
        for place, panel in enumerate(plot.panels, start=1):
            _panel(figure.add_subplot(down, across, place), panel)
        figure.savefig(path, format="svg", metadata={"Date": None, "Creator": None})


def _panel(axes: Any, panel: Panel) -> None:
    axes.set(title=panel.title, xlabel=panel.xlabel, ylabel=panel.ylabel)
    if panel.image is not None:
        axes.imshow(panel.image.rows, vmin=0, vmax=255, interpolation="nearest")
        axes.set(xticks=[], yticks=[])
        return
    bars = [series for series in panel.series if series.bars]
    width = 0.8 / max(len(bars), 1)
    for series in panel.series:
        label = series.label or None
        if series.bars:
            shift = width * (bars.index(series) - (len(bars) - 1) / 2)
            axes.bar([x + shift for x in series.x], series.y, width, label=label)
        else:
            axes.plot(series.x, series.y, series.style, label=label, markersize=3.5)
    for axis in panel.log:
        getattr(axes, f"set_{axis}scale")("log")
    if panel.ticks:
        axes.set_xticks(range(len(panel.ticks)), panel.ticks)
    if bars:
        axes.margins(y=0.3)  # room for the legend above the bars
    if any(series.label for series in panel.series):
        axes.legend(fontsize=7, **({"loc": "upper center", "ncols": 3} if bars else {}))
