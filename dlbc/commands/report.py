"""`dlbc report`: a page of pictures of a recorded run."""

from __future__ import annotations

import argparse

from dlbc.commands.show import print_error, show_text

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Make a page (HTML, with all that it needs) of a run that was recorded by `dlbc run --trace`: each "
        "rank's time, synchronizations, work that moved, predicted against measured."
    )
    parser.add_argument("trace", metavar="TRACE", help="what `dlbc run --trace` wrote")
    parser.add_argument(
        "-o", dest="output", metavar="OUT", help="the page (default: beside TRACE); - for standard output"
    )


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.report.command import CannotReportError, report

    try:
        show_text(report(options.trace, options.output))
    except CannotReportError as error:
        return print_error(error)
    return 0
