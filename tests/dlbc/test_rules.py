"""The codes: listed, shown one by one, documented; the page and the examples are what the generator gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dlbc.cli import main
from dlbc.commands import rules
from dlbc.commands.rules import check_example, show_rule
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import has_errors
from dlbc.diagnostics.remark_codes import REMARKS
from dlbc.diagnostics.titles import TITLES
from tests.support.document import COMMANDS, EXAMPLES_FILE, MENDED, PAGE, case_of, examples, page


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
    assert [line[:6] for line in lines] == sorted(CATALOGUE | REMARKS)
    assert "\x1b" not in "".join(lines)
    words = {code: (entry.severity.value, TITLES[code]) for code, entry in CATALOGUE.items()}
    words |= {code: (entry.kind.value, entry.title) for code, entry in REMARKS.items()}
    assert [(line.split()[1], line.split(maxsplit=2)[2]) for line in lines] == [
        words[c] for c in sorted(words)
    ]


def test_one_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "DLB301"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("DLB301: error\n  iterations {index}={first} and")
    assert "\n  help: " in shown
    assert "\n  example:\n      " in shown
    assert "# dlb: parallel" in shown
    assert "\n  dlbc says:\n      program.py:9:5: error[DLB301]: iterations i=1 and i=2 both" in shown
    assert "\n  mended, and checked:\n      " in shown


@pytest.mark.parametrize("code", sorted(CATALOGUE))
def test_every_rule_is_shown_with_what_dlbc_says_of_its_example(code: str) -> None:
    shown = show_rule(code)
    assert shown is not None
    assert CATALOGUE[code].message in shown
    example = rules.examples().get(code)
    if example is not None and example.program:
        found = [d for d in check_example(example.program, example.strict)[1] if d.code == code]
        assert found
        assert shown.count(f"{found[0].severity.value}[{code}]: ") == len(found)


@pytest.mark.parametrize("code", sorted(REMARKS))
def test_every_remark_is_shown_with_what_dlbc_says_of_its_example(code: str) -> None:
    shown = show_rule(code)
    assert shown is not None
    assert shown.startswith(
        f"{code}: {REMARKS[code].kind.value} ({REMARKS[code].part})\n  {REMARKS[code].title}"
    )
    assert f"{REMARKS[code].kind.value}[{code}]: " in shown or "--stats run.json" in shown


MENDED_CODES = sorted(path.stem for path in MENDED.glob("*.py"))


@pytest.mark.parametrize("code", MENDED_CODES)
def test_mended_programs_have_no_error_and_not_the_code(code: str) -> None:
    example = rules.examples()[code]
    _, found = check_example(example.mended, example.strict)
    assert not has_errors(found)
    assert code not in {d.code for d in found}
    assert example.mended in (MENDED / f"{code}.py").read_text(encoding="utf-8")


def test_most_codes_of_loops_are_mended() -> None:
    """What is left out depends on a program that is not shown, or has nothing to mend."""
    unmended = {c for c in CATALOGUE if c[3] in "12345" and case_of(c) is not None} - {*MENDED_CODES}
    assert unmended == {"DLB103", "DLB111", "DLB309", "DLB408", "DLB412", "DLB423", "DLB504"}


def test_an_example_sees_no_module_of_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = show_rule("DLB423")
    (tmp_path / "library.py").write_text("def measure(i):\n    return i\n")
    monkeypatch.chdir(tmp_path)
    assert show_rule("DLB423") == before


def test_an_unknown_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "dlb301x"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "there is no code dlb301x; did you mean DLB301?" in shown.err


def test_a_code_that_resembles_none_has_no_hint(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "DLB999"]) == 2
    assert capsys.readouterr().err == "dlbc rules: there is no code DLB999\n"
