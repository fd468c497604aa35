"""`dlbc check`: the diagnostics alone."""

from __future__ import annotations

import argparse

from dlbc.commands.arguments import add_strict
from dlbc.commands.show import show_diagnostics, show_text, status_of

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("files", metavar="FILE", nargs="+", help="annotated Python programs")
    parser.add_argument(
        "--format", choices=("full", "json", "sarif", "github"), default="full",
        help="full: for people, on standard error (default); others: for programs, on standard output",
    )  # fmt: skip
    add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.formats import FORMATS
    from dlbc.parse.read_source import read_source
    from dlbc.pipeline import check

    results = []
    for file in options.files:
        source, problems = read_source(file)
        results.append((source, problems or check(source, strict=options.strict)))
    if options.format != "full":
        if text := FORMATS[options.format](results):
            show_text(text)
        return max(status_of(diagnostics) for _, diagnostics in results)
    return max(show_diagnostics(source, diagnostics) for source, diagnostics in results)
