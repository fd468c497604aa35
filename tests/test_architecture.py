"""ARCHITECTURE.md names files and identifiers that exist, and every room is on its map."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
PACKAGES = (ROOT / "dlbc", ROOT / "runtime" / "dlbrt")


def exists(path: str) -> bool:
    """Whether the product or the checkout has such a file; the page leaves out the folders above it."""
    beside = next(ROOT.glob(path), None) or next((ROOT / "runtime").glob(path), None)
    return beside is not None or any(next(package.rglob(path), None) is not None for package in PACKAGES)


def section(title: str) -> str:
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def test_every_file_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([\w./*-]+(?:\.py|\w/))`", PAGE)) | set(
        re.findall(r"`([\w./]+\.py): \w+`", PAGE)
    )
    named -= {"samples/NAME.py", "NAME.py"}
    assert len(named) > 100
    assert [path for path in sorted(named) if not exists(path.rstrip("/"))] == []


def test_every_room_is_on_the_map() -> None:
    shown = section("Map")
    rooms = [
        path.name for package in PACKAGES for path in package.iterdir() if (path / "__init__.py").exists()
    ]
    assert len(rooms) > 20
    assert [room for room in rooms if not re.search(rf"\b{room}\b", shown)] == []


def test_every_term_of_the_glossary_names_what_the_code_has() -> None:
    rows = [line.split(" | ") for line in section("Glossary").splitlines() if line.startswith("| ")][2:]
    assert len(rows) >= 60
    files = [path for package in PACKAGES for path in package.rglob("*.py")]
    text = "\n".join([*(path.name for path in files), *(path.read_text(encoding="utf-8") for path in files)])
    known = set(re.findall(r"\w+", text))
    for term, meaning, source, names in rows:
        assert meaning.strip(), term
        assert source.strip(), term
        words = [word for name in re.findall(r"`([\w./]+)`", names) for word in re.findall(r"\w+", name)]
        assert words, term
        assert set(words) <= known, (term, set(words) - known)
