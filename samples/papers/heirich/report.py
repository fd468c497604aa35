"""What the experiments share: their options, the table that they print, and the figure that they draw."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

from dlbc.commands.calibrate import check_plot

NONE = "-"  # where the paper says nothing, or nothing was recomputed for these sizes


@dataclass(frozen=True)
class Row:
    """A figure: as the paper prints it, as recomputed from the paper's definitions, and as found here."""

    what: str
    paper: str
    recomputed: str
    here: str


def parser(doc: str | None) -> argparse.ArgumentParser:
    """The options that all have."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--small", action="store_true", help="sizes that take a second")
    found.add_argument("--plot", metavar="FILE", help="draw the figure (needs matplotlib: the extra `plot`)")
    return found


def parsed(options: argparse.ArgumentParser) -> argparse.Namespace:
    """What was asked for; ends where no figure can be drawn, before anything is computed."""
    found = options.parse_args()
    if found.plot and (wrong := check_plot(found.plot)):
        options.error(wrong)
    return found


def show(title: str, rows: Sequence[Row]) -> None:
    """Print a table, its columns as wide as they need to be."""
    table = [("", "paper", "recomputed", "here"), *map(astuple, rows)]
    widths = [max(len(row[column]) for row in table) for column in range(4)]
    print(title)
    for what, *found in table:
        cells = "  ".join(text.rjust(width) for text, width in zip(found, widths[1:], strict=True))
        print(f"  {what:{widths[0]}}  {cells}")


def figure(width: float, height: float) -> Any:
    """An empty figure of so many inches."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")
