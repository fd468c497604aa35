"""`dlbc run`: transform and run under mpiexec in one step."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from dlbrt.contract import GROUP_FLAGS, GROUP_KINDS, nearest

from dlbc.commands.arguments import (
    add_emulation,
    add_learned,
    add_program,
    add_ranks,
    add_stats,
    add_strict,
    settings_of,
)
from dlbc.commands.show import print_error, show_diagnostics
from dlbc.parse.read_clauses import AVAILABLE

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_ranks(parser)
    parser.add_argument(
        "--strategy", metavar="NAME", type=_strategy,
        help=f"for loops that do not name one: {', '.join(AVAILABLE)}",
    )  # fmt: skip
    parser.add_argument(
        "--group", metavar="SPEC", type=_group,
        help="groups of the local strategies: K | block | random | speed | near | masters | exchange | "
        "dynamic, or some of them with commas between",
    )  # fmt: skip
    parser.add_argument(
        "--adapt", action="store_const", const="1", help="under auto: choose again at later synchronizations"
    )
    add_stats(parser)
    parser.add_argument("--trace", metavar="FILE", help="write an event trace there, as JSON")
    # Not offered: this version has none, and says so where it is asked for.
    parser.add_argument("--progress", action="store_const", const="1", help=argparse.SUPPRESS)
    add_emulation(parser)
    parser.add_argument(
        "--weights", metavar="LIST",
        help="known relative speeds, for the initial partition; last: as the last run or calibrate measured",
    )  # fmt: skip
    add_learned(parser)
    parser.add_argument(
        "--model", metavar="FILE", help="use all that runs have taught from the start, and keep it there"
    )
    add_strict(parser)
    add_program(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.programs import transform_file
    from dlbc.run import CannotStartError, malformed, run_program

    source, result, status = transform_file(options)
    if result.text is None:
        return status
    ranks, settings = options.ranks if result.parallel else 1, settings_of(options)
    if not result.parallel and (problem := malformed(settings, options.ranks)):
        return print_error(problem)
    try:
        return run_program(Path(options.file), result.text, ranks, settings, options.arguments)
    except CannotStartError as error:
        return show_diagnostics(source, (error.diagnostic,))


def _strategy(text: str) -> str:
    if text not in AVAILABLE:
        known = ", ".join(AVAILABLE)
        raise argparse.ArgumentTypeError(f"expected one of {known}; found {text!r}{nearest(text, AVAILABLE)}")
    return text


def _group(text: str) -> str:
    """Words that the option knows; how they go together the runtime says, which knows the ranks."""
    for word in map(str.strip, text.split(",")):
        if word not in (*GROUP_KINDS, *GROUP_FLAGS) and not re.fullmatch("0*[1-9][0-9]*", word):
            known = ", ".join((*GROUP_KINDS, *GROUP_FLAGS))
            raise argparse.ArgumentTypeError(f"expected integers above 0 and {known}; found {word!r}")
    return text
