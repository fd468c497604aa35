"""Programs from outside corpora: docs/reach.md is what dlbc says of their loops, as they expect it."""

from __future__ import annotations

from tests.support.corpora import PAGE, page, paths, verdicts


def test_verdicts_are_those_of_the_page_and_expected_by_the_programs(update_golden: bool) -> None:
    found = {path: list(verdicts(path)) for path in paths()}
    if update_golden:
        PAGE.write_text(page(found), encoding="utf-8")
    assert PAGE.read_text(encoding="utf-8") == page(found), (
        f"{PAGE.name} differs; review with --update-golden"
    )
    wrong = [(path.stem, v.place, v.text) for path, loops in found.items() for v in loops if v.contradicted]
    assert not wrong, "a comment above a loop has to say why it is refused"
