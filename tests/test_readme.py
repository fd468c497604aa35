"""README: the first commands are those of the continuous integration, and it is short.

`tests/test_documents.py` runs its blocks, as those of all pages.
"""

from __future__ import annotations

from tests.support.blocks import INSTALLING, ROOT, read_blocks

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = [block.text.strip() for block in read_blocks(TEXT) if block.language == "sh"]


def test_the_first_command_installs_and_runs_a_sample_on_two_ranks() -> None:
    *steps, last = COMMANDS[0].split(" && ")
    assert steps
    assert all(step.startswith(INSTALLING) for step in steps)
    assert last == "dlbc run -n 2 samples/pairwise_digits.py"


def test_the_second_command_is_what_continuous_integration_runs() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert COMMANDS[1] == "python -m pytest"
    assert 'python -m pytest "$@"\n' in script
    assert "pip install --quiet -e '.[mpich,dev]'" in script
    assert "pip install -e '.[mpich,dev]'" in COMMANDS[0]


def test_it_can_be_read_in_some_minutes() -> None:
    assert TEXT.count("\n") <= 150
    limits = TEXT.split("\n## Limits\n")[1].split("\n## ")[0]
    assert sum(line.startswith("* ") for line in limits.splitlines()) == 5
    tools = TEXT.split("\n## Which tool\n")[1].split("\n## ")[0]
    assert sum(line.startswith("| ") for line in tools.splitlines()) <= 2 + 6
