"""How emitted text is broken into lines: one where it fits, else as `ruff format` would break it."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap

__all__ = ["INDENT", "WIDTH", "assigned", "called", "deeper", "on_lines", "quoted", "table", "work_called"]

#: The width of emitted code, and what stands before a line by blocks around it.
WIDTH = 100
INDENT = "    "


def called(start: str, items: Sequence[str], end: str, width: int, more: int = 0) -> str:
    """A call on one line, else its arguments on a line of their own, else each argument on one.

    As `ruff format` lays it out. ``more`` characters are added to the arguments later.
    """
    several = any("\n" in item for item in items)
    within = ", ".join(items)
    if not several and len(start) + len(within) + len(end) + more <= width:
        return start + within + end
    if not several and len(INDENT) + len(within) + more <= width:
        return f"{start}\n{INDENT}{within}\n{end}"
    return "\n".join([start, *(f"{INDENT}{item}," for item in items), end])


def assigned(targets: Sequence[str], start: str, items: Sequence[str], width: int, more: int = 0) -> str:
    """As `called`, of a call that is assigned to ``targets``."""
    joined = ", ".join(targets)
    if len(joined) + len(" = ") + len(start) <= width:
        return called(f"{joined} = {start}", items, ")", width, more)
    listed = called("(", targets, ") = ", 0)
    return listed + called(start, items, ")", width - len(") = "), more)


def deeper(text: str, depth: int) -> str:
    """The text as it stands ``depth`` blocks further in; its first line has its place already."""
    return text.replace("\n", "\n" + INDENT * depth)


def table(start: str, dealt: Sequence[str], rows: Sequence[tuple[str, str]]) -> str:
    """The array table on one line, or where that is too long one array on a line."""
    plain = [*dealt, *(f"{name}={entry}" for name, entry in rows if "." not in name)]
    dotted = [f'"{name}": {entry}' for name, entry in rows if "." in name]
    together = [*plain, "**{" + ", ".join(dotted) + "}"] if dotted else plain
    line = start + ", ".join(together) + ")"
    if len(INDENT) + len(line) <= WIDTH:
        return line
    items = [*plain, *("**{" + pair + "}" for pair in dotted)]
    return "\n".join([start, *(f"{INDENT}{INDENT}{item}," for item in items), INDENT + ")"])


def work_called(name: str, argument: Sequence[str], more: int) -> str:
    """A call of the session, whose name has ``more`` characters; a long argument has lines of its own."""
    line = f"{name}({''.join(argument)})"
    if len(INDENT) + more + 1 + len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *on_lines(argument, 2, WIDTH), INDENT + ")"])


def on_lines(argument: Sequence[str], depth: int, width: int) -> list[str]:
    """A long argument, given in parts, on lines as deep as said; what stands inside it lies deeper."""
    start, *inner, end = argument if len(argument) > 1 else ("", argument[0])
    within = [line for text in inner for line in _wrapped(text, depth + 1, width)]
    return [*_wrapped(start, depth, width), *within, *_wrapped(end, depth, width)]


def _wrapped(text: str, depth: int, width: int) -> list[str]:
    """The text on lines as deep as said, and those that go on deeper; with quotes in it, on one line."""
    indent = INDENT * depth
    if {"'", '"'} & set(text):
        return [indent + text.strip()]
    return wrap(
        text.strip(),
        width,
        initial_indent=indent,
        subsequent_indent=indent + INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )


def quoted(text: str) -> str:
    """The text as a literal in double quotes, as far as it has none."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown
