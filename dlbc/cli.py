"""The command line: options, printing, exit status; nothing else.

Exit status: 0 done; 1 the program has errors, or an overwrite was refused; 2 wrong usage, an unreadable
file, an output that cannot be written, no mpiexec. `witness` has 1 also where it found a conflict, and
reports on standard error: standard output is the program's own. `run` otherwise returns the program's own
status.
"""

from __future__ import annotations

import argparse
import errno
import os
import re
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TextIO

from dlbrt.contract import ENVIRONMENT, GROUP_FLAGS, GROUP_KINDS, OptionError

from dlbc import __version__
from dlbc.diagnostics import Diagnostic, has_errors, render
from dlbc.parse.read_clauses import AVAILABLE
from dlbc.parse.read_source import read_source
from dlbc.pipeline import TransformResult, check, explain, transform
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
    except OSError as error:
        # A full disk, a closed stream: what was to be shown cannot be; nor at the end.
        with suppress(OSError):
            print(f"dlbc: {error.strerror or error}", file=sys.stderr)
        sys.stdout = None
        return 2
    return status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="dlbc", description="Turn annotated loops into MPI programs that balance their own load."
    )
    parser.add_argument("--version", action="version", version=f"dlbc {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    _add_transform(commands.add_parser("transform", help="write the parallel program"))
    _add_check(commands.add_parser("check", help="show the diagnostics alone"))
    _add_explain(commands.add_parser("explain", help="say of every loop what was found, and why"))
    _add_rules(commands.add_parser("rules", help="list the codes of diagnostics, or show one"))
    _add_run(commands.add_parser("run", help="transform and run under mpiexec in one step"))
    _add_calibrate(
        commands.add_parser("calibrate", help="measure the network, or how fast each rank computes the loops")
    )
    _add_simulate(
        commands.add_parser("simulate", help="play a loop through strategies on a described machine")
    )
    _add_report(commands.add_parser("report", help="make a page of pictures of a recorded run"))
    _add_witness(
        commands.add_parser("witness", help="run sequentially and show the first conflict between iterations")
    )
    return parser


def _add_transform(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("-o", dest="output", metavar="OUT", help="the file to write; - for standard output")
    parser.add_argument("--force", action="store_true", help="overwrite a file that dlbc did not write")
    _add_strict(parser)
    parser.set_defaults(command=_transform)


def _add_check(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", metavar="FILE", nargs="+", help="annotated Python programs")
    parser.add_argument(
        "--format", choices=("full", "json", "sarif", "github"), default="full",
        help="full: for people, on standard error (default); others: for programs, on standard output",
    )  # fmt: skip
    _add_strict(parser)
    parser.set_defaults(command=_check)


def _add_strict(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--strict", action="store_true", help="take nothing on trust: no functions not seen, no assertions"
    )


def _add_explain(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument(
        "--format", choices=("full", "json"), default="full", help="full: for people (default)"
    )
    parser.add_argument(
        "-n", "--ranks", metavar="P", type=_positive, help="say what distributions will cost on P ranks"
    )
    parser.add_argument("--weights", metavar="LIST", help="relative speeds of these ranks: 1,1.5")
    _add_strict(parser)
    parser.set_defaults(command=_explain)


def _add_rules(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code, such as DLB301")
    parser.set_defaults(command=_rules)


def _add_run(parser: argparse.ArgumentParser) -> None:
    _add_ranks(parser)
    parser.add_argument("--strategy", choices=AVAILABLE, help="for loops that do not name one")
    parser.add_argument(
        "--group", metavar="SPEC", type=_group,
        help="groups of the local strategies: K | block | random | speed | near | masters | exchange | "
        "dynamic, or some of them with commas between",
    )  # fmt: skip
    parser.add_argument(
        "--adapt", action="store_const", const="1", help="under auto: choose again at later synchronizations"
    )
    _add_stats(parser)
    parser.add_argument("--trace", metavar="FILE", help="write an event trace there, as JSON")
    parser.add_argument("--progress", action="store_const", const="1", help="progress bar on standard error")
    _add_emulation(parser)
    parser.add_argument(
        "--weights", metavar="LIST",
        help="known relative speeds, for the initial partition; last: as the last run or calibrate measured",
    )  # fmt: skip
    _add_learned(parser)
    parser.add_argument(
        "--model", metavar="FILE", help="use all that runs have taught from the start, and keep it there"
    )
    _add_strict(parser)
    _add_program(parser)
    parser.set_defaults(command=_run)


def _add_calibrate(parser: argparse.ArgumentParser) -> None:
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
    _add_ranks(parser, required=False)
    parser.add_argument("--plot", metavar="FILE", help="draw the network as measured and as fitted there")
    _add_stats(parser)
    _add_emulation(parser)
    _add_learned(parser)
    _add_strict(parser)
    # `nargs="?"` would match nothing before the first option, and what remains is then taken to be ARGS.
    for action in _add_program(parser):
        action.required = False
    parser.set_defaults(command=_calibrate, arguments=[])


def _add_ranks(parser: argparse.ArgumentParser, required: bool = True) -> None:
    parser.add_argument(
        "-n", dest="ranks", metavar="P", type=_positive, required=required, help="number of ranks"
    )


def _add_stats(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stats", metavar="FILE", help="write statistics there, as JSON")


def _add_emulation(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--load", metavar="SPEC", help="emulated load: fixed:0,3 | random:max=5,... | none")
    parser.add_argument("--speeds", metavar="LIST", help="emulated relative speeds per rank: 1,1.5")


def _add_learned(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--learned", metavar="FILE", help="keep what runs teach there, not in the user's cache directory"
    )


def _add_program(parser: argparse.ArgumentParser) -> tuple[argparse.Action, argparse.Action]:
    return (
        parser.add_argument("file", metavar="FILE", help="an annotated Python program"),
        parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own"),
    )


def _add_witness(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Run the program sequentially on small input and show, for each parallel loop, the first two "
        "iterations that conflict. The report goes to standard error; standard output is the program's own. "
        "Exit status: 1 where a conflict was found or the program failed, else 0."
    )
    parser.add_argument("file", metavar="FILE", help="an annotated Python program")
    parser.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="the program's own")
    parser.set_defaults(command=_witness)


def _add_simulate(parser: argparse.ArgumentParser) -> None:
    from dlbc.simulate.options import add_options

    add_options(parser)
    parser.set_defaults(command=_simulate)


def _add_report(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Make a page (HTML, with all that it needs) of a run that was recorded by `dlbc run --trace`: each "
        "rank's time, synchronizations, work that moved, predicted against measured."
    )
    parser.add_argument("trace", metavar="TRACE", help="what `dlbc run --trace` wrote")
    parser.add_argument(
        "-o", dest="output", metavar="OUT", help="the page (default: beside TRACE); - for standard output"
    )
    parser.set_defaults(command=_recorded)


def _group(text: str) -> str:
    """Words that the option knows; how they go together the runtime says, which knows the ranks."""
    for word in map(str.strip, text.split(",")):
        if word not in (*GROUP_KINDS, *GROUP_FLAGS) and not re.fullmatch("0*[1-9][0-9]*", word):
            known = ", ".join((*GROUP_KINDS, *GROUP_FLAGS))
            raise argparse.ArgumentTypeError(f"expected integers above 0 and {known}; found {word!r}")
    return text


def _positive(text: str) -> int:
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 1, found {text!r}")
    return value


def _transformed(options: argparse.Namespace) -> tuple[Source, TransformResult, int]:
    """A file, what it becomes, and the status so far; its diagnostics are shown."""
    source, problems = read_source(options.file)
    result = TransformResult(None, tuple(problems)) if problems else transform(source, strict=options.strict)
    return source, result, _report(source, result.diagnostics)


def _transform(options: argparse.Namespace) -> int:
    from dlbc.output import write_output

    source, result, status = _transformed(options)
    if result.text is None:
        return status
    if options.output == "-":
        output = _standard_output()
        output.buffer.write(result.text)
        output.buffer.flush()
        return 0
    path = Path(options.file)
    target = Path(options.output) if options.output else path.with_name(f"{path.stem}_dlb.py")
    refusal = write_output(target, path, result.text, options.force)
    return _report(source, (refusal,)) if refusal else 0


def _check(options: argparse.Namespace) -> int:
    from dlbc.formats import FORMATS

    results = []
    for file in options.files:
        source, problems = read_source(file)
        results.append((source, problems or check(source, strict=options.strict)))
    if options.format != "full":
        if text := FORMATS[options.format](results):
            _print(text)
        return max(_status(diagnostics) for _, diagnostics in results)
    return max(_report(source, diagnostics) for source, diagnostics in results)


def _explain(options: argparse.Namespace) -> int:
    from dlbc.explain import as_json, as_text, read_ranks

    try:
        ranks = read_ranks(options.ranks, options.weights)
    except OptionError as error:
        print(f"dlbc: {error}", file=sys.stderr)
        return 2
    source, problems = read_source(options.file)
    if problems:
        return _report(source, problems)
    result = explain(source, strict=options.strict)
    told = source, result.reports, result.diagnostics
    if options.format == "json":
        _print(as_json(*told, ranks=ranks, routines=result.routines))
    else:
        _print(as_text(*told, color=_takes_colors(sys.stdout), ranks=ranks, routines=result.routines))
    return _status(result.diagnostics)


def _rules(options: argparse.Namespace) -> int:
    from dlbc.rules import list_rules, show_rule, unknown_rule

    color = _takes_colors(sys.stdout)
    if options.code is None:
        _print(list_rules(color=color))
        return 0
    text = show_rule(options.code, color=color)
    if text is None:
        print(unknown_rule(options.code), file=sys.stderr)
        return 2
    _print(text)
    return 0


def _run(options: argparse.Namespace) -> int:
    from dlbc.run import CannotStartError, malformed, run_program

    source, result, status = _transformed(options)
    if result.text is None:
        return status
    ranks, settings = options.ranks if result.parallel else 1, _settings(options)
    if not result.parallel and (problem := malformed(settings, options.ranks)):
        print(f"dlbc: {problem}", file=sys.stderr)
        return 2
    try:
        return run_program(Path(options.file), result.text, ranks, settings, options.arguments)
    except CannotStartError as error:
        return _report(source, (error.diagnostic,))


def _calibrate(options: argparse.Namespace) -> int:
    if unfit := _unfit(options):
        print(f"dlbc: {unfit}", file=sys.stderr)
        return 2
    return _calibrate_network(options) if options.file is None else _calibrate_program(options)


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


def _calibrate_network(options: argparse.Namespace) -> int:
    from dlbc.network import CannotMeasureError, calibrate_network

    try:
        return calibrate_network(options.ranks, options.plot)
    except CannotMeasureError as error:
        print(f"dlbc: {error}", file=sys.stderr)
        return 2


def _calibrate_program(options: argparse.Namespace) -> int:
    from dlbc.calibrate import calibrate
    from dlbc.run import CannotStartError

    source, result, status = _transformed(options)
    if result.text is None:
        return status
    ranks, settings = options.ranks if result.parallel else 1, _settings(options)
    try:
        return calibrate(Path(options.file), result.text, ranks, settings, options.arguments, options.learned)
    except CannotStartError as error:
        return _report(source, (error.diagnostic,))
    except OptionError as error:
        print(f"dlbc: {error}", file=sys.stderr)
        return 2


def _simulate(options: argparse.Namespace) -> int:
    from dlbc.simulate.command import simulated
    from dlbc.simulate.problems import CannotSimulateError, FaultyProgramError
    from dlbc.simulate.request import Request

    given = {name: value for name, value in vars(options).items() if name != "command"}
    try:
        _print(simulated(Request(**given)))
    except FaultyProgramError as error:
        return _report(error.source, error.diagnostics)
    except CannotSimulateError as error:
        print("\n".join(f"dlbc: {line}" for line in str(error).splitlines()), file=sys.stderr)
        return 2
    return 0


def _recorded(options: argparse.Namespace) -> int:
    from dlbc.report.command import CannotReportError, report

    try:
        _print(report(options.trace, options.output))
    except CannotReportError as error:
        print(f"dlbc: {error}", file=sys.stderr)
        return 2
    return 0


def _settings(options: argparse.Namespace) -> dict[str, str | int]:
    """What was given of the options of section 6, as generated programs read it."""
    given = ((variable, getattr(options, name, None)) for name, variable in ENVIRONMENT.items())
    return {variable: value for variable, value in given if value is not None}


def _witness(options: argparse.Namespace) -> int:
    from dlbc.witness import witness

    source, problems = read_source(options.file)
    return _report(source, problems) if problems else witness(source, options.arguments)


def _report(source: Source, diagnostics: Iterable[Diagnostic]) -> int:
    """Show the diagnostics on standard error; the exit status that they mean."""
    diagnostics = tuple(diagnostics)
    color = _takes_colors(sys.stderr)
    for diagnostic in diagnostics:
        print(render(diagnostic, source, color=color), file=sys.stderr)
    return _status(diagnostics)


def _print(text: str) -> None:
    """Print on standard output; what its encoding lacks is escaped, as on standard error."""
    output = _standard_output()
    encoding = output.encoding or "utf-8"
    print(text.encode(encoding, "backslashreplace").decode(encoding), file=output, flush=True)


def _standard_output() -> TextIO:
    """Raises OSError where the command was started without one."""
    if sys.stdout is None:
        raise OSError(errno.EBADF, "standard output is closed")
    return sys.stdout


def _takes_colors(stream: TextIO | None) -> bool:
    """Whether colours are seen there, and wanted (https://no-color.org)."""
    seen = stream is not None and stream.isatty()
    return seen and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _status(diagnostics: Iterable[Diagnostic]) -> int:
    diagnostics = tuple(diagnostics)
    if any(d.code in _USAGE_CODES for d in diagnostics):
        return 2
    return 1 if has_errors(diagnostics) else 0
