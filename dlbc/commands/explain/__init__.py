"""`dlbc explain`: what was decided for every annotated loop, and on what that rests.

`describe` turns a loop's report into sections of short rows, `show` prints them for people, and as JSON for
tools. Nothing is decided here, and no user code runs.
"""

from __future__ import annotations

import argparse
import sys

from dlbrt.contract import OptionError

from dlbc.commands import common


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument(
        "--format", choices=("full", "json"), default="full", help="full: for people (default)"
    )
    parser.add_argument(
        "-n",
        "--ranks",
        metavar="P",
        type=common.positive,
        help="estimate the efficiency of distributions on P ranks",
    )
    parser.add_argument("--weights", metavar="LIST", help="relative speeds of these ranks: 1,1.5")
    common.add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.explain.ranks import read_ranks
    from dlbc.commands.explain.show import as_json, as_text
    from dlbc.parse.read_source import read_source
    from dlbc.pipeline import explain

    try:
        ranks = read_ranks(options.ranks, options.weights)
    except OptionError as error:
        return common.print_error(error)
    source, problems = read_source(options.file)
    if problems:
        return common.show_diagnostics(source, problems)
    result = explain(source, strict=options.strict)
    if options.format == "json":
        common.show_text(as_json(source, result, ranks=ranks))
    else:
        common.show_text(as_text(source, result, color=common.takes_colors(sys.stdout), ranks=ranks))
    return common.status_of(result.diagnostics)
