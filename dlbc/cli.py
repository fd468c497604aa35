"""The command line: choose the command, run it, and handle output that cannot be written.

Only the chosen command's module is imported, by its name in `dlbc.commands`; that package documents the exit
statuses.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any, Protocol, cast

from dlbrt.contract import nearest

from dlbc import __version__
from dlbc.commands.defaults import DefaultsError, parse
from dlbc.commands.examples import EXAMPLES

#: Name of the command and of its module, and its line in the help.
_COMMANDS = {
    "transform": "write the parallel program",
    "check": "show the diagnostics alone",
    "explain": "show for every loop what was decided, and why",
    "annotate": "find loops that can be parallel, and show what is in the way of the others",
    "rules": "list the codes of diagnostics, or show one",
    "run": "transform and run under mpiexec in one step",
    "calibrate": "measure the network, or how fast each rank computes the loops",
    "doctor": "check what a run on these hosts needs, and say what to do",
    "simulate": "simulate a loop under each strategy on a described machine",
    "report": "draw a recorded run as a page of HTML",
    "witness": "run sequentially and show the first conflict between iterations",
    "verify": "run sequentially and in parallel and show the first difference",
    "completion": "print what completes command lines in bash, zsh or fish",
}
#: Below the help of all commands.
_STATUSES = """\
exit status:
  0  done
  1  the program has errors, or an overwrite was refused
  2  wrong usage, an unreadable file, no mpiexec
  `run` returns the program's own; `dlbc COMMAND -h` shows options and examples."""


#: Commands that may run a program whose arguments are the words after ``--``, as ``options.arguments``.
_RUNNING = frozenset({"annotate"})


class _Command(Protocol):
    """The interface of a command's module."""

    def add_arguments(self, parser: argparse.ArgumentParser, /) -> None: ...
    def run(self, options: argparse.Namespace, /) -> int: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the return value is the exit status."""
    words = sys.argv[1:] if arguments is None else arguments
    name = next((word for word in words if not word.startswith("-")), "")
    command = cast(_Command, import_module(f"dlbc.commands.{name}")) if name in _COMMANDS else None
    parser, of_command = _parsers(name, command)
    if name not in _COMMANDS and name and words[0] == name:
        parser.error(f"there is no command {name}{nearest(name, _COMMANDS)}")
    rest: Sequence[str] | None = None
    if name in _RUNNING:
        words, rest = _split(words)
    try:
        options = parse(parser, of_command, name, words)
    except DefaultsError as error:
        print(f"dlbc: {error}", file=sys.stderr)
        return 2
    if name in _RUNNING:
        options.arguments = rest
    assert command is not None, "without a command, parsing ends the process"
    try:
        return command.run(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # The reader of our output has closed it; the interpreter must not flush into it again.
        sys.stdout = None
        return 1
    except OSError as error:
        # A full disk or a closed stream: nothing more can be printed, and nothing flushed at exit.
        with suppress(OSError):
            named = f"{error.filename}: " if error.filename else ""
            print(f"dlbc: {named}{error.strerror or error}", file=sys.stderr)
        sys.stdout = None
        return 2


def _split(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str] | None]:
    """The words before the first ``--``, and those after it, None if there is none; argparse mixes them."""
    if "--" not in words:
        return words, None
    place = list(words).index("--")
    return words[:place], words[place + 1 :]


class _Parser(argparse.ArgumentParser):
    """Says of an unknown option which one may be meant, below the usage of the command."""

    chosen: argparse.ArgumentParser | None = None
    after_dashes = False  # the arguments of a program come after ``--``

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As in the base class."""
        options, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command = self.chosen or self
            text = f"unrecognized arguments: {' '.join(unknown)}"
            text += nearest(unknown[0].partition("=")[0], command._option_string_actions)
            if self.after_dashes:
                text += "; what the program is given comes after --"
            command.error(text)
        return options


class _Help(argparse.HelpFormatter):
    """Lines of a text that has several are kept; a text of one line is filled."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        if "\n" in text:
            return "".join(indent + line for line in text.splitlines(keepends=True))
        return super()._fill_text(text, width, indent)


def _parsers(
    chosen: str, command: _Command | None
) -> tuple[argparse.ArgumentParser, argparse.ArgumentParser]:
    """The parser of all commands, with the options of the chosen one, and that of the chosen one alone.

    The latter is the former where none was chosen.
    """
    parser = _Parser(
        prog="dlbc", formatter_class=_Help, epilog=_STATUSES,
        description="Turn annotated loops into MPI programs that balance their own load.",
    )  # fmt: skip
    parser.add_argument("-V", "--version", action="version", version=f"dlbc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    found = parser
    for name, text in _COMMANDS.items():
        of_command = commands.add_parser(name, help=text, formatter_class=_Help, epilog=_examples(name))
        if command is not None and name == chosen:
            command.add_arguments(of_command)
            found = parser.chosen = of_command
            parser.after_dashes = name in _RUNNING
    if chosen == "completion":
        found.set_defaults(commands=_COMMANDS)
    return parser, found


def _examples(name: str) -> str:
    lines = [f"  {words}\n      {what}" for words, what in EXAMPLES.get(name, ())]
    return "\n".join(["examples:", *lines]) if lines else ""
