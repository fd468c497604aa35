"""`dlbc annotate`: which loops can be parallel, what they gain, and what is in the way of the rest.

`proposals` has the annotations, proved in the text that has them all; `worth` what a loop gains by them;
`obstacles` the one thing in the way of each other loop; `show` prints all of it. Nothing of a file runs, but
with `--profile`, for which `profile` starts the program in a process of its own (`measure`).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dlbc.commands import common
from dlbc.commands.files import STANDARD_INPUT, programs

if TYPE_CHECKING:
    from dlbc.commands.annotate.profile import ProgramProfile
    from dlbc.commands.annotate.proposals import FileProposals

#: Ranks for which gains are predicted, unless the user names a number.
_RANKS = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.description = (
        "Find the loops that are provably parallel and worth it, and show what is in the way of the others. "
        "Exit status: 1 if a program has errors or the profiled run fails, else 0."
    )
    parser.usage = "%(prog)s [options] FILE|DIR [FILE|DIR ...] [--profile [-- ARGS]]"
    parser.allow_abbrev = False
    parser.add_argument(
        "files", metavar="FILE|DIR", nargs="+",
        help="Python programs, directories with such programs, or - for standard input",
    )  # fmt: skip
    parser.add_argument(
        "-n", "--ranks", metavar="P", type=common.positive, default=_RANKS,
        help=f"predict gains on P ranks (default {_RANKS})",
    )  # fmt: skip
    parser.add_argument(
        "--set", metavar="NAME=NUMBER", dest="settings", action="append", default=[],
        help="a number of the program, such as n=1000 or 'len(A)=1000'; may be repeated",
    )  # fmt: skip
    action = parser.add_mutually_exclusive_group()
    action.add_argument("--diff", action="store_true", help="show the annotations as a patch")
    action.add_argument("--write", action="store_true", help="insert the annotations into the files")
    action.add_argument(
        "--format", choices=("full", "json"), default="full", help="full: for people (default)"
    )
    common.add_follow(parser)
    parser.add_argument(
        "--profile", action="store_true",
        help="run the first FILE, with the arguments after --, and measure its loops and those of the others",
    )  # fmt: skip


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.annotate.profile import ProfileError
    from dlbc.commands.annotate.proposals import find_proposals
    from dlbc.commands.annotate.show import as_object, as_text, assess, diff, write
    from dlbc.commands.explain.loop_numbers import NumberError, check_names, read_settings
    from dlbc.parse.find_modules import ModuleStore

    if options.arguments is not None and not options.profile:
        return common.print_error(
            "expected arguments after `--` with --profile alone, which runs the program"
        )
    search, status = replace(common.search_of(options), store=ModuleStore()), 0
    found: list[FileProposals] = []
    for program in programs(options.files, unannotated=True):
        source, problems = program.read()
        proposals = None if problems else find_proposals(source, search)
        said = problems or (() if proposals is None else proposals.diagnostics)
        status = max(status, common.show_diagnostics(source, program.worth_saying(source, said)))
        if proposals is not None and not proposals.diagnostics:
            found.append(proposals)
    try:
        numbers = read_settings(options.settings)
        if loops := [loop for each in found for loop in each.loops]:
            check_names(numbers, loops)
        profile = _profile(options, found) if options.profile and found else None
        assessed = [assess(each, options.ranks, numbers, profile) for each in found]
    except NumberError as error:
        return common.print_error(error)
    except ProfileError as error:
        common.print_error(error)
        return 1
    if options.diff:
        common.show_text("".join(map(diff, assessed)).rstrip("\n"))
    elif options.format == "json":
        common.show_text(json.dumps([as_object(each) for each in assessed], indent=2))
    else:
        color = common.takes_colors(sys.stdout)
        common.show_text("\n\n".join(as_text(each, color=color) for each in assessed))
        if options.write:
            write(assessed)
    return status


def _profile(options: argparse.Namespace, found: Sequence[FileProposals]) -> ProgramProfile:
    from dlbc.commands.annotate.profile import ProfileError, run_profile
    from dlbc.commands.annotate.show import lines_to_time

    program = options.files[0]
    if program == STANDARD_INPUT or not Path(program).is_file():
        raise ProfileError(f"--profile: expected a program to run as the first FILE; found {program}")
    lines = {each.source.path: lines_to_time(each) for each in found}
    return run_profile(program, options.arguments or (), lines)
