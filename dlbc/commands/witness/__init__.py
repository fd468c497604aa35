"""`dlbc witness`: run a program sequentially, and show two iterations of a parallel loop that conflict.

It runs user code, so it is a layer above the compiler. `rewrite` makes the program report its accesses to an
`AccessMonitor`; `execute` runs it under its own name and words the report.
"""

from __future__ import annotations

import argparse

from dlbc.commands.common import add_program, show_diagnostics


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Run the program sequentially on small input and show, for each parallel loop, the first two "
        "iterations that conflict. The report goes to standard error; standard output is the program's own. "
        "Exit status: 1 if a conflict was found or the program failed, else 0."
    )
    add_program(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.witness.execute import witness
    from dlbc.parse.read_source import read_source

    source, problems = read_source(options.file)
    return show_diagnostics(source, problems) if problems else witness(source, options.arguments)
