"""The site is built without a warning, and has what the checkout has: pages, diagnostics, figures, links."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from dlbc.diagnostics.catalogue import CATALOGUE
from tests.support.blocks import ROOT, Page


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(place)]
    quiet = os.environ | {"NO_MKDOCS_2_WARNING": "1"}  # an announcement of the theme's authors
    done = subprocess.run(
        command, cwd=ROOT, env=quiet, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "WARNING" not in done.stderr
    yield place
    shutil.rmtree(place)


class Links(HTMLParser):
    """The targets of a page, and the names that links may lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.names = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if key == "id" and value:
                self.names.add(value)
            elif key in ("href", "src") and value:
                self.targets.append(value)


def test_every_page_is_there(site: Path) -> None:
    names = [Path(page.name).stem for page in Page.all() if page.name.startswith("docs/")]
    assert [name for name in names if not (site / name / "index.html").exists()] == []
    assert "Install, and a first run" in (site / "index.html").read_text(encoding="utf-8")


def test_bars_within_code_do_not_end_cells(site: Path) -> None:
    page = (site / "commands" / "index.html").read_text(encoding="utf-8")
    assert "<td><code>--format full|json|sarif|github</code></td>" in page
    assert "\\|" not in page


def test_every_diagnostic_has_a_page(site: Path) -> None:
    assert {path.name for path in (site / "diagnostics").iterdir() if path.is_dir()} == CATALOGUE.keys()
    page = (site / "diagnostics" / "DLB301" / "index.html").read_text(encoding="utf-8")
    assert "so the iterations are not independent" in page
    assert "B[i - 1]" in re.sub("<[^>]*>", "", page)


def test_links_lead_to_files_and_names_of_the_site(site: Path) -> None:
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > len(CATALOGUE)
    missing = []
    for page, links in pages.items():
        for target in links.targets:
            address, name = urldefrag(target)
            if re.match(r"\w+:|/", address) or page.name == "404.html":
                continue
            path = (page.parent / unquote(address)).resolve() if address else page
            path = path / "index.html" if path.is_dir() else path
            known = pages[path].names if path in pages else {"", name}
            missing += [] if path.exists() and unquote(name) in known else [(page.name, target)]
    assert missing == []


def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    text = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="https?://[^"]*"', text) == []
