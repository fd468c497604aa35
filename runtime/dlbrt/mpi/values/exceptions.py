"""Exceptions between ranks: those that end a loop, and those that the program keeps.

Type, arguments, attributes and chained causes are sent; the traceback is sent as file, line, columns and
function, and is rebuilt on arrival, in terms of the original source. An exception's own pickling keeps none
of the causes and calls ``__init__`` with ``args``, which fails for many user-defined ones.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import linecache
import os
import sys
import types
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from dlbrt.observe.linemap import Columns, Frame, calls_loop, original

#: Where the runtime lies, whose frames are not the program's.
RUNTIME = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep
_SCRIPT = RUNTIME + "script.py"
_NOTHING: Mapping[str, Any] = {}


def of_exception(
    error: BaseException, args: tuple[Any, ...] | None = None, state: dict[str, Any] | None = None
) -> tuple[Any, ...]:
    """The reduction (as ``__reduce__``) of an exception, with other arguments and attributes where given."""
    args = error.args if args is None else args
    state = attributes(error) if state is None else state
    links = (error.__cause__, error.__context__, error.__suppress_context__)
    return _blank, (type(error), args), (state, links, frames(error.__traceback__)), None, None, _restore


def attributes(error: BaseException) -> dict[str, Any]:
    """The attributes of an exception by name, also those that live in slots."""
    return dict(_members(error)) | dict(getattr(error, "__dict__", {}))


def _members(error: BaseException) -> Iterator[tuple[str, Any]]:
    """Attributes that live in slots (``OSError.errno``, ``SystemExit.code``), those that are set."""
    for base in type(error).__mro__[:-1]:
        for name, descriptor in vars(base).items():
            slot = isinstance(descriptor, types.MemberDescriptorType | types.GetSetDescriptorType)
            if slot and not name.startswith("__") and name != "args":
                with contextlib.suppress(AttributeError):
                    yield name, getattr(error, name)


def _blank(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An exception without the call of its ``__init__``."""
    for arguments in (args, ()):
        with contextlib.suppress(Exception):
            error = kind.__new__(kind, *arguments)
            error.args = args
            return error
    error = BaseException.__new__(kind)
    error.args = args
    return error


def _restore(error: BaseException, state: tuple[dict[str, Any], tuple[Any, ...], tuple[Frame, ...]]) -> None:
    attributes, (cause, context, suppressed), frames = state
    for name, value in attributes.items():
        if value is None and getattr(error, name, error) is None:
            continue  # some types distinguish members that were set to None from those never set
        try:
            BaseException.__setattr__(error, name, value)
        except (AttributeError, TypeError):
            continue  # read-only: it was computed from the arguments
    error.__cause__, error.__context__, error.__suppress_context__ = cause, context, suppressed
    error.__traceback__ = rebuilt(frames)


def frames(tb: types.TracebackType | None) -> tuple[Frame, ...]:
    """The frames of a traceback that are the program's, the outermost first.

    Equal ones are one object: a recursion leaves thousands.
    """
    entries: list[Frame] = []
    known: dict[tuple[types.CodeType, int, int | None], tuple[str, Frame]] = {}
    while tb is not None:
        code = tb.tb_frame.f_code
        place = code, tb.tb_lasti, tb.tb_lineno
        if place not in known:
            frame = Frame(code.co_filename, tb.tb_lineno or 1, code.co_name, _columns(tb))
            known[place] = os.path.abspath(code.co_filename), frame
        path, frame = known[place]
        if path == _SCRIPT:
            entries.clear()  # the frames of `dlbc run` are not part of the program
        elif not path.startswith(RUNTIME):
            entries.append(frame)
        tb = tb.tb_next
    return tuple(entries)


def _columns(tb: types.TracebackType) -> Columns | None:
    """The place of the expression that was being evaluated, from the code object."""
    if tb.tb_lasti < 0:
        return None
    positions = tb.tb_frame.f_code.co_positions()
    line, last, first, end = next(itertools.islice(positions, tb.tb_lasti // 2, None), (None,) * 4)
    if line != tb.tb_lineno or last is None or first is None or end is None:
        return None
    if (last, end) < (line, first):
        return None  # not made by Python's own compiler
    return Columns(last, first, end)


def rebuilt(frames: Sequence[Frame], known: Mapping[str, Any] = _NOTHING) -> types.TracebackType | None:
    """A traceback in terms of the original source, in which a kernel is not a function of its own.

    ``known`` are the globals of its innermost frame.
    """
    tb, inner = None, None
    places = {frame: (original(frame), calls_loop(frame)) for frame in dict.fromkeys(frames)}
    made: dict[Frame, tuple[types.FrameType, int]] = {}
    for frame in reversed(frames):
        place, is_call = places[frame]
        if place is None or (is_call and inner == (place.filename, place.name)):
            continue
        if tb is None:
            tb = types.TracebackType(tb, *_frame_at(place, known), place.line)
        else:
            if place not in made:
                made[place] = _frame_at(place, _NOTHING)
            tb = types.TracebackType(tb, *made[place], place.line)
        inner = place.filename, place.name
    return tb


def _frame_at(frame: Frame, known: Mapping[str, Any]) -> tuple[types.FrameType, int]:
    """A real frame that reports that line of that file, and its instruction; ``known`` are its globals."""
    tree = ast.parse("here()")
    columns = frame.columns or _whole_line(frame)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno, node.end_lineno = frame.line, columns.last_line
            node.col_offset, node.end_col_offset = columns.first, columns.end
    code = compile(tree, frame.filename, "exec").replace(co_name=frame.name, co_qualname=frame.name)
    found: list[tuple[types.FrameType, int]] = []

    def here() -> None:
        caller = sys._getframe(1)
        found.append((caller, caller.f_lasti))

    exec(code, {**known, "here": here})
    return found[0]


def _whole_line(frame: Frame) -> Columns:
    """The columns of all text on a line: Python marks none of it."""
    text = linecache.getline(frame.filename, frame.line).rstrip()
    return Columns(frame.line, len(text) - len(text.lstrip()), len(text.encode()))
