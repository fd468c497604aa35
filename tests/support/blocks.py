"""Code blocks of pages in Markdown, and a folder in which the blocks of one page are run from top to bottom.

The first word of a fence is the language; marks follow it:

* ``title="heat.py"``: the text of this file, which later blocks use;
* ``in="samples/mxm.py"``: a part of a file that the checkout has, or that an earlier block has written;
* ``status=1``: how the commands end, if not with 0;
* ``cell``: a cell of a notebook, after the earlier ones of the page;
* ``unrun="needs a cluster"``: not run, for this reason.

A ``python`` block without marks is a program that prints the same by itself and on two ranks. The first
``text`` or ``diff`` block after commands, a program or a cell is what they print; ``...`` stands there for
any text.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.mpi import run_sequential

__all__ = ["INSTALLING", "ROOT", "Block", "Page", "PageFolder", "matches", "read_blocks"]

ROOT = Path(__file__).resolve().parents[2]

#: What installs is left out of commands: the tests have an environment of their own.
INSTALLING = ("python -m venv", ". .", "pip install")
OUTPUTS = ("text", "diff")
_FENCE = re.compile(r"^( *)```(\w+)([^\n`]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_MARK = re.compile(r' (\w+)(?:="([^"]*)"|=(\w+))?')
_CELLS = """\
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance(colors="NoColor")
for text in json.load(sys.stdin):
    shell.run_cell(text)
    print("\\f", flush=True)
"""


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; ``span`` is that of its text in the page, ``line`` that of its fence, from 1."""

    language: str
    marks: Mapping[str, str]
    text: str
    line: int
    span: tuple[int, int]


def read_blocks(page: str) -> list[Block]:
    """The blocks of a page; ValueError where a fence has something other than marks."""
    found = []
    for match in _FENCE.finditer(page):
        words = match[3].rstrip()
        marks = {mark[1]: mark[2] or mark[3] or "" for mark in _MARK.finditer(words)}
        line = page.count("\n", 0, match.start()) + 1
        if _MARK.sub("", words):
            raise ValueError(
                f"line {line}: expected marks such as status=1 after the language, found {words}"
            )
        text = re.sub(rf"^{match[1]}", "", match[4], flags=re.MULTILINE)
        found.append(Block(match[2], marks, text, line, match.span(4)))
    return found


