"""`[tool.dlbc]`: which file counts, what takes precedence over it, and what is said of a malformed one."""

from __future__ import annotations

import re
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path

import pytest

from dlbc.cli import main
from dlbc.commands.defaults import KEYS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "project.md"

#: Right but for `--strict`, which does not take the assertion on trust.
TRUSTING = """\
# dlb: parallel, assume_independent
for i in range(8):
    with open(f"{i}.txt", "w") as out:
        out.write(str(i))
"""
COUNTING = "# dlb: parallel\nfor i in range(3):\n    print(i)\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "prog.py").write_text(TRUSTING)
    return tmp_path


def table(folder: Path, text: str) -> None:
    (folder / "pyproject.toml").write_text(f"[project]\nname = 'x'\n[tool.dlbc]\n{text}\n")


def check(*words: object) -> int:
    return main(["check", *map(str, words)])


def test_keys_are_options_of_their_commands() -> None:
    for name in sorted(set[str]().union(*KEYS.values())):
        parser = ArgumentParser()
        import_module(f"dlbc.commands.{name}").add_arguments(parser)
        known = {action.dest for action in parser._actions}
        assert {key for key, commands in KEYS.items() if name in commands} <= known


def test_the_page_names_all_keys_with_their_commands() -> None:
    rows = re.findall(r"^\| (`\w+`.*?) \| .* \| (.*) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    documented: dict[str, set[str]] = {}
    commands: set[str] = set()
    for keys, words in rows:
        commands = commands if words == "the same" else set(re.findall(r"`(\w+)`", words))
        documented |= dict.fromkeys(re.findall(r"`(\w+)`", keys), commands)
    assert documented == KEYS


def test_the_nearest_file_counts(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program = project / "src" / "prog.py"
    assert check(program) == 0
    table(project, "strict = true")
    assert check(program) == check(project / "src") == 1
    assert "error[DLB424]" in capsys.readouterr().err
    (project / "src" / "pyproject.toml").write_text("[project]\nname = 'y'\n")
    assert check(program) == 0


def test_the_command_line_takes_precedence(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table(project, "strict = true\nformat = 'json'")
    assert check("--no-strict", project / "src") == 0
    assert capsys.readouterr().out.startswith("[")
    assert check("--no-strict", "--format", "full", project / "src") == 0
    assert capsys.readouterr().out == ""


def test_the_current_directory_counts_for_standard_input(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table(project, "format = 'yaml'")
    monkeypatch.chdir(project / "src")
    assert check("-") == 2
    assert "expected one of full, json, sarif, github; found 'yaml'" in capsys.readouterr().err


def test_a_link_means_the_file_that_it_leads_to(project: Path, tmp_path: Path) -> None:
    table(project, "strict = true")
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "pyproject.toml").write_text("")
    (elsewhere / "link.py").symlink_to(project / "src" / "prog.py")
    assert check(elsewhere / "link.py") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("strickt = true", "[tool.dlbc] has no key `strickt`; did you mean strict?; the keys are strict,"),
        ("strict = 1", "[tool.dlbc], `strict`: expected true or false, found 1"),
        ("follow = 'numpy'", "[tool.dlbc], `follow`: expected a list of strings, found 'numpy'"),
        ("follow = ['no_such_package']", "[tool.dlbc], `follow`: expected a package whose source"),
        ("format = ['json']", "[tool.dlbc], `format`: expected a string or a number, found ['json']"),
        ("strict = ", "expected TOML, but: "),
    ],
)
def test_a_malformed_table_is_one_error(
    project: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    table(project, text)
    assert check(project / "src") == 2
    shown = capsys.readouterr()
    assert (shown.out, shown.err.count("\n")) == ("", 1)
    assert shown.err.startswith(f"dlbc: {project / 'pyproject.toml'}: {said}")


@pytest.mark.parametrize("text", ["tool = 1 # dlbc", "[tool]\ndlbc = 1"])
def test_what_is_no_table(project: Path, text: str) -> None:
    (project / "pyproject.toml").write_text(text)
    assert check(project / "src") == (2 if "\n" in text else 0)


def test_a_broken_file_of_others_is_theirs(project: Path) -> None:
    (project / "pyproject.toml").write_text("[project\n")
    assert check(project / "src") == 0


def test_projects_that_differ_are_not_checked_at_once(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = project / "other"
    other.mkdir()
    (other / "prog.py").write_text(COUNTING)
    table(project, "strict = true")
    table(other, "strict = true")
    assert check(other, project / "src") == 1
    table(other, "strict = false")
    capsys.readouterr()
    assert check(other, project / "src") == 2
    assert "name the programs in commands of their own" in capsys.readouterr().err


def test_a_run_takes_its_options_from_the_table(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = project / "src" / "prog.py"
    program.write_text(COUNTING)
    with pytest.raises(SystemExit):
        main(["run", str(program)])
    assert "the following arguments are required: -n" in capsys.readouterr().err
    table(project, "ranks = 1\nstrategy = 'stel'")
    assert main(["run", str(program)]) == 2
    assert "did you mean steal?" in capsys.readouterr().err
    monkeypatch.setenv("DLB_STRATEGY", "none")
    assert main(["run", str(program)]) == 0
    monkeypatch.delenv("DLB_STRATEGY")
    table(project, "ranks = 0")
    assert main(["run", str(program)]) == 2
    assert "`ranks`: expected a whole number of at least 1, found '0'" in capsys.readouterr().err


def test_a_module_that_a_running_program_imports_is_judged_by_the_options_of_the_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table(project, "strict = true")
    words = [str(project / "src" / "prog.py"), "-o", "-"]
    assert main(["transform", *words]) == 1
    assert main(["transform", "--imported", *words]) == 0
