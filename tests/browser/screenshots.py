"""The picture in docs/report.md, made anew:

python -m tests.browser.screenshots
"""

from __future__ import annotations

import sys
from pathlib import Path

from dlbc.commands.report.content import report_of
from dlbc.commands.report.page import page
from tests.browser.chromium import Window, browser, screenshot
from tests.browser.example import example

TARGET = Path(__file__).resolve().parents[2] / "docs" / "report.png"


def main() -> int:
    """The exit status."""
    if browser() is None:
        print(
            "screenshots: expected chromium on the path; install Debian's chromium-headless-shell",
            file=sys.stderr,
        )
        return 2
    screenshot(page(report_of(example("none"), "picture.json")), TARGET, Window(900, 1500))
    print(TARGET)
    return 0


if __name__ == "__main__":
    sys.exit(main())
