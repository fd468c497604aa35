"""`dlbc rules`: the codes of diagnostics with what they mean, or one with its message, help and an example.

Braces in a message mark what each diagnostic fills in.
"""

from __future__ import annotations

import argparse
import json
import sys
from importlib import resources
from textwrap import indent

from dlbrt.contract import nearest

from dlbc.commands.common import show_text, takes_colors
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import TextStyle, paint
from dlbc.diagnostics.titles import TITLES


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code, such as DLB301")


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    color = takes_colors(sys.stdout)
    if options.code is None:
        show_text(list_rules(color=color))
        return 0
    text = show_rule(options.code, color=color)
    if text is None:
        print(unknown_rule(options.code), file=sys.stderr)
        return 2
    show_text(text)
    return 0


#: The examples beside the catalogue: code -> program or command. They are the tests' own, written there by
#: `python -m tests.support.document`.
EXAMPLES = "examples.json"


def list_rules(*, color: bool = False) -> str:
    """A line for each code, in order."""
    width = max(len(entry.severity.value) for entry in CATALOGUE.values())
    lines = []
    for code in sorted(CATALOGUE):
        entry = CATALOGUE[code]
        severity = paint(f"{entry.severity.value:<{width}}", TextStyle[entry.severity.name], color)
        lines.append(f"{code}  {severity}  {TITLES[code]}")
    return "\n".join(lines)


def show_rule(code: str, *, color: bool = False) -> str | None:
    """Everything known of a code; None if there is no such code."""
    entry = CATALOGUE.get(code)
    if entry is None:
        return None
    severity = paint(entry.severity.value, TextStyle[entry.severity.name], color)
    lines = [f"{code}: {severity}", f"  {entry.message}"]
    lines += [f"  help: {text}" for text in entry.helps]
    file = resources.files("dlbc.diagnostics").joinpath(EXAMPLES)
    if example := json.loads(file.read_text(encoding="utf-8")).get(code):
        lines += ["  example:", indent(example.rstrip("\n"), "      ")]
    return "\n".join(lines)


def unknown_rule(code: str) -> str:
    """The message for a code that does not exist."""
    return f"dlbc rules: there is no code {code}{nearest(code.upper(), CATALOGUE, cutoff=0.8)}"
