"""What templates print: flat fields of text, with no decision left."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import wrap

import jinja2
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class PrologueContext:
    """Lines that start the runtime: imports as they follow ``import``, the session's name."""

    numpy_imports: tuple[str, ...]
    mpi_import: str
    mpi: str
    runtime_import: str
    runtime: str
    exported_imports: tuple[str, ...]
    dlb: str


@dataclass(frozen=True, slots=True)
class KernelContext:
    """One kernel.

    ``schedule``, ``reductions``, ``ordered``, ``accumulators``, ``accumulate``, ``keep`` and ``reduce`` hold
    one text or none, ``require`` a text for each condition, ``work`` the calls that speak of the work of
    iterations; ``turns`` is the call that gives the iterations, ``comment`` says which; ``unset`` are names
    to clear, as chains of targets.
    """

    head: str
    dlb: str
    schedule: tuple[str, ...]
    require: tuple[str, ...]
    work: tuple[str, ...]
    arrays: str
    reductions: tuple[str, ...]
    ordered: tuple[str, ...]
    accumulators: tuple[str, ...]
    unset: tuple[str, ...]
    turns: str
    comment: str
    accumulate: tuple[str, ...]
    keep: tuple[str, ...]
    reduce: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallContext:
    """One call; ``ahead`` are statements above it.

    Where more is read afterwards than the call returns: ``result`` is the name of what it returns then,
    ``items`` and ``check`` hold that name or none, ``perhaps`` and ``surely`` pair a variable with its key.
    """

    ahead: tuple[str, ...]
    call: str
    result: str
    items: tuple[str, ...]
    perhaps: tuple[tuple[str, str], ...]
    surely: tuple[tuple[str, str], ...]
    check: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineContext:
    """The block around a routine: its first line, and what the comment there says."""

    head: str
    place: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a call stands: the name that runs loops there, how many blocks further in than in the source.

    ``ahead`` is what rank 0 looks into before the loop.
    """

    session: str
    depth: int = 0
    ahead: tuple[str, ...] = ()


# ------------------------------------------------------------------------------
# Print the templates; a name that a template uses and its context lacks is an error.

_TEMPLATES = Path(__file__).parent.parent / "templates"


def render_prologue(context: PrologueContext) -> str:
    """The lines that start the runtime."""
    return _render("prologue.py.j2", context)


def render_kernel(context: KernelContext) -> str:
    """The kernel, with ``_`` for the targets and ``pass`` for the body."""
    return _render("kernel.py.j2", context)


def render_call(context: CallContext) -> str:
    """The statements in place of the loop, with ``_`` for the iterable and for the targets."""
    return _render("call.py.j2", context)


def render_routine(context: RoutineContext) -> str:
    """The block around a routine, with ``pass`` for its loop."""
    return _render("routine.py.j2", context)


def _render(name: str, context: PrologueContext | KernelContext | CallContext | RoutineContext) -> str:
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    return _environment().get_template(name).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


# ------------------------------------------------------------------------------
# How emitted text is broken into lines: one where it fits, else as `ruff format` would break it.

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
