"""What the site has beside files of docs: README, ARCHITECTURE, CHANGELOG, and a page for each diagnostic.

mkdocs calls the functions that begin with `on_`. Files of docs link to each other, and to files of the
checkout, as they do in the repository. Links that the site has no page for lead to the repository, if
`repo_url` is set, and are plain text otherwise.
"""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from dlbc.diagnostics.titles import TITLES

ROOT = Path(__file__).resolve().parents[2]

#: Files of the checkout that are pages: by their paths, the names of the pages.
ABOVE = {"README.md": "index.md", "ARCHITECTURE.md": "architecture.md", "CHANGELOG.md": "changelog.md"}
DIAGNOSTICS = "diagnostics.md"

_SECTION = re.compile(r"^### (DLB\d{3})\n(.*?)(?=^###? |\Z)", re.MULTILINE | re.DOTALL)
_FENCED = re.compile(r"(^ *```.*?^ *```$)", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^][]|\[[^]]*\])*)\]\(([^)\s]+)\)")
_INFO = re.compile(r"^( *```\w+)([^\n`]*)$", re.MULTILINE)
_ROW = re.compile(r"^ *\|.*$", re.MULTILINE)
_CODE = re.compile(r"`[^`\n]*`")
_TITLE = re.compile(r' title="[^"]*"')


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not files in docs."""
    for above, name in ABOVE.items():
        files.append(File.generated(config, name, content=(ROOT / above).read_text(encoding="utf-8")))
    text = (ROOT / "docs" / DIAGNOSTICS).read_text(encoding="utf-8")
    for code, body in _SECTION.findall(text):
        page = f"# {code}\n\n{TITLES[code]}\n{body.rstrip()}\n\n[All diagnostics]({DIAGNOSTICS})\n"
        files.append(File.generated(config, f"diagnostics/{code}.md", content=page))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page with its links as the site has them, and fences without the marks of tests."""
    name = page.file.src_uri
    if name == DIAGNOSTICS:
        markdown = _SECTION.sub(_listed, markdown)
    parts = _FENCED.split(markdown)
    for number, part in enumerate(parts):
        if number % 2:
            parts[number] = _INFO.sub(_without_marks, part, count=1)
        else:
            part = _ROW.sub(_with_bars, part)
            parts[number] = _LINK.sub(lambda match: _link(match, name, config, files), part)
    return "".join(parts)


def _without_marks(fence: re.Match[str]) -> str:
    """The first line of a block with its language and title alone."""
    return fence[1] + "".join(_TITLE.findall(fence[2]))


def _with_bars(row: re.Match[str]) -> str:
    """A row of a table: GitHub wants `\\|` for a bar within code, and Python-Markdown shows it so."""
    return _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0])


def _listed(section: re.Match[str]) -> str:
    """A code in the list of all: its severity and what it says, and a link to its page."""
    severity = section[2].strip().partition(":")[0]
    return f"* [{section[1]}](diagnostics/{section[1]}.md) ({severity}): {TITLES[section[1]]}\n"


def _link(match: re.Match[str], name: str, config: MkDocsConfig, files: Files) -> str:
    image, text, target = match[1], match[2], match[3]
    if re.match(r"\w+:|#", target):
        return match[0]
    path, _, anchor = target.partition("#")
    folder = _folder_in_checkout(name)
    path = posixpath.normpath(posixpath.join(folder, path))
    place, anchor = _place_in_site(path, anchor)
    if files.get_file_from_path(place) is None:
        address = f"{str(config.repo_url).rstrip('/')}/blob/main/{path}" if config.repo_url else ""
        return f"[{text}]({address})" if address else text
    link = posixpath.relpath(place, posixpath.dirname(name) or ".")
    return f"{image}[{text}]({link}{'#' + anchor if anchor else ''})"


def _folder_in_checkout(name: str) -> str:
    """Where the text of a page lies, to which its links are relative."""
    if name in ABOVE.values():
        return ""
    return "docs"


def _place_in_site(path: str, anchor: str) -> tuple[str, str]:
    """The page and heading of a file of the checkout and a heading of it."""
    if path in ABOVE:
        return ABOVE[path], anchor
    place = path.removeprefix("docs/") if path.startswith("docs/") else f"../{path}"
    if place == DIAGNOSTICS and re.fullmatch(r"dlb\d{3}", anchor):
        return f"diagnostics/{anchor.upper()}.md", ""
    return place, anchor
