"""`dlbc report`: a recorded run as a page or as text, from the trace's name to what is written."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlbrt.observe.files import write_text
from dlbrt.observe.trace import TraceError, read

from dlbc.commands.common import print_error, record_file, show_text

_FORMATS = ("html", "text")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Report on a run that was recorded by `dlbc run --trace`: how well it went, the one thing to change, "
        "where the time went, a timeline, and each loop with what was measured, predicted and chosen; as one "
        "self-contained page, or as text."
    )
    parser.add_argument("trace", metavar="TRACE", help="a trace written by `dlbc run --trace`")
    parser.add_argument(
        "-o",
        dest="output",
        metavar="OUT",
        type=record_file,
        help="the file to write (default: beside TRACE, text on standard output); - for standard output",
    )
    parser.add_argument(
        "--format",
        choices=_FORMATS,
        default="html",
        help="a page (html, the default), or text",
    )


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    try:
        show_text(report(options.trace, options.output, options.format))
    except CannotReportError as error:
        return print_error(error)
    return 0


class CannotReportError(Exception):
    """No report can be made; the message says why."""


def report(path: str, output: str | None, form: str = "html") -> str:
    """Write the report of a trace; its path, or the report itself where it goes to standard output.

    CannotReportError if the file is not a trace, or the report cannot be written.
    """
    source = Path(path)
    try:
        text = _made(source, form)
    except TraceError as error:
        raise CannotReportError(str(error)) from error
    except (ValueError, LookupError, ArithmeticError, RuntimeError) as error:  # no run records such events
        raise CannotReportError(f"{path}: expected the trace of a run: {error}") from error
    if output == "-" or (output is None and form == "text"):
        return text.rstrip("\n")
    target = Path(output) if output else source.with_suffix(".html")
    try:
        write_text(target, text)
    except OSError as error:
        raise CannotReportError(f"{target}: cannot be written ({error.strerror or error})") from error
    return str(target)


def _made(source: Path, form: str) -> str:
    """The page or the text of a trace."""
    trace = read(source)
    if not any(loop.runs for loop in trace.loops):
        raise CannotReportError(f"{source}: expected a parallel loop; found none")
    from dlbc.commands.report.content import report_of

    found = report_of(trace, source.name)
    if form == "text":
        from dlbc.commands.report.text import text_of_report

        return text_of_report(found) + "\n"
    from dlbc.commands.report.page import page

    return page(found)