@dataclass(slots=True)
class PageFolder:
    """Where the blocks of one page are run: the samples are there, and what earlier blocks have written.

    ``wrong`` collects what is not as the page says, ``printed`` the outputs that differ, by their blocks.
    """

    place: Path
    wrong: list[str] = field(default_factory=list)
    printed: list[tuple[Block, str]] = field(default_factory=list)
    _shown: list[str] = field(default_factory=list)
    _output: str | None = None

    def __post_init__(self) -> None:
        ignored = shutil.ignore_patterns("*_dlb.py", "*.png", "papers", "__pycache__")
        shutil.copytree(ROOT / "samples", self.place / "samples", ignore=ignored)

    def run(self, blocks: list[Block]) -> None:
        """All blocks, in order; the cells of a page are one notebook, which is run first."""
        cells = [block for block in blocks if "cell" in block.marks]
        if cells:
            self._shown = self._notebook(cells)
        for block in blocks:
            if "unrun" in block.marks:
                self._output = None
            elif block.language in OUTPUTS:
                self._compare(block)
            else:
                self._run(block)
        unused = {block.marks["title"] for block in blocks if "title" in block.marks}
        unused -= {
            name for name in unused for block in blocks if block.language == "sh" and name in block.text
        }
        self.wrong += [f"no command uses {name}" for name in sorted(unused) if name != "pyproject.toml"]

    def _run(self, block: Block) -> None:
        self._output = None
        if title := block.marks.get("title"):
            Path(self.place, title).write_text(block.text, encoding="utf-8")
        elif "in" in block.marks:
            self._look_for(block)
        elif block.language == "sh":
            self._output = self._shell(block)
        elif "cell" in block.marks:
            self._output = self._shown.pop(0)
        elif block.language == "python":
            self._output = self._program(block)
        elif block.language == "toml":
            tomllib.loads(block.text)
        else:
            self._complain(block, f"a block of {block.language} needs a mark")

    def _look_for(self, block: Block) -> None:
        name = block.marks["in"]
        file = self.place / name if (self.place / name).exists() else ROOT / name
        if block.text not in file.read_text(encoding="utf-8"):
            self._complain(block, f"{name} has no such lines")

    def _shell(self, block: Block) -> str:
        lines = [_without_installing(line) for line in block.text.splitlines()]
        script = "\n".join(["exec 2>&1", "set -e", *lines])
        return self._started(block, ["bash", "-c", script], int(block.marks.get("status", 0)))

    def _program(self, block: Block) -> str:
        name = f"block_{block.line}.py"
        Path(self.place, name).write_text(block.text, encoding="utf-8")
        alone, _ = self._streams(block, [sys.executable, name])
        ranks, remarks = self._streams(block, [sys.executable, "-m", "dlbc", "run", "-n", "2", name])
        if alone != ranks or "run by rank 0 alone" in remarks:
            self._complain(block, f"by itself the program prints\n{alone}and on 2 ranks\n{ranks}{remarks}")
        return alone

    def _notebook(self, cells: list[Block]) -> list[str]:
        """What each cell shows."""
        program = shlex.join([sys.executable, "-c", _CELLS])
        given = shlex.quote(json.dumps([block.text for block in cells]))
        shown = self._started(cells[0], ["bash", "-c", f"{program} <<< {given} 2>&1"]).split("\f\n")
        return [*shown, *[""] * len(cells)]

    def _started(self, block: Block, command: list[str], status: int = 0) -> str:
        return "".join(self._streams(block, command, status))

    def _streams(self, block: Block, command: list[str], status: int = 0) -> tuple[str, str]:
        """Standard output, and standard error."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        env = {"PATH": path, "XDG_CACHE_HOME": str(self.place / "cache"), "COLUMNS": "100", "TERM": "dumb"}
        done = run_sequential(command, timeout=240, env=env, cwd=self.place)
        output = done.stdout.decode()
        if done.status != status:
            self._complain(block, f"status {done.status} instead of {status}:\n{output}{done.stderr}")
        return output, done.stderr

    def _compare(self, block: Block) -> None:
        if self._output is None:
            self._complain(block, "nothing above it prints this: it needs a mark")
        elif not matches(block.text, self._output):
            self._complain(block, f"expected\n{block.text}but found\n{self._output}")
            self.printed.append((block, self._output))
        self._output = None

    def _complain(self, block: Block, what: str) -> None:
        self.wrong.append(f"line {block.line}: {what}")


def matches(expected: str, found: str) -> bool:
    """Whether the output is that of the page, in which ``...`` stands for any text."""
    pattern = ".*".join(re.escape(part) for part in expected.rstrip("\n").split("..."))
    return re.fullmatch(pattern, found.rstrip("\n"), re.DOTALL) is not None


def _without_installing(line: str) -> str:
    steps = [step for step in line.split(" && ") if not step.startswith(INSTALLING)]
    return " && ".join(steps)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the documentation, by its path in the checkout."""

    name: str

    @property
    def text(self) -> str:
        """Its text."""
        return (ROOT / self.name).read_text(encoding="utf-8")

    def with_outputs(self, printed: list[tuple[Block, str]]) -> str:
        """Its text with other outputs in the place of those of the blocks."""
        text = self.text
        for block, output in reversed(printed):
            text = f"{text[: block.span[0]]}{output.rstrip()}\n{text[block.span[1] :]}"
        return text

    @classmethod
    def all(cls) -> Iterator[Page]:
        """README, ARCHITECTURE, CHANGELOG and all of docs."""
        for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md"):
            yield cls(name)
        for path in sorted((ROOT / "docs").rglob("*.md")):
            yield cls(str(path.relative_to(ROOT)))
