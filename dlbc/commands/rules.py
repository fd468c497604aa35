"""`dlbc rules`: the codes of diagnostics and remarks with what they mean, or one of them with an example.

Braces in a message mark what each diagnostic fills in. What stands under an example is what dlbc says of it
at that moment; the example itself does not run.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import resources
from pathlib import Path
from textwrap import indent
from typing import TYPE_CHECKING, Any

from dlbrt.contract import nearest
from dlbrt.records import dataclass

from dlbc.commands.common import show_text, takes_colors
from dlbc.commands.verdicts import REMARK_STYLES
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import Diagnostic, TextStyle, has_errors, paint, render
from dlbc.diagnostics.remark_codes import REMARKS
from dlbc.diagnostics.titles import TITLES

if TYPE_CHECKING:
    from dlbc.source import Source


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code, such as DLB301")


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    color = takes_colors(sys.stdout)
    if options.code is None:
        show_text(list_rules(color=color))
        return 0
    text = show_rule(options.code, color=color) or show_rule(options.code.upper(), color=color)
    if text is None:
        print(unknown_rule(options.code), file=sys.stderr)
        return 2
    show_text(text)
    return 0


#: The examples beside the catalogue, by code. They are the tests' own, written there by
#: `python -m tests.support.document`.
EXAMPLES = "examples.json"

#: Lines of a program, and of what dlbc says of it, are cut where they are shown if they are longer.
_WIDEST, _WIDEST_SAID = 200, 600

#: For remarks on ranks, the examples are explained for this number of them.
RANKS = 4


@dataclass(frozen=True, slots=True)
class Example:
    """A ``program`` that has the code, under `--strict` if ``strict``; or the ``command`` that brings it.

    ``mended``: the program without what the code is about, where that can be shown.
    """

    program: str = ""
    strict: bool = False
    mended: str = ""
    command: str = ""


def examples() -> dict[str, Example]:
    """The examples by code."""
    file = resources.files("dlbc.diagnostics").joinpath(EXAMPLES)
    found: dict[str, dict[str, Any]] = json.loads(file.read_text(encoding="utf-8"))
    return {code: Example(**fields) for code, fields in found.items()}


def list_rules(*, color: bool = False) -> str:
    """A line for each code, in order."""
    rows = [
        (code, e.severity.value, TextStyle[e.severity.name], TITLES[code]) for code, e in CATALOGUE.items()
    ]
    rows += [(code, r.kind.value, REMARK_STYLES[r.kind], r.title) for code, r in REMARKS.items()]
    width = max(len(word) for _, word, _, _ in rows)
    return "\n".join(f"{code}  {paint(f'{word:<{width}}', style, color)}  {title}"
                     for code, word, style, title in sorted(rows, key=lambda row: row[0]))  # fmt: skip


def show_rule(code: str, *, color: bool = False) -> str | None:
    """All that is known of a code, its example and what dlbc says of that; None if there is no such code."""
    if code in REMARKS:
        remark = REMARKS[code]
        word = paint(remark.kind.value, REMARK_STYLES[remark.kind], color)
        lines = [f"{code}: {word} ({remark.part})", f"  {remark.title}"]
    elif code in CATALOGUE:
        entry = CATALOGUE[code]
        lines = [f"{code}: {paint(entry.severity.value, TextStyle[entry.severity.name], color)}"]
        lines += [f"  {entry.message}", *(f"  help: {text}" for text in entry.helps)]
    else:
        return None
    example = examples().get(code)
    return "\n".join([*lines, *(_shown(code, example, color) if example is not None else ())])


def _shown(code: str, example: Example, color: bool) -> Iterator[str]:
    if example.command:
        yield from ("  example:", _block(example.command))
        return
    yield from ("  example, with --strict:" if example.strict else "  example:", _block(example.program))
    said = list(remarks_on(code, example) if code in REMARKS else findings_on(code, example, color))
    yield from ("  dlbc says:", *(_block(text, _WIDEST_SAID) for text in said))
    if example.mended and not has_errors(check_example(example.mended, example.strict)[1]):
        yield from ("  mended, and checked:", _block(example.mended))


def _block(text: str, widest: int = _WIDEST) -> str:
    return indent(shortened(text, widest).rstrip("\n"), "      ")


def shortened(text: str, widest: int = _WIDEST) -> str:
    """The text with what is too long of its lines left out."""
    lines = text.split("\n")
    return "\n".join(line if len(line) <= widest else f"{line[: widest // 2]} ..." for line in lines)


def findings_on(code: str, example: Example, color: bool = False) -> Iterator[str]:
    """The diagnostics with the code that the program of an example has, as they are shown."""
    source, found = check_example(example.program, example.strict)
    yield from (render(each, source, color=color) for each in found if each.code == code)


def check_example(program: str, strict: bool = False) -> tuple[Source, tuple[Diagnostic, ...]]:
    """The program as a source, and the diagnostics of `dlbc check` on it."""
    from dlbc.pipeline import check

    with _alone(program) as source:
        return replace(source, path=PROGRAM), check(source, strict=strict)


def remarks_on(code: str, example: Example) -> Iterator[str]:
    """The remarks with the code that `dlbc explain` makes on the program of an example, as they are shown."""
    from dlbc.commands.explain.file import explain_file
    from dlbc.commands.explain.ranks import RankSpec
    from dlbc.commands.explain.show import line_of
    from dlbc.pipeline import explain, propose

    with _alone(example.program) as source:
        ranks = RankSpec(RANKS) if REMARKS[code].part == "ranks" else None
        proposed = propose(source) if REMARKS[code].part == "annotate" else None
        file = explain_file(source, explain(source), ranks, proposed)
    shown = replace(source, path=PROGRAM)
    yield from (line_of(shown, each, color=False) for each in file.remarks if each.code == code)


#: The name under which examples are shown.
PROGRAM = "program.py"


@contextmanager
def _alone(program: str) -> Iterator[Source]:
    """A program in an empty directory, so that no module of the user's is taken for one of its own."""
    from dlbc.source import Source

    with tempfile.TemporaryDirectory() as directory:
        yield Source(str(Path(directory, PROGRAM)), program.encode(), program)


def unknown_rule(code: str) -> str:
    """The message for a code that does not exist."""
    return f"dlbc rules: there is no code {code}{nearest(code.upper(), CATALOGUE | REMARKS, cutoff=0.8)}"
