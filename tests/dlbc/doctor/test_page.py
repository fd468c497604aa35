"""docs/clusters.md: its table has all checks, and its commands are read; others run them."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from dlbc.cli import _parsers
from dlbc.commands import calibrate, doctor, run, transform
from dlbc.commands.doctor.findings import CheckStatus
from tests.dlbc.doctor.test_checks import TROUBLES

PAGE = (Path(__file__).resolve().parents[3] / "docs" / "clusters.md").read_text(encoding="utf-8")
COMMANDS = {"calibrate": calibrate, "doctor": doctor, "run": run, "transform": transform}


def test_the_table_has_each_check_with_what_it_may_find() -> None:
    rows = [line.strip("|").split("|") for line in PAGE.splitlines() if line.count("|") == 4]
    troubles = {
        (check, status)
        for _, check, status, _ in TROUBLES
        if status in (CheckStatus.BROKEN, CheckStatus.WARNING)
    }
    checks = {check for check, _ in troubles}
    documented = {
        (check.strip(), status)
        for check, broken, warning in rows
        for status, words in ((CheckStatus.BROKEN, broken), (CheckStatus.WARNING, warning))
        if check.strip() in checks and words.strip()
    }
    assert documented == troubles


def test_its_commands_are_read() -> None:
    blocks = re.findall(r"^```sh[^\n]*\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("dlbc ")]
    assert len(lines) >= 6
    for line in lines:
        words = shlex.split(re.split(r" [>|]", line.replace('"$SLURM_NTASKS"', "4"))[0])[1:]
        parser, _ = _parsers(words[0], COMMANDS[words[0]])
        parser.parse_args(words)
