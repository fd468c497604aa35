"""The codes: listed, shown one by one, documented; the page and the examples are what the generator gives."""

from __future__ import annotations

import re

import pytest

from dlbc.cli import main
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.titles import TITLES
from tests.support.document import COMMANDS, EXAMPLES_FILE, PAGE, case_of, examples, page


def test_the_page_is_what_the_generator_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m tests.support.document"


def test_the_examples_are_those_of_the_cases() -> None:
    assert EXAMPLES_FILE.read_text(encoding="utf-8") == examples(), "run python -m tests.support.document"


def test_every_code_has_a_section() -> None:
    titles = re.findall(r"^### (DLB\d{3})$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert titles == sorted(CATALOGUE)


def test_every_code_has_an_example_or_a_command() -> None:
    assert [code for code in sorted(CATALOGUE) if case_of(code) is None and code not in COMMANDS] == []
    assert not COMMANDS.keys() - CATALOGUE.keys()


def test_every_code_has_a_sentence_that_names_nothing_of_a_program() -> None:
    assert TITLES.keys() == CATALOGUE.keys()
    assert [text for text in TITLES.values() if not re.fullmatch(r"[A-Z][^{}.]*\.", text)] == []
    assert len(set(TITLES.values())) == len(TITLES)


def test_list_of_rules(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line[:6] for line in lines] == sorted(CATALOGUE)
    assert "\x1b" not in "".join(lines)
    assert all(line.endswith(f"  {TITLES[line[:6]]}") for line in lines)
    assert all(CATALOGUE[line[:6]].severity.value == line.split()[1] for line in lines)


def test_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "DLB301"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("DLB301: error\n  iterations {index}={first} and")
    assert "\n  help: " in shown
    assert "\n  example:\n      " in shown
    assert "# dlb: parallel" in shown


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_rule_can_be_shown(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", code]) == 0
    assert CATALOGUE[code].message in capsys.readouterr().out


def test_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "dlb301x"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "there is no code dlb301x; did you mean DLB301?" in shown.err


def test_a_code_that_resembles_none_has_no_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "DLB999"]) == 2
    assert capsys.readouterr().err == "dlbc rules: there is no code DLB999\n"
