"""`dlbc report`: a recorded run as a page of HTML, from the name of the trace to the written page."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlbrt.observe.files import write_text
from dlbrt.observe.trace import TraceError, read

from dlbc.commands.common import print_error, show_text
from dlbc.commands.report.page import page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Make a self-contained HTML page of a run that was recorded by `dlbc run --trace`: each rank's time, "
        "synchronizations, work that moved, and predictions against measurements."
    )
    parser.add_argument("trace", metavar="TRACE", help="a trace written by `dlbc run --trace`")
    parser.add_argument(
        "-o", dest="output", metavar="OUT", help="the page (default: beside TRACE); - for standard output"
    )


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    try:
        show_text(report(options.trace, options.output))
    except CannotReportError as error:
        return print_error(error)
    return 0


class CannotReportError(Exception):
    """No page can be made; the message says why."""


def report(path: str, output: str | None) -> str:
    """Write the page of a trace, by default beside it; its path, or for the output ``-`` the page itself.

    CannotReportError if the file is not a trace, or the page cannot be written.
    """
    source = Path(path)
    try:
        trace = read(source)
        if not trace.loops:
            raise CannotReportError(f"{path}: expected a parallel loop; found none")
        text = page(trace, source.name)
    except TraceError as error:
        raise CannotReportError(str(error)) from error
    except (ValueError, LookupError, ArithmeticError, RuntimeError) as error:  # no run records such events
        raise CannotReportError(f"{path}: expected the trace of a run: {error}") from error
    if output == "-":
        return text.rstrip("\n")
    target = Path(output) if output else source.with_suffix(".html")
    try:
        write_text(target, text)
    except OSError as error:
        raise CannotReportError(f"{target}: cannot be written ({error.strerror or error})") from error
    return str(target)
