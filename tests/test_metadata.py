"""What other tools read: the citation, the hook for pre-commit, the action of GitHub. They say what holds."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dlbrt.contract import VERSION

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REFUSED = "A = [0] * 9\n# dlb: parallel\nfor i in range(1, 9):\n    A[i] = A[i - 1]\n"


def value(file: str, key: str) -> str:
    """The value on the line of a key in one of these files, which are YAML; the last one with that key."""
    return re.findall(rf"^[ -]*{key}: (.*)$", (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)[-1]


def checked(line: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    """The line as bash runs it in the folder, with the `dlbc` of this checkout."""
    command = f'dlbc() {{ {shlex.quote(sys.executable)} -m dlbc "$@"; }}; {line}'
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=os.environ | settings,
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "prog.py").write_text(REFUSED)
    (tmp_path / "other.py").write_text("x = 1\n")
    return tmp_path


def test_the_citation_is_of_this_version() -> None:
    assert value("CITATION.cff", "version") == VERSION
    assert value("CITATION.cff", "title") == PROJECT["name"]
    assert value("CITATION.cff", "license") == PROJECT["license"]


def test_the_changelog_begins_with_this_version() -> None:
    """For users: what is new, what changed, what to do when upgrading."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+)", text, re.MULTILINE)[0] == VERSION
    assert re.findall(r"^### (\w+)", text, re.MULTILINE)[:3] == ["New", "Changed", "When"]


def test_the_classifiers_name_the_oldest_python() -> None:
    versions = re.findall(r":: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert PROJECT["requires-python"] == f">={versions[0]}"


def test_the_hook_checks_the_repository(folder: Path) -> None:
    file = ".pre-commit-hooks.yaml"
    words = re.findall(r'"(.*?)"', value(file, "args"))
    done = checked(shlex.join([*shlex.split(value(file, "entry")), *words]), folder)
    assert done.returncode == 1
    assert "src/prog.py:4:5: error[DLB301]" in done.stderr
    assert value(file, "pass_filenames") == "false"


@pytest.mark.parametrize(("paths", "status"), [(".", 1), ("other.py src", 1), ("other.py", 0)])
def test_the_action_marks_lines(folder: Path, paths: str, status: int) -> None:
    settings = {"DLBC_PATHS": paths, "DLBC_OPTIONS": "--strict"}
    done = checked(value(".github/actions/check/action.yml", "- run"), folder, **settings)
    assert done.returncode == status, done.stderr
    assert ("::error file=" in done.stdout) is bool(status)
    assert re.search(r"src/prog\.py,line=4,.*title=DLB301", done.stdout) or not status
