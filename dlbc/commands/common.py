"""What commands share: printing, options, and reading a program.

Diagnostics and errors go to standard error, results to standard output. Commands import it for their options,
so it imports what reads programs where that is needed.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from dlbrt.contract import ENVIRONMENT

if TYPE_CHECKING:
    from pathlib import Path

    from dlbc.diagnostics.diagnostic import Diagnostic
    from dlbc.parse.find_modules import SearchPath
    from dlbc.source import Source

#: Diagnostics of wrong usage rather than of the program: exit status 2.
_USAGE_CODES = frozenset(
    {"DLB001", "DLB002", "DLB003", "DLB013", "DLB015", "DLB016", "DLB017", "DLB018", "DLB019", "DLB021"}
)


def show_diagnostics(source: Source, diagnostics: Iterable[Diagnostic]) -> int:
    """Print the diagnostics on standard error and return their exit status."""
    from dlbc.diagnostics.diagnostic import render

    diagnostics = tuple(diagnostics)
    color = takes_colors(sys.stderr)
    for diagnostic in diagnostics:
        print(render(diagnostic, source, color=color), file=sys.stderr)
    return status_of(diagnostics)


def status_of(diagnostics: Iterable[Diagnostic]) -> int:
    """The exit status for these diagnostics."""
    from dlbc.diagnostics.diagnostic import has_errors

    diagnostics = tuple(diagnostics)
    if any(d.code in _USAGE_CODES for d in diagnostics):
        return 2
    return 1 if has_errors(diagnostics) else 0


def print_error(message: object) -> int:
    """Print the message on standard error, each line after `dlbc: `, and return the exit status 2."""
    for line in str(message).splitlines():
        print(f"dlbc: {line}", file=sys.stderr)
    return 2


def show_text(text: str) -> None:
    """Print on standard output; characters that its encoding lacks are escaped, as on standard error."""
    output = standard_output()
    encoding = output.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=output, flush=True)


def standard_output() -> TextIO:
    """Standard output; OSError if the command was started without one."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return sys.stdout


def takes_colors(stream: TextIO | None) -> bool:
    """Whether the stream is a terminal with colours, or the environment says so: `NO_COLOR`, `FORCE_COLOR`.

    Either counts if it is not empty, and `NO_COLOR` before the other (https://no-color.org,
    https://force-color.org).
    """
    if stream is None or os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (stream.isatty() and os.environ.get("TERM") != "dumb")


# Options


def add_strict(parser: argparse.ArgumentParser) -> None:
    """``--strict``, ``--no-strict``."""
    parser.add_argument(
        "--strict", action="store_true", help="refuse what rests on trust: unseen functions and assertions"
    )
    parser.add_argument(
        "--no-strict", dest="strict", action="store_false", default=False,
        help="do not, whatever pyproject.toml says (default)",
    )  # fmt: skip


def add_follow(parser: argparse.ArgumentParser) -> None:
    """``--follow``."""
    parser.add_argument(
        "--follow", metavar="PACKAGE", type=_package, action="append", default=[],
        help="read this installed package as the program's own modules are read: its functions are seen",
    )  # fmt: skip


def search_of(options: argparse.Namespace) -> SearchPath:
    """Where modules are found besides, as the options say."""
    from dlbc.parse.find_modules import SearchPath

    return SearchPath(packages=tuple(path for paths in options.follow for path in paths))


def _package(name: str) -> list[Path]:
    """The directories of a package, or the file of a module."""
    from dlbc.parse.find_program import NoModuleError, package_files

    try:
        return package_files(name)
    except NoModuleError as error:
        raise argparse.ArgumentTypeError(
            f"expected a package whose source Python finds, found {error}"
        ) from None


def add_ranks(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """``-n``."""
    parser.add_argument(
        "-n", dest="ranks", metavar="P", type=positive, required=required, help="number of ranks"
    )


def add_hostfile(parser: argparse._ActionsContainer) -> None:
    """``--hostfile``."""
    parser.add_argument(
        "--hostfile", metavar="FILE", default="",
        help="start the ranks on the hosts of this file, which mpiexec reads",
    )  # fmt: skip


def record_file(text: str) -> str:
    """The name of a file to write; ArgumentTypeError for a program, which would be lost."""
    if text.endswith((".py", ".ipynb")) and os.path.exists(text):
        raise argparse.ArgumentTypeError(f"expected a file to write, found the program {text}")
    return text


def add_stats(parser: argparse.ArgumentParser) -> None:
    """``--stats``."""
    parser.add_argument(
        "--stats", metavar="FILE", type=record_file, help="write statistics there, as JSON"
    )  # fmt: skip


def add_emulation(parser: argparse.ArgumentParser) -> None:
    """``--load`` and ``--speeds``."""
    parser.add_argument("--load", metavar="SPEC", help="emulated load: fixed:0,3 | random:max=5,... | none")
    parser.add_argument("--speeds", metavar="LIST", help="emulated relative speeds per rank: 1,1.5")


def add_learned(parser: argparse.ArgumentParser) -> None:
    """``--learned``."""
    parser.add_argument(
        "--learned", metavar="FILE", help="keep measurements of runs there, not in the user's cache directory"
    )


def add_program(parser: argparse.ArgumentParser, required: bool = True) -> None:
    """A program to run, as ``file``; everything after it belongs to the program, as ``arguments``."""
    # An argument of the program may be a prefix of several options, which argparse would report as ambiguous.
    parser.allow_abbrev = False
    parser.set_defaults(arguments=[], module="", file="", program_required=required)
    parser.add_argument(
        "file", metavar="FILE", nargs=argparse.REMAINDER, action=_Program,
        help="an annotated Python program, and then its arguments",
    )  # fmt: skip


def add_modules(parser: argparse.ArgumentParser) -> None:
    """``-m``, as ``module``, in place of a file; and ``--package``. To be added before the program."""
    parser.add_argument(
        "--package", metavar="NAME", type=_package, action="append", default=[],
        help="an installed package that belongs to the program: its annotated loops are transformed too",
    )  # fmt: skip
    parser.add_argument(
        "-m", dest="module", metavar="MODULE", nargs=argparse.REMAINDER, action=_Program,
        help="run this module, as `python -m` does, and then its arguments",
    )  # fmt: skip


class _Program(argparse.Action):
    """The program and its arguments as one list: a file, or after ``-m`` a module.

    One list, since argparse drops the first ``--`` after other words.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        assert isinstance(values, list)
        if option_string is not None:
            if not values:
                parser.error("argument -m: expected the name of a module")
            namespace.module, *namespace.arguments = values
        elif not namespace.module:
            # A `--` before the program ends the options; some versions of argparse have already dropped it.
            given = values[1:] if values[:1] == ["--"] else values
            if not given and namespace.program_required:
                parser.error("the following arguments are required: FILE")
            namespace.file, *namespace.arguments = given or [""]


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
    """The options that generated programs read, as environment variables."""
    given = ((variable, getattr(options, name, None)) for name, variable in ENVIRONMENT.items())
    return {variable: value for variable, value in given if value is not None}
