"""A headless Chromium, run anew for each page: its document after all scripts, its console, a picture.

Debian has it as `chromium-headless-shell` or `chromium`; pages are files, and need no network.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from html import escape, unescape
from pathlib import Path
from typing import Any

_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")

_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=4000",
            "--enable-logging=stderr", "--force-device-scale-factor=1")  # fmt: skip

#: Windows of Chromium (other than the headless shell) are no narrower: such pages are shown in a frame.
_NARROWEST = 500

#: What a probe is replaced by: its result, in an element of the document.
_RESULT = re.compile(r'<pre id="probed">(.*?)</pre>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Window:
    """What a page is shown in: width and height in pixels, and the colour scheme of the system."""

    width: int = 1000
    height: int = 900
    dark: bool = False


@cache
def browser() -> str | None:
    """The program; None if there is none."""
    return next((found for name in _NAMES if (found := shutil.which(name))), None)


def _run(words: list[str], window: Window, page: Path) -> subprocess.CompletedProcess[str]:
    program = browser()
    assert program is not None
    scheme = [f"--blink-settings=preferredColorScheme={0 if window.dark else 1}"]
    size = [f"--window-size={window.width},{window.height}"]
    with tempfile.TemporaryDirectory() as profile:
        start = [program, *_OPTIONS, *scheme, *size, f"--user-data-dir={profile}"]
        return subprocess.run(
            [*start, *words, page.as_uri()], capture_output=True, text=True, timeout=120, check=True
        )


def console(done: subprocess.CompletedProcess[str]) -> list[str]:
    """What the page's scripts have written to the console, errors included."""
    return [line for line in done.stderr.splitlines() if ":CONSOLE" in line]


def probe(text: str, script: str, window: Window | None = None) -> Any:
    """What the body of a function returns in a page once it is drawn; its console has to be empty."""
    call = f"""<script>addEventListener("load", () => setTimeout(() => {{
        const pre = document.createElement("pre"); pre.id = "probed";
        try {{ pre.textContent = JSON.stringify((() => {{ {script} }})()); }}
        catch (error) {{ console.error(error); }}
        document.body.append(pre); }}, 50));</script>"""
    window, text = window or Window(), text.replace("</body>", f"{call}</body>")
    if window.width < _NARROWEST:
        text = _framed(text, window)
    with tempfile.TemporaryDirectory() as home:
        page = Path(home, "page.html")
        page.write_text(text, encoding="utf-8")
        done = _run(["--dump-dom"], window, page)
    assert console(done) == [], console(done)
    [found] = _RESULT.findall(done.stdout)
    return json.loads(unescape(found))


def _framed(text: str, window: Window) -> str:
    """A page with another one in a frame as large as the window, whose probe it takes over."""
    size = f"width: {window.width}px; height: {window.height}px; border: 0"
    return f"""<!doctype html><meta charset="utf-8"><iframe id="frame" style="{size}" srcdoc="{escape(text)}">
        </iframe><script>addEventListener("load", () => setTimeout(() => {{
        const frame = document.getElementById("frame");
        document.body.append(frame.contentDocument.getElementById("probed").cloneNode(true));
        frame.remove(); }}, 500));</script>"""


def screenshot(text: str, target: Path, window: Window) -> None:
    """Write a picture (PNG) of a page."""
    with tempfile.TemporaryDirectory() as home:
        page = Path(home, "page.html")
        page.write_text(text, encoding="utf-8")
        done = _run([f"--screenshot={target.absolute()}"], window, page)
    assert console(done) == [], console(done)
