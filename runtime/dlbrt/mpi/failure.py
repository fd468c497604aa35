"""Exceptions of the loop body, carried between ranks and raised as the sequential program raises them.

Type, message, attributes and chained causes travel; the traceback travels as file, line and function,
and is rebuilt where the exception is raised, in terms of the original source.
"""

from __future__ import annotations

import os
import sys
import traceback
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import cloudpickle

from dlbrt.observe.linemap import Frame, original

__all__ = ["Failure", "capture", "install_hook", "revive"]

_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: A longer chain of causes is cut here.
_DEEPEST_CHAIN = 10


@dataclass(frozen=True, slots=True)
class _Portable:
    """An exception taken apart."""

    kind: type[BaseException]
    args: tuple[Any, ...]
    members: dict[str, Any]
    attributes: dict[str, Any]
    frames: tuple[Frame, ...]
    cause: _Portable | None
    context: _Portable | None
    suppress_context: bool


@dataclass(frozen=True, slots=True)
class Failure:
    """The body's exception at iteration ``position``, met by ``rank``: itself there, ``data`` elsewhere."""

    position: int
    rank: int
    error: BaseException | None
    data: bytes = b""


def capture(failure: Failure) -> Failure:
    """The failure in a form that can leave this rank, its traceback without the runtime's frames."""
    assert failure.error is not None
    portable = _portable(failure.error, _DEEPEST_CHAIN)
    try:
        data = cloudpickle.dumps(portable)
    except Exception:  # the pickler raises whatever the objects' own hooks raise
        text = f"{type(failure.error).__qualname__}: {failure.error}"
        data = cloudpickle.dumps(_Portable(RuntimeError, (text,), {}, {}, portable.frames, None, None, True))
    return Failure(failure.position, failure.rank, None, data)


def revive(failure: Failure) -> BaseException:
    """The exception, with a traceback that names files and lines of the original source."""
    if failure.error is None:
        return _revived(cloudpickle.loads(failure.data))
    tb = _rebuilt(map(original, _frames(failure.error.__traceback__)))
    return failure.error.with_traceback(tb)


def install_hook() -> None:
    """Have uncaught exceptions shown in terms of the original source."""
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, tb: types.TracebackType | None) -> None:
        try:
            _translate(error, _DEEPEST_CHAIN)
        except Exception:  # whatever goes wrong here must not hide the program's own error
            previous(kind, error, tb)
            return
        if previous is sys.__excepthook__:
            traceback.print_exception(error)
        else:
            previous(kind, error, error.__traceback__)

    sys.excepthook = hook


def _portable(error: BaseException, depth: int) -> _Portable:
    cause, context = error.__cause__, error.__context__
    return _Portable(
        type(error),
        error.args,
        dict(_members(error)),
        dict(getattr(error, "__dict__", {})),
        _frames(error.__traceback__),
        _portable(cause, depth - 1) if cause is not None and depth else None,
        _portable(context, depth - 1) if context is not None and context is not cause and depth else None,
        error.__suppress_context__,
    )


def _members(error: BaseException) -> Iterator[tuple[str, Any]]:
    """Attributes that live in slots (``OSError.errno``, ``SystemExit.code``), those that are set."""
    for base in type(error).__mro__[:-1]:
        for name, descriptor in vars(base).items():
            slot = isinstance(descriptor, types.MemberDescriptorType | types.GetSetDescriptorType)
            if slot and not name.startswith("__") and name not in ("args", "obj"):
                value = getattr(error, name, None)
                if value is not None:
                    yield name, value


def _revived(portable: _Portable) -> BaseException:
    try:
        error = portable.kind.__new__(portable.kind, *portable.args)
    except TypeError:
        error = portable.kind.__new__(portable.kind)
    error.args = portable.args
    for name, value in portable.members.items():
        try:
            setattr(error, name, value)
        except (AttributeError, TypeError):
            continue  # read-only here: it was computed from the arguments
    if portable.attributes:
        error.__dict__.update(portable.attributes)
    error.__cause__ = _revived(portable.cause) if portable.cause else None
    if portable.context:
        error.__context__ = _revived(portable.context)
    error.__suppress_context__ = portable.suppress_context
    return error.with_traceback(_rebuilt(map(original, portable.frames)))


def _frames(tb: types.TracebackType | None) -> tuple[Frame, ...]:
    entries = []
    while tb is not None:
        code = tb.tb_frame.f_code
        if not os.path.abspath(code.co_filename).startswith(_RUNTIME):
            entries.append(Frame(code.co_filename, tb.tb_lineno, code.co_name))
        tb = tb.tb_next
    return tuple(entries)


def _rebuilt(frames: Iterable[Frame]) -> types.TracebackType | None:
    tb = None
    for frame in reversed(list(frames)):
        # Instruction -1: no column information, since none of the original's is known.
        tb = types.TracebackType(tb, _frame_at(frame), -1, frame.line)
    return tb


def _frame_at(frame: Frame) -> types.FrameType:
    """A real frame that says it stands at that line of that file."""
    code = compile("here()", frame.filename, "exec")
    code = code.replace(co_name=frame.name, co_qualname=frame.name, co_firstlineno=frame.line)
    found: list[types.FrameType] = []
    exec(code, {"here": lambda: found.append(sys._getframe(1))})
    return found[0]


def _translate(error: BaseException, depth: int) -> None:
    error.__traceback__ = _rebuilt(map(original, _frames(error.__traceback__)))
    for linked in (error.__cause__, error.__context__):
        if linked is not None and depth:
            _translate(linked, depth - 1)
