"""`dlbc transform` of a single file names the annotated modules that it leaves as they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dlbc.cli import main

LOOP = "A = [0] * 3\n# dlb: parallel\nfor i in range(3):\n    A[i] = i\n"


@pytest.mark.parametrize(
    ("program", "words", "named"),
    [
        ("import sim\n", ["main.py"], True),
        (f"import sim\n{LOOP}", ["main.py"], True),
        ("import sim\n", ["main.py", "sim.py"], True),
        ("import sim\n", ["main.py", "sim.py", "-o", "out"], False),
        ("import sim\n", [".", "-o", "out"], False),
        ("import sim_dlb\n", ["main.py"], False),
        ("import plain\n", ["main.py"], False),
    ],
)
def test_modules_that_stay_as_they_are(
    program: str,
    words: list[str],
    named: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("main.py").write_text(program)
    Path("sim.py").write_text(LOOP)
    Path("plain.py").write_text("TEXT = '# dlb: parallel'\n")
    assert main(["transform", "sim.py"]) == 0
    if "out" in words and words[0] != ".":
        Path("out").mkdir()
    capsys.readouterr()
    assert main(["transform", *words]) == 0
    said = capsys.readouterr().err
    assert ("warning[DLB023]: the program imports sim.py as it is" in said) == named
