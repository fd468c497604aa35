"""The words of a declaration, and what they say is kept."""

from __future__ import annotations

import pytest
from dlbrt.effects.kinds import Form, Kind, parse

SPELLINGS = {
    "+": Kind(Form.LOGGED, "+"),
    "+ each": Kind(Form.PER_ITERATION, "+"),
    "- each": Kind(Form.LOGGED, "-"),
    "* any": Kind(Form.PER_RUN, "*", any_order=True),
    "max": Kind(Form.EXTREME, "max"),
    "max reflected": Kind(Form.EXTREME, "max"),
    "and": Kind(Form.PER_RUN, "and"),
    "<= where row": Kind(Form.SELECTION, "<=", companions=("where", "row")),
    "< each": Kind(Form.SELECTION, "<", companions=("each",)),
    "[+] int": Kind(Form.ELEMENTS, "+", integer=True),
    "[+] any": Kind(Form.ELEMENTS, "+", any_order=True),
    "[min]": Kind(Form.ELEMENTS, "min"),
}


@pytest.mark.parametrize("text", SPELLINGS)
def test_a_kind_is_what_its_words_say(text: str) -> None:
    assert parse(text) == SPELLINGS[text]


@pytest.mark.parametrize("text", ["", "/", "+ often", "[<]", "[+", "each +"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected an operator and words"):
        parse(text)


def test_names_are_bound_anew_and_containers_are_not() -> None:
    assert [text for text in SPELLINGS if not parse(text).bound] == ["[+] int", "[+] any", "[min]"]
