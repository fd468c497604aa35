"""`dlbc verify`: run a program sequentially and in parallel, and show the first difference.

`compare_runs` searches; `execute` has one run, `observe` is what it starts on each rank, `snapshot` describes
what a program leaves, `compare` compares, and `settings` draws the strategy, load and speeds of a run.
"""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from dlbc.commands import common

if TYPE_CHECKING:
    from dlbc.commands.verify.compare_runs import Finding, Search, Verdict
    from dlbc.commands.verify.execute import VerifiedProgram

#: The numbers of ranks, and of runs, where the user gives none.
_RANKS = (2, 3, 5)
_RUNS = 20
#: Lines of standard error that are shown of a run that differs.
_TAIL = 12


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Run the program sequentially, and in parallel under random strategies, loads and speeds, which make "
        "work move, and compare output, exit status, exception, files and what the names of the program's "
        "module hold at the end. Standard input is empty. Exit status: 1 if a run differs, else 0."
    )
    parser.add_argument(
        "-n", dest="ranks", metavar="P,P,...", type=_ranks, default=_RANKS,
        help="numbers of ranks, taken in turn (default: 2,3,5)",
    )  # fmt: skip
    parser.add_argument(
        "--runs", metavar="N", type=common.positive, default=_RUNS, help=f"parallel runs (default: {_RUNS})"
    )
    parser.add_argument(
        "--seed",
        metavar="S",
        type=_seed,
        help="the settings of the first run are drawn by it, the next by S + 1",
    )
    parser.add_argument(
        "--timeout", metavar="SECONDS", type=_seconds,
        help="a run that takes longer differs (default: 120, and 20 times as long as the sequential program)",
    )  # fmt: skip
    parser.add_argument(
        "--compare",
        metavar="FILE",
        action="append",
        default=[],
        help="a file that the program writes: compare it too",
    )
    common.add_strict(parser)
    common.add_follow(parser)
    common.add_modules(parser)
    common.add_program(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.program import read_program
    from dlbc.commands.run import CannotStartError
    from dlbc.commands.verify.compare import UnsteadyError
    from dlbc.commands.verify.compare_runs import Search, compare_runs
    from dlbc.commands.verify.execute import VerifiedProgram

    program, status = read_program(options)
    if program is None:
        return status
    if not program.parallel:
        common.show_text(f"{program.path}: no annotated loops, nothing to compare")
        return 0
    # One order of sets for all runs, so that programs whose output depends on it can be compared.
    seed = int.from_bytes(os.urandom(3), "big") if options.seed is None else options.seed
    verified = VerifiedProgram(
        program, options.arguments, [Path(file) for file in options.compare], {"PYTHONHASHSEED": "0"}
    )
    search = Search(options.ranks, options.runs, seed, options.timeout)
    try:
        verdict = compare_runs(verified, search)
    except CannotStartError as error:
        return error.show(program.path)
    except (UnsteadyError, TimeoutError) as error:
        return common.print_error(f"{program.path}: {error}")
    for line in _report(verified, search, verdict):
        common.show_text(line)
    return 1 if verdict.finding else 0


def _report(verified: VerifiedProgram, search: Search, verdict: Verdict) -> Iterator[str]:
    from dlbc.commands.verify.compare import unsteady_words

    path, finding = verified.program.path, verdict.finding
    if finding is None:
        runs = f"{search.runs} run{'s' * (search.runs > 1)}"
        ranks = ", ".join(map(str, sorted(search.drawn)))
        yield f"{path}: identical in {runs} (ranks: {ranks}; seed {search.seed})"
        if verdict.status:
            why = f" ({': '.join(verdict.exception)})" if verdict.exception else ""
            yield f"  the program ends with status {verdict.status}{why}, in all of them"
    else:
        yield f"{path}: run {finding.number} of {search.runs} differs: {finding.settings}"
        yield from _finding(finding)
        yield f"  repeat it with: dlbc verify {_words(search, finding)} {_program_words(verified)}"
    if left_out := list(unsteady_words(verdict.unsteady)):
        yield f"  not compared, since two sequential runs differ in it: {'; '.join(left_out)}"


def _finding(finding: Finding) -> Iterator[str]:
    for difference in finding.differences:
        where = finding.kernels.iteration(difference.array, difference.index) if difference.array else ""
        yield f"  {difference}" + (f"; stored by {where}" if where else "")
    if finding.outcome.stacks:
        yield "  where the ranks were:"
        yield from (f"    {line}" for line in finding.outcome.stacks.splitlines())
    elif said := finding.outcome.stderr.splitlines()[-_TAIL:]:
        yield "  standard error of that run ends:"
        yield from (f"    {line}" for line in said)


def _words(search: Search, finding: Finding) -> str:
    """The options that repeat a run."""
    return f"-n {','.join(map(str, search.ranks))} --runs 1 --seed {finding.seed}"


def _program_words(verified: VerifiedProgram) -> str:
    module = verified.program.module
    compared = [word for file in verified.files for word in ("--compare", str(file))]
    return shlex.join(
        [*compared, *(["-m", module] if module else [str(verified.program.path)]), *verified.arguments]
    )


def _ranks(text: str) -> tuple[int, ...]:
    return tuple(common.positive(word.strip()) for word in text.split(","))


def _seed(text: str) -> int:
    if not (text.isdecimal() and len(text) < 19):
        raise argparse.ArgumentTypeError(f"expected a whole number of 0 or more, found {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 1e6:
        raise argparse.ArgumentTypeError(f"expected a number of seconds above 0, found {text!r}")
    return value
