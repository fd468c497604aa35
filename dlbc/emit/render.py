"""Templates with their contexts, flat fields of text that leave no decision, and how emitted text is broken.

A name that a template uses and its context lacks is an error. Text stands on one line if it fits, and is
otherwise broken as `ruff format` would.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from textwrap import TextWrapper
from typing import ClassVar

import jinja2
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class PrologueContext:
    """Lines that start the runtime: imports as they follow ``import``, the session's name."""

    template: ClassVar = "prologue.py.j2"
    numpy_imports: tuple[str, ...]
    mpi_import: str
    mpi: str
    runtime_import: str
    runtime: str
    exported_imports: tuple[str, ...]
    dlb: str


@dataclass(frozen=True, slots=True)
class KernelContext:
    """A kernel, with ``_`` for the targets and ``pass`` for the body.

    ``schedule``, ``items``, ``reductions``, ``ordered``, ``accumulators``, ``accumulate``, ``keep`` and
    ``reduce`` hold one text or none, so does ``watch``; ``require`` has a text for each condition, ``work``
    the calls that state the work of iterations. ``compiled`` has the call that compiles chunks,
    ``computed`` the statement that runs them, or none. ``turns`` is the call that gives the iterations,
    ``comment`` describes them. ``unset`` are the names to clear, as chains of targets; ``unbound`` are
    those that may have no value, ``unbound_compiled`` those among them that compiled chunks take.
    """

    template: ClassVar = "kernel.py.j2"
    head: str
    dlb: str
    unbound: tuple[str, ...]
    unbound_compiled: tuple[str, ...]
    schedule: tuple[str, ...]
    require: tuple[str, ...]
    work: tuple[str, ...]
    watch: tuple[str, ...]
    seeded: tuple[str, ...]
    arrays: str
    items: tuple[str, ...]
    reductions: tuple[str, ...]
    ordered: tuple[str, ...]
    accumulators: tuple[str, ...]
    unset: tuple[str, ...]
    compiled: tuple[str, ...]
    computed: tuple[str, ...]
    turns: str
    comment: str
    accumulate: tuple[str, ...]
    keep: tuple[str, ...]
    reduce: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CallContext:
    """The statements in place of a loop, with ``_`` for its iterable and targets; ``ahead`` precede the call.

    If the program reads more afterwards than `dlb.run` returns, the call returns a LoopResult, named
    ``result``. ``items``, ``check`` and ``forget`` hold that name or none, ``perhaps`` and ``surely`` pair a
    variable with its key.
    """

    template: ClassVar = "call.py.j2"
    ahead: tuple[str, ...]
    call: str
    result: str
    items: tuple[str, ...]
    perhaps: tuple[tuple[str, str], ...]
    surely: tuple[tuple[str, str], ...]
    check: tuple[str, ...]
    forget: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RoutineContext:
    """The block around a routine, with ``pass`` for its loop: its first line, and the comment there."""

    template: ClassVar = "routine.py.j2"
    head: str
    place: str


@dataclass(frozen=True, slots=True)
class AheadContext:
    """The function that goes through passes of a routine, with ``pass`` for its loop: its first line."""

    template: ClassVar = "ahead.py.j2"
    head: str


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a call stands: the name that runs loops there, and how many blocks deeper than in the source.

    ``ahead`` are the expressions that rank 0 reads before the loop.
    """

    session: str
    depth: int = 0
    ahead: tuple[str, ...] = ()


def render(context: PrologueContext | KernelContext | CallContext | RoutineContext | AheadContext) -> str:
    """The text of the context's template."""
    values = {field.name: getattr(context, field.name) for field in fields(context)}
    return _environment().get_template(context.template).render(values)


@functools.cache
def _environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(Path(__file__).parent.parent / "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


#: The width of emitted code, and the indentation of a block.
WIDTH = 100
INDENT = "    "


def called(start: str, items: Sequence[str], end: str, width: int, more: int = 0) -> str:
    """A call on one line, else its arguments on a line of their own, else each argument on its own line.

    As `ruff format` lays it out. ``more`` is the number of characters added to the arguments later.
    """
    several = any("\n" in item for item in items)
    within = ", ".join(items)
    if not several and len(start) + len(within) + len(end) + more <= width:
        return start + within + end
    if not several and len(INDENT) + len(within) + more <= width:
        return f"{start}\n{INDENT}{within}\n{end}"
    return "\n".join([start, *(f"{INDENT}{item}," for item in items), end])


def assigned(targets: Sequence[str], start: str, items: Sequence[str], width: int, more: int = 0) -> str:
    """As `called`, for a call that is assigned to ``targets``."""
    joined = ", ".join(targets)
    if len(joined) + len(" = ") + len(start) <= width:
        return called(f"{joined} = {start}", items, ")", width, more)
    listed = called("(", targets, ") = ", 0)
    return listed + called(start, items, ")", width - len(") = "), more)


def deeper(text: str, depth: int) -> str:
    """The text indented by ``depth`` more blocks, except for its first line."""
    return text.replace("\n", "\n" + INDENT * depth)


def table(start: str, dealt: Sequence[str], rows: Sequence[tuple[str, str]]) -> str:
    """A call with a row for each name on one line, or if that is too long, each row on its own line.

    Access paths are no keywords: they come last, in a dictionary. A row without a name is an argument.
    """
    named = [(name, entry) for name, entry in rows if not name or name.isidentifier()]
    plain = [*dealt, *(f"{name}={entry}" if name else entry for name, entry in named)]
    dotted = [f"{quoted(name)}: {entry}" for name, entry in rows if name and not name.isidentifier()]
    together = [*plain, "**{" + ", ".join(dotted) + "}"] if dotted else plain
    line = start + ", ".join(together) + ")"
    if len(INDENT) + len(line) <= WIDTH:
        return line
    items = [*plain, *("**{" + pair + "}" for pair in dotted)]
    return "\n".join([start, *(f"{INDENT}{INDENT}{item}," for item in items), INDENT + ")"])


def work_called(name: str, argument: Sequence[str], more: int) -> str:
    """A call of a method of the session, whose name has ``more`` characters; a long argument is broken."""
    line = f"{name}({''.join(argument)})"
    if len(INDENT) + more + 1 + len(line) <= WIDTH:
        return line
    return "\n".join([f"{name}(", *on_lines(argument, 2, WIDTH), INDENT + ")"])


def on_lines(argument: Sequence[str], depth: int, width: int) -> list[str]:
    """A long argument, given in parts, broken into lines ``depth`` blocks deep; inner parts stand deeper."""
    start, *inner, end = argument if len(argument) > 1 else ("", argument[0])
    within = [line for text in inner for line in _wrapped(text, depth + 1, width)]
    return [*_wrapped(start, depth, width), *within, *_wrapped(end, depth, width)]


def _wrapped(text: str, depth: int, width: int) -> list[str]:
    """The text on lines ``depth`` blocks deep, continued one block deeper; with quotes in it, on one line."""
    indent = INDENT * depth
    if {"'", '"'} & set(text):
        return [indent + text.strip()]
    wrapper = TextWrapper(width, indent, indent + INDENT, break_long_words=False, break_on_hyphens=False)
    return wrapper.wrap(text.strip())


def quoted(text: str) -> str:
    """The text as a literal, in double quotes unless it contains one."""
    shown = repr(text)
    return f'"{shown[1:-1]}"' if shown[0] == "'" and '"' not in shown else shown
