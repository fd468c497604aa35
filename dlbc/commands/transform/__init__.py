"""`dlbc transform`: write the parallel program, or a tree of modules with the parallel ones in it."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from dlbrt.contract import MARK

from dlbc.commands.common import (
    add_follow,
    add_strict,
    print_error,
    search_of,
    show_diagnostics,
    standard_output,
)
from dlbc.commands.transform.write import seen_from, write_output
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.emit.seal import is_generated
from dlbc.parse.find_modules import SearchPath
from dlbc.parse.find_program import imported_files
from dlbc.parse.read_source import WHOLE_FILE, read_source
from dlbc.pipeline import TransformResult, transform
from dlbc.source import Source

_ANNOTATED = re.compile(rf"^[ \t]*{MARK}|^[ \t]*for\b.*{MARK}", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument(
        "files", metavar="FILE|DIR", nargs="+",
        help="annotated Python programs, each written by itself; or a directory, written as a whole",
    )  # fmt: skip
    parser.add_argument(
        "-o", dest="output", metavar="OUT",
        help="the file to write, - for standard output; for several files, or a directory, the directory",
    )  # fmt: skip
    parser.add_argument("--force", action="store_true", help="overwrite a file that dlbc did not write")
    # Hidden: for modules that a program under `dlbc run` imports by names that it computes.
    parser.add_argument("--imported", action="store_true", help=argparse.SUPPRESS)
    add_strict(parser)
    add_follow(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    folders = [word for word in options.files if os.path.isdir(word)]
    if folders:
        return _tree(options, folders)
    if len(options.files) == 1:
        return _file(Path(options.files[0]), options.output, options)
    if options.output == "-":
        return print_error("expected one file with `-o -`: several programs cannot share standard output")
    if options.output is not None and not os.path.isdir(options.output):
        return print_error(f"expected -o to name a directory for several files, found {options.output}")
    outputs = [None if options.output is None else str(_in_folder(options, word)) for word in options.files]
    return max(
        _file(Path(word), output, options) for word, output in zip(options.files, outputs, strict=True)
    )


def _in_folder(options: argparse.Namespace, word: str) -> Path:
    """Where the program of one of several files goes, in the directory that was named."""
    output = Path(options.output, Path(word).name)
    beside = output.exists() and os.path.samefile(output, word)
    return output.with_name(f"{output.stem}_dlb.py") if beside else output


def _tree(options: argparse.Namespace, folders: Sequence[str]) -> int:
    from dlbc.commands.transform.tree import write_tree

    if len(options.files) > 1:
        return print_error(f"expected one directory alone, found {' '.join(options.files)}")
    if options.output in (None, "-"):
        return print_error(f"expected -o OUT, the directory in which {folders[0]} is to be written")
    packages = search_of(options).packages
    return write_tree(
        Path(folders[0]), Path(options.output), packages, force=options.force, strict=options.strict
    )


def _file(path: Path, output: str | None, options: argparse.Namespace) -> int:
    target = Path(output) if output else path.parent / f"{path.stem}_dlb.py"
    source, problems = read_source(str(path))
    result = TransformResult(None, problems)
    if not problems:
        origin = "" if output == "-" else seen_from(target, path)
        result = transform(
            source,
            strict=options.strict,
            imported=options.imported,
            origin=origin,
            search=search_of(options),
        )
    status = show_diagnostics(source, result.diagnostics)
    if result.text is None:
        return status
    show_diagnostics(source, _left_sequential(source, options))
    if output == "-":
        stream = standard_output()
        stream.buffer.write(result.text)
        stream.buffer.flush()
        return 0
    refusal = write_output(target, path, result.text, options.force)
    return show_diagnostics(source, (refusal,)) if refusal else 0


def _left_sequential(source: Source, options: argparse.Namespace) -> Iterator[Diagnostic]:
    """A warning for each module with annotated loops that the generated program imports as it is."""
    named = {os.path.realpath(word) for word in options.files} if options.output else set[str]()
    for each in () if options.imported else imported_files(source, SearchPath()):
        written = os.path.realpath(each.path) in named or is_generated(each.data)
        if _ANNOTATED.search(each.text) and not written:
            yield report("DLB023", WHOLE_FILE, module=os.path.relpath(each.path))
