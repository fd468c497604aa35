"""`dlbc calibrate`: measure the network, or how fast each rank computes the loops."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlbrt.contract import OptionError

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

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.usage = (
        "dlbc calibrate [-h] [-n P] [--plot FILE]\n"
        "       dlbc calibrate -n P [--stats FILE] [--load SPEC] [--speeds LIST] [--learned FILE] [--strict] "
        "FILE [ARGS...]"
    )
    parser.description = (
        "Without a program: measure latency, bandwidth and patterns of communication among P ranks, show "
        "them on standard output, and store them for runs on the same hosts. With one: run "
        "it once on P ranks, iterations dealt in turn, nothing moving, and measure for "
        "each loop the relative speeds of the ranks. They are shown on standard error, and kept for runs "
        "with `--weights last`; standard output is the program's own. Exit status: as that of `run`."
    )
    add_ranks(parser, required=False)
    parser.add_argument("--plot", metavar="FILE", help="draw the network as measured and as fitted there")
    add_stats(parser)
    add_emulation(parser)
    add_learned(parser)
    add_strict(parser)
    add_program(parser).required = False


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    if unfit := _unfit(options):
        return print_error(unfit)
    return _network(options) if options.file is None else _program(options)


def _unfit(options: argparse.Namespace) -> str:
    """What is wrong with the options for what is to be calibrated, if anything."""
    if options.file is not None:
        if options.plot is not None:
            return "expected --plot without a program: it draws the network, which needs none"
        return "" if options.ranks else "expected -n P, the number of ranks that are to run the program"
    for name in ("stats", "load", "speeds", "learned", "strict"):
        if getattr(options, name):
            return f"expected FILE, the program that --{name} is for; without one the network is measured"
    return ""


def _network(options: argparse.Namespace) -> int:
    from dlbc.network import CannotMeasureError, calibrate_network

    try:
        return calibrate_network(options.ranks, options.plot)
    except CannotMeasureError as error:
        return print_error(error)


def _program(options: argparse.Namespace) -> int:
    from dlbc.calibrate import calibrate
    from dlbc.commands.programs import transform_file
    from dlbc.run import CannotStartError

    source, result, status = transform_file(options)
    if result.text is None:
        return status
    ranks, settings = options.ranks if result.parallel else 1, settings_of(options)
    try:
        return calibrate(Path(options.file), result.text, ranks, settings, options.arguments, options.learned)
    except CannotStartError as error:
        return show_diagnostics(source, (error.diagnostic,))
    except OptionError as error:
        return print_error(error)
