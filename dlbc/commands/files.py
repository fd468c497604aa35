"""Which programs the words of a command line mean: files, directories, and ``-`` for standard input.

A directory means the programs below it that dlbc may have something to say about. The user has not named them
one by one, so nothing is said of those that have no annotation, and those that dlbc generated are left out.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dlbrt.contract import MARK

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.emit.seal import is_generated
from dlbc.parse.comments import CANDIDATE
from dlbc.parse.read_notebook import read_notebook
from dlbc.parse.read_source import NO_PROGRAMS, NOTEBOOK, decode_source, read_source
from dlbc.source import Source

#: The word for standard input, and what diagnostics call it.
STANDARD_INPUT = "-"
_SHOWN_INPUT = "<stdin>"
_CANDIDATE = re.compile(CANDIDATE.pattern.encode(), CANDIDATE.flags & re.IGNORECASE)
_SKIPPED = frozenset({"__pycache__", "node_modules", "build"})
_ENVIRONMENT = "pyvenv.cfg"
#: The file has no annotation; a comment resembles one.
_UNANNOTATED = "DLB006"
_NEAR_MISS = "DLB106"


def add_files(parser: argparse.ArgumentParser) -> None:
    """The words of `programs`, as ``files``."""
    parser.add_argument(
        "files", metavar="FILE|DIR", nargs="+",
        help="annotated Python programs, directories with such programs, or - for standard input",
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """A file that a command is to look at; ``folder`` is the directory that was named, if not the file."""

    path: str
    folder: str = ""

    def read(self, *, notebooks: bool = False) -> tuple[Source, tuple[Diagnostic, ...]]:
        """Its text; the diagnostics are empty where it is readable, as a notebook if these will do."""
        if notebooks and self.path.endswith(NOTEBOOK):
            return read_notebook(self.path)
        if self.path != STANDARD_INPUT:
            return read_source(self.path)
        return decode_source(_SHOWN_INPUT, b"" if sys.stdin is None else sys.stdin.buffer.read())

    def worth_saying(self, source: Source, found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
        """The diagnostics to show: all of a named file; of another only those that concern annotations.

        A file in a directory may be broken on purpose or belong to another tool.
        """
        if not self.folder:
            return tuple(found)
        if MARK.encode() not in source.data:
            return tuple(d for d in found if d.code == _NEAR_MISS)
        return tuple(d for d in found if d.code != _UNANNOTATED)

    def is_annotated(self, source: Source, found: Iterable[Diagnostic]) -> bool:
        """Whether a program with these diagnostics has annotations, right or wrong ones."""
        return MARK.encode() in source.data and all(d.code != _UNANNOTATED for d in found)


def programs(
    words: Iterable[str], *, notebooks: bool = False, unannotated: bool = False
) -> tuple[ProgramFile, ...]:
    """The programs that the words mean, in their order, each once; those below a directory are sorted.

    A word that is no directory is a program, whether it exists or not: reading it says what is wrong.
    ``notebooks``: those below a directory are meant too, and what only looks like a program. ``unannotated``:
    programs without annotations are meant too.
    """
    suffixes = {".py", NOTEBOOK, *NO_PROGRAMS} if notebooks else {".py"}
    found: dict[str, ProgramFile] = {}
    for word in words:
        below = word != STANDARD_INPUT and os.path.isdir(word) and os.access(word, os.R_OK | os.X_OK)
        for program in _below(word, suffixes, unannotated) if below else (ProgramFile(word),):
            key = program.path if program.path == STANDARD_INPUT else os.path.realpath(program.path)
            if key not in found or not program.folder:
                found[key] = program
    return tuple(found.values())


def means_one(words: Iterable[str]) -> bool:
    """Whether the words are the name of a single file."""
    words = tuple(words)
    return len(words) == 1 and not os.path.isdir(words[0])


def show_unannotated(words: Iterable[str], annotated: Iterable[ProgramFile]) -> None:
    """Print a line on standard error for each directory in which no program has an annotation."""
    folders = {program.folder for program in annotated}
    for word in dict.fromkeys(words):
        if word not in folders and word != STANDARD_INPUT and os.path.isdir(word):
            print(f"dlbc: {word}: found no `{MARK}` annotation in any program here or below", file=sys.stderr)


def _below(folder: str, suffixes: set[str], unannotated: bool) -> Iterator[ProgramFile]:
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if is_searched(Path(place, name)))
        for path in (Path(place, name) for name in sorted(files)):
            if path.suffix in suffixes and (unannotated or may_be_annotated(path)):
                yield ProgramFile(str(path), folder)


def is_searched(folder: Path) -> bool:
    """Whether a folder may hold programs of the user's."""
    hidden = folder.name.startswith(".")
    return not (hidden or folder.name in _SKIPPED or (folder / _ENVIRONMENT).is_file())


def may_be_annotated(path: Path) -> bool:
    """Whether a file is no output of dlbc, and has what may be an annotation."""
    try:
        data = path.read_bytes() if path.is_file() else b""
    except OSError:
        return False
    return _CANDIDATE.search(data) is not None and not is_generated(data)
