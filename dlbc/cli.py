"""The command line: options, printing, exit status; nothing else.

Exit status: 0 done; 1 the program has errors, or an overwrite was refused; 2 wrong usage, an unreadable
file, an output that cannot be written, no mpiexec. `run` otherwise returns the program's own status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from dlbrt.contract import ENVIRONMENT

from dlbc import __version__
from dlbc.diagnostics import Diagnostic, has_errors, render
from dlbc.parse.read_clauses import AVAILABLE
from dlbc.parse.read_source import read_source
from dlbc.pipeline import TransformResult, check, transform
from dlbc.source import Source

__all__ = ["main"]

#: Errors of usage rather than of the program.
_USAGE_CODES = frozenset({"DLB001", "DLB002", "DLB003", "DLB013", "DLB015", "DLB016"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the return value is the exit status."""
    options = _parser().parse_args(arguments)
    try:
        status: int = options.command(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # What reads our output has enough of it; the interpreter must not flush into it again.
        sys.stdout = None
        return 1
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dlbc", description="Turn annotated loops into MPI programs that balance their own load."
    )
    parser.add_argument("--version", action="version", version=f"dlbc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_transform(commands.add_parser("transform", help="write the parallel program"))
    _add_check(commands.add_parser("check", help="show the diagnostics alone"))
    _add_run(commands.add_parser("run", help="transform and run under mpiexec in one step"))
    return parser


def _add_transform(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; - for standard output")
    parser.add_argument("--force", action="store_true", help="overwrite a file that dlbc did not write")
    parser.set_defaults(command=_transform)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="annotated Python programs")
    parser.add_argument("--format", choices=("full", "json", "sarif", "github"), default="full")
    parser.set_defaults(command=_check)


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-n", dest="ranks", metavar="P", type=_positive, required=True, help="number of ranks"
    )
    parser.add_argument("--strategy", choices=AVAILABLE, help="for loops that do not name one")
    parser.add_argument("--group", metavar="K", type=_positive, help="group size of the local strategies")
    parser.add_argument("--stats", metavar="FILE", help="write statistics there, as JSON")
    parser.add_argument("--trace", metavar="FILE", help="write an event trace there, as JSON")
    parser.add_argument("--progress", action="store_const", const="1", help="progress bar on standard error")
    parser.add_argument("--load", metavar="SPEC", help="emulated load: fixed:0,3 | random:max=5,... | none")
    parser.add_argument("--speeds", metavar="LIST", help="emulated relative speeds per rank: 1,1.5")
    parser.add_argument("--weights", metavar="LIST", help="known relative speeds, for the initial partition")
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own")
    parser.set_defaults(command=_run)


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return value


def _transformed(file: str) -> tuple[Source, TransformResult, int]:
    """A file, what it becomes, and the status so far; its diagnostics are shown."""
    source, problems = read_source(file)
    result = TransformResult(None, tuple(problems)) if problems else transform(source)
    return source, result, _report(source, result.diagnostics)


def _transform(options: argparse.Namespace) -> int:
    from dlbc.output import write_output

    source, result, status = _transformed(options.file)
    if result.text is None:
        return status
    if options.output == "-":
        sys.stdout.buffer.write(result.text)
        sys.stdout.buffer.flush()
        return 0
    path = Path(options.file)
    output = Path(options.output) if options.output else path.with_name(f"{path.stem}_dlb.py")
    refusal = write_output(output, path, result.text, options.force)
    return _report(source, (refusal,)) if refusal else 0


def _check(options: argparse.Namespace) -> int:
    from dlbc.formats import FORMATS

    results = []
    for file in options.files:
        source, problems = read_source(file)
        results.append((source, problems or check(source)))
    if options.format != "full":
        print(FORMATS[options.format](results))
        return max(_status(diagnostics) for _, diagnostics in results)
    return max(_report(source, diagnostics) for source, diagnostics in results)


def _run(options: argparse.Namespace) -> int:
    from dlbc.run import CannotStartError, run_program

    source, result, status = _transformed(options.file)
    if result.text is None:
        return status
    settings = {
        ENVIRONMENT[name]: value for name in ENVIRONMENT if (value := getattr(options, name)) is not None
    }
    ranks = options.ranks if result.parallel else 1
    try:
        return run_program(Path(options.file), result.text, ranks, settings, options.arguments)
    except CannotStartError as error:
        return _report(source, (error.diagnostic,))


def _report(source: Source, diagnostics: Iterable[Diagnostic]) -> int:
    """Show the diagnostics on standard error; the exit status that they mean."""
    diagnostics = tuple(diagnostics)
    for diagnostic in diagnostics:
        print(render(diagnostic, source), file=sys.stderr)
    return _status(diagnostics)


def _status(diagnostics: Iterable[Diagnostic]) -> int:
    diagnostics = tuple(diagnostics)
    if any(d.code in _USAGE_CODES for d in diagnostics):
        return 2
    return 1 if has_errors(diagnostics) else 0
