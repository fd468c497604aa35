"""A report as one self-contained page: style, script and data stand in it, and it needs no network.

What comes from the program (names, arguments, reasons) is escaped by the template, and what stands in the
data of the timeline by `_data`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from dlbc.commands.report.charts import code
from dlbc.commands.report.content import Report
from dlbc.commands.report.loop_view import GROUPS
from dlbc.commands.report.words import about, part, seconds_text, sentence

_ASSETS = Path(__file__).parent / "assets"


def page(report: Report) -> str:
    """The text of the page."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_ASSETS),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters: dict[str, Callable[..., Any]] = {
        "code": code,
        "gain": lambda seconds: f"Worth up to {about(seconds)}.",
        "percent": lambda percent: part(percent / 100),
        "seconds": seconds_text,
        "sentence": sentence,
    }
    environment.filters |= filters
    text = environment.get_template("page.html.j2").render(
        report=report,
        shown=(report.advice, *report.others),
        title=f"Report of {report.name}",
        kinds=[*((kind, name) for kind, name, _ in GROUPS), ("sequential", "sequential part, on rank 0")],
        style=Markup((_ASSETS / "page.css").read_text(encoding="utf-8")),
        script=Markup((_ASSETS / "page.js").read_text(encoding="utf-8")),
        data=_data(report.timeline),
    )
    return f"{text}\n"


def _data(document: dict[str, Any]) -> Markup:
    """JSON that cannot end the element in which it stands."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)
