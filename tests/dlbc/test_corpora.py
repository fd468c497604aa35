"""Programs from outside corpora: docs/reach.md is what dlbc says of their loops, as they expect it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.corpora import PAGE, Verdict, page, paths, rows, verdicts
from tests.support.tier import is_full, part


def wrong(path: Path, loops: list[Verdict]) -> list[tuple[str, str, str]]:
    """Loops of which a comment in the program expects another verdict."""
    return [(path.stem, each.place, each.text) for each in loops if each.contradicted]


@pytest.mark.parametrize("path", part(paths(), 4), ids=lambda path: path.stem)
def test_verdicts_are_those_of_the_page_and_expected_by_the_program(path: Path, update_golden: bool) -> None:
    found = list(verdicts(path))
    assert not wrong(path, found), "a comment above a loop has to say why it is refused"
    text = PAGE.read_text(encoding="utf-8")
    assert update_golden or "\n".join(rows(path, found)) in text, "review with --update-golden"


def test_the_page_has_all_of_them(update_golden: bool) -> None:
    if update_golden or is_full():
        found = {path: list(verdicts(path)) for path in paths()}
        if update_golden:
            PAGE.write_text(page(found), encoding="utf-8")
        assert PAGE.read_text(encoding="utf-8") == page(found), "review with --update-golden"
    text = PAGE.read_text(encoding="utf-8")
    assert all(f"/{path.parent.name}/{path.name})" in text for path in paths())
