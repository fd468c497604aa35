"""`dlbc witness`: run sequentially and show the first conflict between iterations."""

from __future__ import annotations

import argparse

from dlbc.commands.arguments import add_program
from dlbc.commands.show import show_diagnostics

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Run the program sequentially on small input and show, for each parallel loop, the first two "
        "iterations that conflict. The report goes to standard error; standard output is the program's own. "
        "Exit status: 1 where a conflict was found or the program failed, else 0."
    )
    add_program(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.parse.read_source import read_source
    from dlbc.witness import witness

    source, problems = read_source(options.file)
    return show_diagnostics(source, problems) if problems else witness(source, options.arguments)
