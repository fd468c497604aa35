"""Exceptions of the loop body, sent between ranks and raised as the sequential program raises them.

Type, message, attributes and chained causes are sent; the traceback is sent as file, line, columns and
function, and is rebuilt where the exception is raised, in terms of the original source. A note says which
iteration failed on which rank: the sequential program shows neither, and on several ranks it is the first
question.
"""

from __future__ import annotations

import ast
import contextlib
import dis
import itertools
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NoReturn

from dlbrt.data.space import Space
from dlbrt.mpi.values.objects import SharedObjects, WorkerObjects
from dlbrt.observe.linemap import Columns, Frame, calls_loop, original
from dlbrt.records import dataclass

_RUNTIME = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SCRIPT = _RUNTIME + "script.py"
#: Exceptions of a chain of causes that are translated.
_DEEPEST_CHAIN = 10


@dataclass(frozen=True, slots=True)
class Failure:
    """The body's exception at iteration ``position``: ``error`` on its own ``rank``, elsewhere ``data``."""

    position: int
    rank: int
    error: BaseException | None
    data: bytes = b""


def capture(failure: Failure, objects: WorkerObjects) -> Failure:
    """The failure in a form that can leave this rank, its traceback without the runtime's frames.

    Only values that cannot leave the rank (an open file among the attributes) are left behind.
    """
    assert failure.error is not None
    attempts: tuple[Callable[[], bytes], ...] = (
        lambda: _Writer(objects).bytes(failure.error),
        lambda: _Writer(objects, careful=True).bytes(failure.error),
    )
    for attempt in attempts:
        try:
            data = attempt()
            objects.unpack(data, failure.rank)  # a pickle that cannot be read is found here, not at rank 0
        except Exception:  # objects' own pickling hooks may raise anything
            continue
        return Failure(failure.position, failure.rank, None, data)
    error = RuntimeError(f"{type(failure.error).__qualname__}: {failure.error}")
    error.__traceback__ = failure.error.__traceback__
    return Failure(failure.position, failure.rank, None, _Writer(objects).bytes(error))


def raise_as_in_body(failure: Failure, objects: SharedObjects, note: str = "") -> NoReturn:
    """Raise the exception with ``note``; its traceback is that of the original source, its context kept."""
    handled = sys.exception()
    if failure.error is None:
        error: BaseException = objects.unpack(failure.data, failure.rank)
    else:
        tb = _rebuilt(_frames(failure.error.__traceback__))
        error = failure.error.with_traceback(tb)
    context = error.__context__
    _add_note(error, note)
    try:
        raise error
    finally:
        if context is not None:
            error.__context__ = context
            _end_of_chain(context, handled)


def _add_note(error: BaseException, note: str) -> None:
    """Add a note once; an exception that accepts none stays without."""
    with contextlib.suppress(Exception):  # its class may refuse attributes in any way
        if note and note not in getattr(error, "__notes__", ()):
            error.add_note(note)


def _end_of_chain(error: BaseException, handled: BaseException | None) -> None:
    """Append the exception that was being handled at the loop to a chain of contexts."""
    seen: set[int] = set()
    while error is not handled and id(error) not in seen:
        seen.add(id(error))
        if error.__context__ is None:
            error.__context__ = handled
            return
        error = error.__context__


def install_hook() -> None:
    """Show uncaught exceptions in terms of the original source."""
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


class _Writer:
    """Pickles exceptions, chained and grouped ones too, as type, arguments, attributes and frames.

    Exceptions' own pickling calls ``__init__`` with ``args``, which fails for many user-defined ones.
    ``careful``: values that cannot leave this rank are replaced (arguments) or left out (attributes).
    """

    def __init__(self, objects: WorkerObjects, *, careful: bool = False) -> None:
        self._objects = objects
        self._careful = careful

    def bytes(self, value: Any) -> bytes:
        """The pickle of a value."""
        return self._objects.pack(value, 0, numbered=False, taken_apart=self._apart)

    def _apart(self, error: Any) -> tuple[Any, ...] | None:
        if not isinstance(error, BaseException):
            return None
        state = dict(_members(error)) | dict(getattr(error, "__dict__", {}))
        args = error.args
        if self._careful:
            state = {name: value for name, value in state.items() if self._leaves(value)}
            args = tuple(value if self._leaves(value) else _Left(repr(value), str(value)) for value in args)
        links = (error.__cause__, error.__context__, error.__suppress_context__)
        return _blank, (type(error), args), (state, links, _frames(error.__traceback__)), None, None, _restore

    def _leaves(self, value: Any) -> bool:
        try:
            self._objects.unpack(self.bytes(value), self._objects.rank)
        except Exception:  # objects' own pickling hooks may raise anything
            return False
        return True


