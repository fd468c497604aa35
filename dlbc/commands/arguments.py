"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from dlbrt.contract import ENVIRONMENT

__all__ = ["add_emulation", "add_learned", "add_program", "add_ranks", "add_stats", "add_strict", "positive",
           "settings_of"]  # fmt: skip


def add_strict(parser: argparse.ArgumentParser) -> None:
    """``--strict``."""
    parser.add_argument(
        "--strict", action="store_true", help="take nothing on trust: no functions not seen, no assertions"
    )


def add_ranks(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """``-n``."""
    parser.add_argument(
        "-n", dest="ranks", metavar="P", type=positive, required=required, help="number of ranks"
    )


def add_stats(parser: argparse.ArgumentParser) -> None:
    """``--stats``."""
    parser.add_argument("--stats", metavar="FILE", help="write statistics there, as JSON")


def add_emulation(parser: argparse.ArgumentParser) -> None:
    """``--load`` and ``--speeds``."""
    parser.add_argument("--load", metavar="SPEC", help="emulated load: fixed:0,3 | random:max=5,... | none")
    parser.add_argument("--speeds", metavar="LIST", help="emulated relative speeds per rank: 1,1.5")


def add_learned(parser: argparse.ArgumentParser) -> None:
    """``--learned``."""
    parser.add_argument(
        "--learned", metavar="FILE", help="keep what runs teach there, not in the user's cache directory"
    )


def add_program(parser: argparse.ArgumentParser) -> argparse.Action:
    """A program to run, as ``file``; all that follows it is its own, as ``arguments``."""
    # Words of the program may begin several of our options; argparse would complain of that.
    parser.allow_abbrev = False
    parser.set_defaults(arguments=[])
    return parser.add_argument(
        "file", metavar="FILE", nargs=argparse.PARSER, action=_Program,
        help="an annotated Python program; what follows are its own arguments",
    )  # fmt: skip


class _Program(argparse.Action):
    """The program and its arguments are one list, as argparse drops the first ``--`` after other words."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        assert option_string is None
        assert isinstance(values, list)
        # Before the program `--` says that no options follow; some versions of argparse have dropped it.
        words = values[1:] if values[0] == "--" else values
        if not words:
            parser.error("the following arguments are required: FILE")
        namespace.file, *namespace.arguments = words


def positive(text: str) -> int:
    """A whole number of at least 1."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return value


def settings_of(options: argparse.Namespace) -> dict[str, str | int]:
    """What was given of the options that generated programs read, as they read it."""
    given = ((variable, getattr(options, name, None)) for name, variable in ENVIRONMENT.items())
    return {variable: value for variable, value in given if value is not None}
