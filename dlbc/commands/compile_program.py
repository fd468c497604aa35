"""Compile a program to run, all of it: the file, and the modules of its own that have annotated loops."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from dlbc.commands import kept_programs
from dlbc.commands.common import status_of
from dlbc.commands.kept_programs import Compilation, Request, WholeProgram
from dlbc.diagnostics.diagnostic import Diagnostic, render
from dlbc.parse.comments import CANDIDATE
from dlbc.parse.find_modules import SearchPath, own_roots
from dlbc.parse.find_program import ambiguous, compiled, imported_files
from dlbc.parse.lookups import recording
from dlbc.parse.read_source import read_source
from dlbc.pipeline import transform
from dlbc.source import Source

#: What is in the text of a program that imports modules, or runs files, by names that it computes.
_IMPORTING = (
    *(b"import_module", b"__import__", b"spec_from_file", b"SourceFileLoader", b"runpy", b"entry_points"),
)

#: The remark that a file has no annotation.
_SEQUENTIAL = "DLB006"


def compile_program(request: Request) -> Compilation:
    """Compile the program, and keep it for the next run."""
    with recording() as asked:
        found = _compiled(request)
    kept_programs.keep(request, found, asked, os.environ)
    return found


class _Findings:
    """Diagnostics as they are shown, and the exit status that they mean."""

    def __init__(self) -> None:
        self.texts: list[tuple[str, str]] = []
        self.status = 0

    def add(self, source: Source, diagnostics: Iterable[Diagnostic]) -> None:
        """Those of one file."""
        found = tuple(diagnostics)
        self.texts += ((render(d, source), render(d, source, color=True)) for d in found)
        self.status = max(self.status, status_of(found))


def _compiled(request: Request) -> Compilation:
    findings = _Findings()
    source, problems = read_source(str(request.path))
    if problems:
        findings.add(source, problems)
        return Compilation(None, findings.status, tuple(findings.texts))
    roots = (*own_roots(request.path.absolute()), *([Path.cwd()] if request.module else []))
    modules = list(imported_files(source, SearchPath(roots, request.named)))
    files = [source, *(each for each in modules if CANDIDATE.search(each.text))]
    search = SearchPath(roots, (*request.named, *request.followed))
    results = [
        (each, transform(each, strict=request.strict, imported=each is not source, search=search))
        for each in files
    ]
    by_name = any(word in each.data for each in (source, *modules) for word in _IMPORTING)
    parallel = by_name or any(result.parallel or result.text is None for _, result in results)
    for each, result in results:
        findings.add(each, (d for d in result.diagnostics if d.code != _SEQUENTIAL or not parallel))
    findings.add(source, ambiguous(Path(each.path) for each in modules))
    for each, problem in compiled([source, *modules]):
        findings.add(each, (problem,))
    generated = tuple((Path(each.path), r.text) for each, r in results if r.parallel and r.text is not None)
    program = WholeProgram(
        request.path, request.module, generated, roots, request.named, by_name, request.strict
    )
    return Compilation(None if findings.status else program, findings.status, tuple(findings.texts))