class _Left:
    """Stands for an argument of an exception that could not leave the rank where it was raised."""

    def __init__(self, shown: str, text: str) -> None:
        self._shown, self._text = shown, text

    def __repr__(self) -> str:
        return self._shown

    def __str__(self) -> str:
        return self._text


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
    error.__traceback__ = _rebuilt(frames)


def _frames(tb: types.TracebackType | None) -> tuple[Frame, ...]:
    entries: list[Frame] = []
    while tb is not None:
        code = tb.tb_frame.f_code
        path = os.path.abspath(code.co_filename)
        if path == _SCRIPT:
            entries.clear()  # the frames of `dlbc run` are not part of the program
        elif not path.startswith(_RUNTIME):
            entries.append(Frame(code.co_filename, tb.tb_lineno or 1, code.co_name, _columns(tb)))
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


def _rebuilt(frames: Sequence[Frame]) -> types.TracebackType | None:
    """A traceback in terms of the original source, in which a kernel is not a function of its own."""
    tb, inner = None, None
    for frame in reversed(frames):
        place = original(frame)
        if place is None or (calls_loop(frame) and inner == (place.filename, place.name)):
            continue
        tb = types.TracebackType(tb, *_frame_at(place), place.line)
        inner = place.filename, place.name
    return tb


def _frame_at(frame: Frame) -> tuple[types.FrameType, int]:
    """A real frame that reports that line of that file, and its instruction (-1: no column information)."""
    tree = ast.parse("here()")
    columns = frame.columns or Columns(frame.line, 0, 0)
    for node in ast.walk(tree):
        if isinstance(node, ast.expr | ast.stmt):
            node.lineno, node.end_lineno = frame.line, columns.last_line
            node.col_offset, node.end_col_offset = columns.first, columns.end
    code = compile(tree, frame.filename, "exec").replace(co_name=frame.name, co_qualname=frame.name)
    found: list[tuple[types.FrameType, int]] = []

    def here() -> None:
        caller = sys._getframe(1)
        found.append((caller, caller.f_lasti if frame.columns else -1))

    exec(code, {"here": here})
    return found[0]


def _translate(error: BaseException, depth: int) -> None:
    error.__traceback__ = _rebuilt(_frames(error.__traceback__))
    for linked in (error.__cause__, error.__context__):
        if linked is not None and depth:
            _translate(linked, depth - 1)


def note(kernel: Callable[..., None], space: Space, failure: Failure, place: str, ranks: int) -> str:
    """A note such as ``in iteration i=17 of the loop at prog.py:12, on rank 2 of 4``.

    Where the loop has no counting variable the iteration is given by its number, from 0.
    """
    iteration = str(failure.position)
    if space.index is not None:
        iteration = f"{_counter(kernel)}={space.index.value(failure.position)}"
    return f"in iteration {iteration} of the loop at {place}, on rank {failure.rank} of {ranks}"


def _counter(kernel: Callable[..., None]) -> str:
    """The first name that the kernel's ``for`` over the iterations binds."""
    code = itertools.dropwhile(lambda each: each.argval != "iterations", dis.get_instructions(kernel))
    code = itertools.dropwhile(lambda each: each.opname != "FOR_ITER", code)
    stores = (each.argval for each in code if each.opname.startswith("STORE_"))
    name = next(stores, "index")
    return str(name[0] if isinstance(name, tuple) else name)
