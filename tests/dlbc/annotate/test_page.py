"""docs/annotate.md is true: its commands print what stands below them; it has all obstacles and options."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from dlbc.commands.annotate import add_arguments
from dlbc.commands.explain.obstacles import Obstacle
from tests.support.blocks import read_blocks

PAGE = Path(__file__).resolve().parents[3] / "docs" / "annotate.md"
TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = [(block.language, block.text) for block in read_blocks(TEXT)]


def blocks(language: str) -> list[str]:
    return [block for kind, block in BLOCKS if kind == language]


def output(command: str, folder: Path) -> str:
    (folder / "heat.py").write_text(blocks("python")[0], encoding="utf-8")
    words = [sys.executable, "-m", *shlex.split(command)]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_program_is_annotated_as_the_page_shows(tmp_path: Path, update_golden: bool) -> None:
    shown, patch, _ = blocks("sh")
    found = [output(shown, tmp_path), output(patch, tmp_path)]
    if update_golden:
        text = re.sub(r"^```text\n.*?^```$", lambda _: f"```text\n{found[0]}```", TEXT, flags=re.M | re.S)
        text = re.sub(r"^```diff\n.*?^```$", lambda _: f"```diff\n{found[1]}```", text, flags=re.M | re.S)
        PAGE.write_text(text, encoding="utf-8")
    else:
        assert found == [blocks("text")[0], blocks("diff")[0]], "review with --update-golden"


def test_the_profile_says_what_the_page_quotes(tmp_path: Path) -> None:
    found = output(blocks("sh")[2], tmp_path)
    quoted = re.search(r"`(\d.* of .* in 20 runs of 198 iterations)`", TEXT)
    assert quoted is not None
    wording = [part for part in re.split(r"[\d.]+(?: m?s\b|%)?", quoted[1]) if part.strip()]
    said = next(line for line in found.splitlines() if " in 20 runs of 58 iterations" in line)
    assert all(part in said for part in wording), said


def test_every_block_is_looked_at() -> None:
    assert [kind for kind, _ in BLOCKS] == ["python", "sh", "text", "sh", "diff", "sh"]


def test_the_page_has_all_obstacles_in_their_order() -> None:
    listed = re.findall(r"^\d+\. (.*)$", TEXT, re.MULTILINE)
    assert listed == [obstacle.value for obstacle in Obstacle]


def test_the_page_has_all_options() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    known = {
        option for action in parser._actions for option in action.option_strings if action.dest != "help"
    }
    named = set(re.findall(r"^\| `(--?\w+)", TEXT, re.MULTILINE))
    assert named == known - {"--ranks"}


def test_the_table_of_packages_adds_up() -> None:
    rows = [
        line.strip("|").split("|")
        for line in TEXT.split("<!-- packages -->")[1].splitlines()
        if line[:1] == "|"
    ]
    head, _, *packages, total = [[cell.strip() for cell in row] for row in rows]
    counts = [[int(cell) for cell in row[1:]] for row in packages]
    assert len(counts) >= 10
    assert all(loops == proposed + sum(rest[3:]) for loops, proposed, *rest in counts)
    assert all(proposed == sum(rest[:3]) for _, proposed, *rest in counts)
    assert [int(cell) for cell in total[1:]] == [sum(column) for column in zip(*counts, strict=True)]
    checked = ["proposed", "ran", "alone", "read"]
    assert head == ["package", "loops", *checked, *(str(n + 1) for n in range(len(Obstacle)))]


@pytest.mark.parametrize("obstacle", Obstacle, ids=lambda obstacle: obstacle.name)
def test_an_obstacle_is_a_clause_of_its_own(obstacle: Obstacle) -> None:
    assert re.fullmatch(r"[a-zP].*[^.]", obstacle.value)
