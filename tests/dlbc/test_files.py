"""Which programs the words of a command mean, and what is said of those that nobody has named."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

from dlbc.cli import main
from dlbc.commands.files import means_one, programs

PROGRAM = "A = [0] * 3\n# dlb: parallel\nfor i in range(3):\n    A[i] = i\nprint(A)\n"
BROKEN = "# dlb: parallel\nfor i in (\n"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory to work in, with a program and what is not looked at."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "b.py", PROGRAM)
    write(tmp_path, "pkg/a.py", PROGRAM)
    write(tmp_path, "pkg/plain.py", "print(1)\n")
    write(tmp_path, "pkg/notes.txt", PROGRAM)
    for skipped in (".hidden", "__pycache__", "node_modules", "build", "pkg/env/lib"):
        write(tmp_path, f"{skipped}/a.py", BROKEN)
    write(tmp_path, "pkg/env/pyvenv.cfg", "")
    return tmp_path


def write(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def paths(*words: str) -> list[str]:
    return [program.path for program in programs(words)]


def test_a_directory_means_the_sorted_programs_below_it(tree: Path) -> None:
    assert paths(".") == ["b.py", os.path.join("pkg", "a.py")]
    assert paths(str(tree)) == [str(tree / "b.py"), str(tree / "pkg" / "a.py")]


def test_a_folder_that_is_skipped_counts_if_it_is_named(tree: Path) -> None:
    assert paths("build") == [os.path.join("build", "a.py")]


def test_what_dlbc_generated_is_left_out_unless_it_is_named(
    tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transform", "b.py"]) == 0
    assert (tree / "b_dlb.py").exists()
    assert paths(".") == ["b.py", os.path.join("pkg", "a.py")]
    assert main(["check", "b_dlb.py"]) == 1
    assert "DLB007" in capsys.readouterr().err


def test_a_file_is_meant_once_and_counts_as_named(tree: Path) -> None:
    found = programs([".", "pkg/plain.py", "b.py", str(tree / "b.py")])
    assert [(p.path, p.folder) for p in found] == [
        (str(tree / "b.py"), ""),
        (os.path.join("pkg", "a.py"), "."),
        ("pkg/plain.py", ""),
    ]


@pytest.mark.parametrize(("words", "one"), [(["b.py"], True), (["no.py"], True), (["-"], True),
                                            (["."], False), (["b.py", "b.py"], False)])  # fmt: skip
def test_one_file(tree: Path, words: list[str], one: bool) -> None:
    assert means_one(words) is one


@pytest.mark.parametrize("command", ["check", "explain"])
def test_only_named_files_are_remarked_upon(
    command: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, "."]) == 0
    assert "DLB" not in "".join(capsys.readouterr())
    assert main([command, ".", "pkg/plain.py"]) == 0
    assert "".join(capsys.readouterr()).count("DLB006") == 1


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize(
    ("data", "said", "status", "if_named"),
    [
        (BROKEN.encode(), "DLB004", 1, 1),
        (b"# dlb: parallel\nx = '\xff'\n", "DLB002", 2, 2),
        (b"# dlb\nx = (\n", "", 0, 1),
        (b"# about dlb: \xff\n", "", 0, 2),
        (b"#dlb: parallel\nfor i in range(3):\n    pass\n", "DLB106", 0, 0),
    ],
)
def test_what_nobody_has_named_is_reported_only_if_it_has_annotations(
    command: str,
    data: bytes,
    said: str,
    status: int,
    if_named: int,
    tree: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    write(tree, "only/x.py", data)
    assert main([command, "only"]) == status
    shown = "".join(capsys.readouterr())
    assert shown.count("DLB") == bool(said)
    assert said in shown
    assert main([command, "only/x.py"]) == if_named


@pytest.mark.parametrize("command", ["check", "explain"])
@pytest.mark.parametrize("suffix", [".pyx", ".pyi"])
def test_what_python_does_not_run_is_refused_if_it_is_annotated(
    command: str, suffix: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tree, f"only/x{suffix}", "# dlb: parallel\nfor i in range(3):\n    pass\n")
    write(tree, f"only/y{suffix}", "x = 1\n")
    assert main([command, "only"]) == 2
    assert "".join(capsys.readouterr()).count("DLB021") == 1
    assert main([command, f"only/y{suffix}"]) == 2
    assert main(["transform", f"only/x{suffix}"]) == 2


@pytest.mark.parametrize("command", ["check", "explain"])
def test_a_directory_without_annotations_is_said_to_have_none(
    command: str, tree: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tree, "none/x.py", "print('# dlb: parallel')\n")
    assert main([command, "none", "pkg"]) == 0
    said = capsys.readouterr().err.splitlines()
    assert said[0] == "dlbc: none: found no `# dlb:` annotation in any program here or below"
    assert not any("pkg" in line for line in said)


@pytest.mark.parametrize("command", ["check", "explain"])
def test_standard_input(
    command: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = io.BytesIO(b"# dlb: parallel\nfor i in x:\n    break\n")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(data))
    assert main([command, "-"]) == 1
    assert "<stdin>:" in "".join(capsys.readouterr())


def test_every_file_that_is_missing_is_named(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "no.py", "b.py", "nor.py"]) == 2
    said = capsys.readouterr().err
    assert [name for name in ("no.py", "nor.py", "b.py") if f"{name}: error[DLB001]" in said] == [
        "no.py",
        "nor.py",
    ]


@pytest.mark.parametrize("form", ["json", "sarif", "github"])
def test_formats_for_tools_cover_all_files(form: str, tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tree, "b.py", "# dlb: parallel, BLOK\nfor i in x:\n    pass\n")
    write(tree, "pkg/a.py", "# dlb: parallel, BLOK\nfor i in x:\n    pass\n")
    assert main(["check", "--format", form, "."]) == 1
    shown = capsys.readouterr().out
    assert shown.count("b.py") == shown.count("a.py") == 1


def test_explanations_of_several_files_have_headings(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tree, "b.py", "# dlb: parallel\nfor i in x:\n    break\n" + PROGRAM)
    assert main(["explain", "."]) == 1
    headings = [line for line in capsys.readouterr().out.splitlines() if line.startswith("==")]
    assert headings == [
        "== b.py, 2 loops: 1 parallel, 1 refused",
        f"== {os.path.join('pkg', 'a.py')}, 1 loop: parallel",
    ]


def test_explanations_of_several_files_are_an_array(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "--format", "json", "b.py"]) == 0
    one = json.loads(capsys.readouterr().out)
    assert main(["explain", "--format", "json", "b.py", "pkg"]) == 0
    several = json.loads(capsys.readouterr().out)
    assert several[0] == one
    assert [each["file"] for each in several] == ["b.py", os.path.join("pkg", "a.py")]
