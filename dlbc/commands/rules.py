"""`dlbc rules`: the codes of diagnostics, or one of them."""

from __future__ import annotations

import argparse
import sys

from dlbc.commands.show import show_text, takes_colors

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("code", metavar="CODE", nargs="?", help="a code, such as DLB301")


def run(options: argparse.Namespace) -> int:
    """The exit status."""
    from dlbc.rules import list_rules, show_rule, unknown_rule

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
