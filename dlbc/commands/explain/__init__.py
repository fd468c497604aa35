"""`dlbc explain`: what was decided for every annotated loop, and on what that rests.

`describe` turns a loop's report into sections of short rows, `show` prints them for people, and as JSON for
tools. Nothing is decided here, and no user code runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dlbrt.contract import OptionError

from dlbc.commands import common
from dlbc.commands.files import add_files, means_one, programs, show_unannotated

if TYPE_CHECKING:
    from dlbc.commands.explain.ranks import RankSpec
    from dlbc.pipeline import TransformResult
    from dlbc.source import Source

    _Explained = tuple[Source, TransformResult]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_files(parser)
    parser.add_argument(
        "--format", choices=("full", "json"), default="full", help="full: for people (default)"
    )
    parser.add_argument(
        "-n",
        "--ranks",
        metavar="P",
        type=common.positive,
        help="estimate the efficiency of distributions on P ranks",
    )
    parser.add_argument("--weights", metavar="LIST", help="relative speeds of these ranks: 1,1.5")
    parser.add_argument(
        "--set", metavar="NAME=NUMBER", dest="settings", action="append", default=[],
        help="a number of the program for these estimates, such as n=1000 or 'len(A)=1000'; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--stats",
        metavar="FILE",
        help="statistics of a run on these ranks: what it measured, beside the estimates",
    )
    common.add_strict(parser)
    common.add_follow(parser)


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.explain.loop_numbers import NumberError, check_names
    from dlbc.commands.explain.ranks import read_ranks
    from dlbc.pipeline import TransformResult, explain

    try:
        ranks = read_ranks(options.ranks, options.weights, options.settings, options.stats)
    except (OptionError, NumberError) as error:
        return common.print_error(error)
    explained, annotated, statuses = [], [], [0]
    strict, search = options.strict, common.search_of(options)
    for program in programs(options.files, notebooks=True):
        source, problems = program.read(notebooks=True)
        result = (
            TransformResult(None, problems) if problems else explain(source, strict=strict, search=search)
        )
        annotated += [program] if program.is_annotated(source, result.diagnostics) else []
        result = replace(result, diagnostics=program.worth_saying(source, result.diagnostics))
        statuses.append(common.status_of(result.diagnostics))
        if problems:
            common.show_diagnostics(source, result.diagnostics)
        elif result.diagnostics or result.reports or not program.folder:
            explained.append((source, result))
    show = _show_json if options.format == "json" else _show_text
    try:
        if ranks is not None:
            check_names(ranks.numbers, (r.loop for _, result in explained for r in result.reports))
        if explained:
            show(explained, ranks, means_one(options.files))
    except NumberError as error:
        return common.print_error(error)
    show_unannotated(options.files, annotated)
    return max(statuses)


def _show_text(explained: Sequence[_Explained], ranks: RankSpec | None, alone: bool) -> None:
    from dlbc.commands.explain.show import as_text, heading

    color = common.takes_colors(sys.stdout)
    texts = []
    for source, result in explained:
        texts += [] if alone else [heading(source, result, color=color)]
        texts.append(as_text(source, result, color=color, ranks=ranks))
    common.show_text("\n\n".join(filter(None, texts)))


def _show_json(explained: Sequence[_Explained], ranks: RankSpec | None, alone: bool) -> None:
    from dlbc.commands.explain.show import as_object

    objects = [as_object(source, result, ranks=ranks) for source, result in explained]
    common.show_text(json.dumps(objects[0] if alone else objects, indent=2))
