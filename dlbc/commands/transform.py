"""`dlbc transform`: write the parallel program."""

from __future__ import annotations

import argparse
from pathlib import Path

from dlbc.commands.arguments import add_strict
from dlbc.commands.show import show_diagnostics, standard_output

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; - for standard output")
    parser.add_argument("--force", action="store_true", help="overwrite a file that dlbc did not write")
    add_strict(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.programs import transform_file
    from dlbc.output import write_output

    source, result, status = transform_file(options)
    if result.text is None:
        return status
    if options.output == "-":
        output = standard_output()
        output.buffer.write(result.text)
        output.buffer.flush()
        return 0
    path = Path(options.file)
    target = Path(options.output) if options.output else path.with_name(f"{path.stem}_dlb.py")
    refusal = write_output(target, path, result.text, options.force)
    return show_diagnostics(source, (refusal,)) if refusal else 0
