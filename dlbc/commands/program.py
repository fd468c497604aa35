"""A program to run, all of it: the file, and the modules of its own that have annotated loops."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from dlbrt.records import dataclass

from dlbc.commands.common import search_of, show_diagnostics
from dlbc.parse.comments import CANDIDATE
from dlbc.parse.find_modules import SearchPath, own_roots
from dlbc.parse.find_program import NoModuleError, ambiguous, compiled, imported_files, program_module
from dlbc.parse.read_source import read_source
from dlbc.pipeline import transform
from dlbc.source import Source


@dataclass(frozen=True, slots=True)
class WholeProgram:
    """A program whose annotated files are transformed without errors.

    ``module`` is the module that it runs as, empty if it is a file. ``generated`` are the texts of files that
    differ from their sources. ``roots`` are the directories of its modules, ``named`` those of packages that
    the user named. ``imports_by_name``: it may import modules whose names it computes; ``strict`` is
    how they are transformed then.
    """

    source: Source
    module: str
    generated: Sequence[tuple[Path, bytes]]
    roots: Sequence[Path]
    named: Sequence[Path]
    imports_by_name: bool
    strict: bool

    @property
    def parallel(self) -> bool:
        """Whether it has annotated loops, or may import modules that have some."""
        return bool(self.generated) or self.imports_by_name

    @property
    def path(self) -> Path:
        """The file that is run."""
        return Path(self.source.path)


def read_program(options: argparse.Namespace) -> tuple[WholeProgram | None, int]:
    """The program that the options name, None if it has errors, and the status; prints diagnostics."""
    try:
        module, path = program_module(options.module) if options.module else ("", Path(options.file))
    except NoModuleError as error:
        return None, show_diagnostics(Source(options.module, b"", ""), (error.diagnostic,))
    source, problems = read_source(_shown(path))
    if problems:
        return None, show_diagnostics(source, problems)
    named = [path for paths in options.package for path in paths]
    roots = (*own_roots(path.absolute()), *([Path.cwd()] if module else []))
    modules = list(imported_files(source, SearchPath(roots, tuple(named))))
    files = [source, *(each for each in modules if CANDIDATE.search(each.text))]
    search = SearchPath(roots, (*named, *search_of(options).packages))
    results = [
        (each, transform(each, strict=options.strict, imported=each is not source, search=search))
        for each in files
    ]
    by_name = any(word in each.data for each in (source, *modules) for word in _IMPORTING)
    parallel = by_name or any(result.parallel or result.text is None for _, result in results)
    status = 0
    for each, result in results:
        found = [d for d in result.diagnostics if d.code != _SEQUENTIAL or not parallel]
        status = max(status, show_diagnostics(each, found))
    show_diagnostics(source, ambiguous(Path(each.path) for each in modules))
    for each, problem in compiled([source, *modules]):
        status = max(status, show_diagnostics(each, (problem,)))
    generated = [(Path(each.path), r.text) for each, r in results if r.parallel and r.text is not None]
    if status:
        return None, status
    return WholeProgram(source, module, generated, roots, named, by_name, options.strict), 0


#: What is in the text of a program that imports modules, or runs files, by names that it computes.
_IMPORTING = (
    *(b"import_module", b"__import__", b"spec_from_file", b"SourceFileLoader", b"runpy", b"entry_points"),
)

#: The remark that a file has no annotation.
_SEQUENTIAL = "DLB006"


def _shown(path: Path) -> str:
    """A path as short as it can be: below the current directory it is relative."""
    absolute = path.absolute()
    below = absolute.is_relative_to(Path.cwd()) and not path.is_absolute()
    return str(path) if below or not absolute.is_relative_to(Path.cwd()) else os.path.relpath(absolute)
