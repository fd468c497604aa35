"""Every code block of the README is true: commands run, programs and output are what stands there."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from dlbrt.contract import ENVIRONMENT

from tests.support.mpi import run_sequential

ROOT = Path(__file__).resolve().parent.parent
TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)

#: What the continuous integration does in an environment of its own.
INSTALLING = ("python -m venv", ". .venv/bin/activate", "pip install")


def blocks(language: str) -> list[str]:
    return [block for kind, block in BLOCKS if kind == language]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what the commands touch, with this environment's programs first on the path."""
    ignored = shutil.ignore_patterns("*_dlb.py", "*.png")
    shutil.copytree(ROOT / "samples", tmp_path / "samples", ignore=ignored)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_first_command_runs_a_sample_on_two_ranks(checkout: Path) -> None:
    steps = [step.strip() for step in blocks("sh")[0].split("&&")]
    assert [step for step in steps if step.startswith(INSTALLING)] == steps[:-1]
    done = run_sequential(shlex.split(steps[-1]), cwd=checkout)
    assert done.stdout == (checkout / "samples/expected/pairwise_digits.txt").read_bytes(), done.stderr


def test_the_second_command_is_what_continuous_integration_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert blocks("sh")[1].strip() == "python -m pytest"
    assert 'python -m pytest "$@"\n' in script
    assert "pip install --quiet -e '.[mpich,dev]'" in script
    assert "pip install -e '.[mpich,dev]'" in blocks("sh")[0]


def test_before_and_after_are_the_sample_and_what_is_emitted_for_it(checkout: Path) -> None:
    before, after, _ = blocks("python")
    assert before in (checkout / "samples/mxm.py").read_text(encoding="utf-8")
    for step in blocks("sh")[2].split("&&"):
        done = run_sequential(shlex.split(step), cwd=checkout)
        assert done.status == 0, done.stderr
    assert done.stdout == (checkout / "samples/expected/mxm.txt").read_bytes()
    assert after in (checkout / "samples/mxm_dlb.py").read_text(encoding="utf-8")


def test_the_refusal_is_what_check_says(checkout: Path) -> None:
    (checkout / "running.py").write_text(blocks("python")[2], encoding="utf-8")
    command = [sys.executable, "-m", "dlbc", "check", "running.py"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 1
    assert done.stderr == blocks("text")[0]


def test_every_block_is_looked_at() -> None:
    assert [kind for kind, _ in BLOCKS].count("sh") == 3
    assert [kind for kind, _ in BLOCKS].count("python") == 3
    assert [kind for kind, _ in BLOCKS].count("text") == 1
    assert len(BLOCKS) == 7


def test_the_options_named_are_those_of_the_contract() -> None:
    named = re.findall(r"^\| `--(\w+) \w+` \| `(\w+)` \|", TEXT, re.MULTILINE)
    assert named
    assert all(ENVIRONMENT[option] == variable for option, variable in named)
