"""Completion: all that can be written is in each script, and bash completes by it. Examples of the help."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from dlbc.cli import _COMMANDS, main
from dlbc.commands.completion import SHELLS, tables
from dlbc.commands.examples import EXAMPLES


def script(shell: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["completion", shell]) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("shell", SHELLS)
def test_all_that_can_be_written_is_in_the_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = script(shell, capsys)
    for table in tables(_COMMANDS):
        assert table.name in text
        for option in table.options:
            words = [word.lstrip("-") for word in option.words] if shell == "fish" else option.words
            assert [word for word in (*words, *option.choices) if word not in text] == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["c"], ["check", "calibrate", "completion"]),
        (["-V"], ["-V"]),
        (["check", "--fo"], ["--format", "--follow"]),
        (["check", "--format", ""], ["full", "json", "sarif", "github"]),
        (["completion", "f"], ["fish"]),
        (["run", "-n", "4", "--hist"], ["--history"]),
        (["run", "--history", "l"], ["latest"]),
        (["check", "prog"], []),
        (["unknown", "--fo"], []),
    ],
    ids=" ".join,
)
def test_bash(
    words: list[str], expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "dlbc.bash"
    file.write_text(script("bash", capsys))
    line = shlex.join(["dlbc", *words])
    asked = f'COMP_WORDS=({line}); COMP_CWORD={len(words)}; _dlbc; printf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        ["bash", "-c", f"source {shlex.quote(str(file))}; {asked}"],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert sorted(done.stdout.split()) == sorted(expected)


def test_every_command_has_examples_which_its_options_allow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert EXAMPLES.keys() == _COMMANDS.keys()
    for name, examples in EXAMPLES.items():
        monkeypatch.setattr(f"dlbc.commands.{name}.run", lambda options: 0)
        with pytest.raises(SystemExit):
            main([name, "--help"])
        shown = capsys.readouterr().out
        for line, what in examples:
            assert f"  {line}\n      {what}\n" in shown
            program, *words = shlex.split(line.split(" > ")[0])
            assert (program, words[0]) == ("dlbc", name)
            assert main(words) == 0


def test_the_help_says_the_exit_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "\nexit status:\n  0  done\n  1  the program has errors" in capsys.readouterr().out
