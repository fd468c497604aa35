"""A report as one self-contained page: style, script and data stand in it, and it needs no network.

What comes from the program (names, arguments, reasons) is escaped by the template, and what stands in the
data of the timeline by `data_text`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from dlbc.commands.pages import data_text, environment, script, style
from dlbc.commands.report.content import Report
from dlbc.commands.report.loop_view import GROUPS
from dlbc.commands.report.words import about, part, seconds_text, sentence

_ASSETS = Path(__file__).parent / "assets"


def page(report: Report) -> str:
    """The text of the page."""
    made = environment(_ASSETS)
    filters: dict[str, Callable[..., Any]] = {
        "gain": lambda seconds: f"Worth up to {about(seconds)}.",
        "percent": lambda percent: part(percent / 100),
        "seconds": seconds_text,
        "sentence": sentence,
    }
    made.filters |= filters
    text = made.get_template("page.html.j2").render(
        report=report,
        shown=(report.advice, *report.others),
        title=f"Report of {report.name}",
        kinds=[*((kind, name) for kind, name, _ in GROUPS), ("sequential", "sequential part, on rank 0")],
        style=style(_ASSETS),
        script=script(_ASSETS),
        data=data_text(report.timeline),
    )
    return f"{text}\n"
