"""`dlbc explain`: what was decided for every annotated loop, and on what that rests.

`describe` turns a loop's report into remarks (`remarks.py`), `file` collects those of a file. `show` prints
them for people and as JSON for tools, `page` writes them beside the source. Nothing is decided here, and no
user code runs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from dlbrt.contract import OptionError, nearest

from dlbc.commands import common
from dlbc.commands.explain.remarks import FAMILIES, RemarkFilter
from dlbc.commands.files import add_files, means_one, programs, show_unannotated
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.remark_codes import PARTS, REMARKS, RemarkKind

if TYPE_CHECKING:
    from dlbc.commands.explain.file import ExplainedFile


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
    parser.add_argument(
        "--remarks", metavar="KINDS", type=_kinds, default=frozenset(),
        help="show remarks of these kinds alone, a line each: passed, missed, analysis; several with commas",
    )  # fmt: skip
    parser.add_argument(
        "--only", metavar="WHAT", type=_only, action="append", default=[],
        help="show these remarks alone: a code, the beginning of codes (DLB65), or a part of the compiler "
        f"({', '.join(PARTS)}); several with commas",
    )  # fmt: skip
    parser.add_argument(
        "--unannotated", action="store_true",
        help="remarks on loops without an annotation too: that they could be parallel, or what is in the way",
    )  # fmt: skip
    parser.add_argument(
        "--html", action="store_true", help="write a page that shows the remarks beside the source"
    )
    parser.add_argument(
        "-o", dest="output", metavar="OUT",
        help="the page to write (default: FILE with .html for .py, explain.html for several files); "
        "- for standard output",
    )  # fmt: skip
    common.add_strict(parser)
    common.add_follow(parser)


def _kinds(text: str) -> frozenset[RemarkKind]:
    """The kinds of remarks of a list."""
    names = [kind.value for kind in RemarkKind]
    found = [part.strip() for part in text.split(",")]
    for part in found:
        if part not in names:
            hint = nearest(part, names)
            raise argparse.ArgumentTypeError(f"expected {', '.join(names)}, found {part!r}{hint}")
    return frozenset(map(RemarkKind, found))


def _only(text: str) -> list[str]:
    """Codes, beginnings of codes, and parts of the compiler."""
    codes, found = {*CATALOGUE, *REMARKS}, [part.strip() for part in text.split(",")]
    parts = {*PARTS, *FAMILIES.values()}
    for part in found:
        if part not in parts and not (part and any(code.startswith(part.upper()) for code in codes)):
            hint = nearest(part, sorted(parts | codes))
            raise argparse.ArgumentTypeError(
                f"expected a code, its beginning, or a part, found {part!r}{hint}"
            )
    return found


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.commands.explain.file import explain_file
    from dlbc.commands.explain.loop_numbers import NumberError, check_names
    from dlbc.commands.explain.ranks import read_ranks
    from dlbc.pipeline import TransformResult, explain, propose

    try:
        ranks = read_ranks(options.ranks, options.weights, options.settings, options.stats)
    except (OptionError, NumberError) as error:
        return common.print_error(error)
    if options.output is not None and not options.html:
        return common.print_error("-o: expected --html, which writes a file; found none")
    wanted = RemarkFilter(options.remarks, tuple(part for parts in options.only for part in parts))
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
            continue
        found = propose(source, search=search) if options.unannotated else None
        if result.diagnostics or result.reports or found is not None or not program.folder:
            explained.append((source, result, found))
    try:
        if ranks is not None:
            check_names(ranks.numbers, (r.loop for _, result, _ in explained for r in result.reports))
        files = [explain_file(source, result, ranks, found) for source, result, found in explained]
        if files:
            statuses.append(_show(files, options, wanted))
    except NumberError as error:
        return common.print_error(error)
    show_unannotated(options.files, annotated)
    return max(statuses)


def _show(files: Sequence[ExplainedFile], options: argparse.Namespace, wanted: RemarkFilter) -> int:
    """The exit status."""
    alone = means_one(options.files)
    if options.html:
        from dlbc.commands.explain.page import write_page

        return write_page(files, options.output, alone, wanted)
    if options.format == "json":
        from dlbc.commands.explain.show import object_of_file

        objects = [object_of_file(file, wanted) for file in files]
        common.show_text(json.dumps(objects[0] if alone else objects, indent=2))
    else:
        _show_text(files, wanted, alone)
    return 0


def _show_text(files: Sequence[ExplainedFile], wanted: RemarkFilter, alone: bool) -> None:
    from dlbc.commands.explain.show import as_lines, heading, text_of_file

    color = common.takes_colors(sys.stdout)
    if wanted.active:
        if lines := "\n".join(filter(None, (as_lines(file, wanted, color=color) for file in files))):
            common.show_text(lines)
        return
    texts = []
    for file in files:
        texts += [] if alone else [heading(file.source, file.result, color=color)]
        texts.append(text_of_file(file, color=color))
    common.show_text("\n\n".join(filter(None, texts)))
