"""`dlbc check`: the diagnostics alone, for people or as JSON, SARIF 2.1.0 or GitHub workflow commands."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, astuple, replace
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from dlbc import __version__
from dlbc.commands.common import add_follow, add_strict, search_of, show_diagnostics, show_text, status_of
from dlbc.commands.files import ProgramFile, add_files, programs, show_unannotated
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import Diagnostic, Severity
from dlbc.diagnostics.titles import TITLES
from dlbc.source import Source, SourcePlace


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_files(parser)
    parser.add_argument(
        "--format", choices=("full", "json", "sarif", "github"), default="full",
        help="full: for people, on standard error (default); the others: for tools, on standard output",
    )  # fmt: skip
    add_strict(parser)
    add_follow(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.verdicts import rounding_of, summarize
    from dlbc.pipeline import TransformResult, prove

    checked: list[tuple[Source, Sequence[Diagnostic]]] = []
    annotated: dict[ProgramFile, TransformResult] = {}
    strict, search = options.strict, search_of(options)
    for program in programs(options.files, notebooks=True):
        source, problems = program.read(notebooks=True)
        result = TransformResult(None, problems) if problems else prove(source, strict=strict, search=search)
        if program.is_annotated(source, result.diagnostics):
            annotated[program] = result
        checked.append((source, program.worth_saying(source, result.diagnostics)))
    if options.format == "full":
        for source, diagnostics in checked:
            show_diagnostics(source, diagnostics)
    elif text := FORMATS[options.format](checked):
        show_text(text)
    show_unannotated(options.files, annotated)
    if options.format == "full" and annotated:
        print(summarize(annotated.values()), *rounding_of(annotated.values()), sep="\n", file=sys.stderr)
    return max((status_of(diagnostics) for _, diagnostics in checked), default=0)


Results = Sequence[tuple[Source, Sequence[Diagnostic]]]

_SARIF_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.REMARK: "note"}
_GITHUB_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.REMARK: "notice"}
_SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def _all(results: Results) -> Iterator[tuple[Source, Diagnostic]]:
    for source, diagnostics in results:
        for diagnostic in diagnostics:
            yield source, diagnostic


def _json(results: Results) -> str:
    """An array of objects; a diagnostic on the whole file has line 0, one in a notebook its cell."""
    return json.dumps([_json_object(source, d) for source, d in _all(results)], indent=2)


def _json_object(source: Source, diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "file": source.path,
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        **_json_place(source, diagnostic.place),
        "message": source.by_cells(diagnostic.message),
        "label": diagnostic.label,
        "help": source.by_cells(diagnostic.help),
        "notes": [
            {"file": file.path, **_json_place(file, note.place), "message": note.label}
            for note in diagnostic.notes
            for file in [note.source or source]
        ],
    }


def _json_place(source: Source, place: SourcePlace) -> dict[str, int]:
    (cell, line), (_, end_line) = source.in_cell(place.line), source.in_cell(place.end_line)
    return ({"cell": cell} if cell else {}) | asdict(replace(place, line=line, end_line=end_line))


def _sarif(results: Results) -> str:
    used = sorted({diagnostic.code for _, diagnostic in _all(results)})
    driver = {"name": "dlbc", "version": __version__, "rules": [_sarif_rule(code) for code in used]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(source, d, used.index(d.code)) for source, d in _all(results)],
    }
    return json.dumps({"$schema": _SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    entry = CATALOGUE[code]
    title = TITLES[code]
    return {
        "id": code,
        "shortDescription": {"text": title},
        "fullDescription": {"text": title},
        "help": {"text": f"{title} `dlbc rules {code}` shows what to try, and a program that has it."},
        "defaultConfiguration": {"level": _SARIF_LEVEL[entry.severity]},
    }


def _sarif_result(source: Source, diagnostic: Diagnostic, rule: int) -> dict[str, Any]:
    stop = "" if diagnostic.message.endswith("?") else "."
    text = source.by_cells(
        diagnostic.message + (f"{stop} Help: {diagnostic.help}" if diagnostic.help else "")
    )
    result: dict[str, Any] = {
        "ruleId": diagnostic.code,
        "ruleIndex": rule,
        "level": _SARIF_LEVEL[diagnostic.severity],
        "message": {"text": text},
        "locations": [_sarif_location(source, diagnostic.place, diagnostic.label)],
    }
    if diagnostic.notes:
        result["relatedLocations"] = [
            _sarif_location(note.source or source, note.place, note.label) for note in diagnostic.notes
        ]
    return result


def _sarif_location(source: Source, place: SourcePlace, label: str) -> dict[str, Any]:
    uri = quote(PurePath(source.path).as_posix(), errors="surrogateescape")
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if source.cells:  # lines of the file would be those of its JSON, which nobody reads
        label = ": ".join(filter(None, (source.line_name(place.line) if place.line else "", label)))
    elif place.line:
        keys = ("startLine", "startColumn", "endLine", "endColumn")
        physical["region"] = dict(zip(keys, astuple(place), strict=True))
    return {"physicalLocation": physical, **({"message": {"text": label}} if label else {})}


def _github(results: Results) -> str:
    return "\n".join(_github_line(source, d) for source, d in _all(results))


def _github_line(source: Source, diagnostic: Diagnostic) -> str:
    place = diagnostic.place
    where = [f"file={_property(source.path)}"]
    lines = [source.by_cells(diagnostic.message)]
    if source.cells:
        lines = [f"{source.position(place)}: {lines[0]}"]
    elif place.line:
        where += [f"line={place.line}", f"col={place.column}", f"endLine={place.end_line}"]
    lines += [source.by_cells(f"line {place.line}: {diagnostic.label}")] if diagnostic.label else []
    for note in diagnostic.notes:
        line = f"line {note.place.line}: {note.label}"
        line = source.by_cells(line) if note.source is None else f"{note.source.path}, {line}"
        lines += [line] if note.label else []
    lines += [source.by_cells(f"help: {diagnostic.help}")] if diagnostic.help else []
    text = _data("\n".join(lines))
    fields = ",".join([*where, f"title={diagnostic.code}"])
    return f"::{_GITHUB_LEVEL[diagnostic.severity]} {fields}::{text}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


FORMATS: dict[str, Callable[[Results], str]] = {"json": _json, "sarif": _sarif, "github": _github}
