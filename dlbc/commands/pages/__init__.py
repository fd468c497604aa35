"""What the pages of `dlbc` share: one self-contained file each, which needs no network.

The style is light or dark as the system is, and fits phones and print. What comes from the program is escaped
by the templates, and what stands in the data of a script by `data_text`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup, escape

_HERE = Path(__file__).parent


def environment(folder: Path) -> jinja2.Environment:
    """The templates of a folder; a name that is not defined is an error."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["code"] = code
    return made


def style(folder: Path) -> Markup:
    """The style of all pages, and then that of the folder's page."""
    files = (_HERE / "base.css", folder / "page.css")
    return Markup("".join(file.read_text(encoding="utf-8") for file in files))


def script(folder: Path) -> Markup:
    """The script of the folder's page."""
    return Markup((folder / "page.js").read_text(encoding="utf-8"))


def data_text(document: dict[str, Any]) -> Markup:
    """JSON that cannot end the element in which it stands."""
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def code(text: str) -> Markup:
    """Text with what stands between backquotes marked as code, escaped."""
    parts = str(text).split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if k % 2 else escape(part) for k, part in enumerate(parts)
    )
