"""Exceptions of the loop body, sent between ranks and raised as the sequential program raises them.

Type, message, attributes and chained causes are sent; the traceback is sent as file, line, columns and
function, and is rebuilt where the exception is raised, in terms of the original source. Where the program
does not catch it, a note says which iteration failed on which rank: the sequential program shows neither,
and on several ranks it is the first question. Until then the note is kept in the traceback, where no program
looks.
"""

from __future__ import annotations

import contextlib
import dis
import itertools
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, NoReturn

from dlbrt.data.space import Space
from dlbrt.mpi.values.exceptions import RUNTIME, attributes, frames, of_exception, rebuilt
from dlbrt.mpi.values.objects import SharedObjects, WorkerObjects
from dlbrt.records import dataclass

#: What the note is called among the globals of a rebuilt frame.
_NOTE = "~note"
#: Exceptions of a chain of causes that are translated.
_DEEPEST_CHAIN = 10
#: Exit status after an interrupt: 128 and the number of the signal.
_INTERRUPTED = 130


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
        lambda: objects.pack(failure.error, 0, numbered=False),
        lambda: _Trimmed(objects).bytes(failure.error),
        lambda: _Trimmed(objects).bytes(_without_causes(failure.error)),
    )
    for attempt in attempts:
        try:
            data = attempt()
            objects.unpack(data, failure.rank)  # a pickle that cannot be read is found here, not at rank 0
        except BaseException:  # objects' own pickling hooks may raise anything
            continue
        return Failure(failure.position, failure.rank, None, data)
    error = RuntimeError(f"{type(failure.error).__qualname__}: {failure.error}")
    error.__traceback__ = failure.error.__traceback__
    return Failure(failure.position, failure.rank, None, objects.pack(error, 0, numbered=False))


def _without_causes(error: BaseException | None) -> BaseException | None:
    """The exception without its chain, which may be too long to be pickled."""
    if error is not None:
        error.__cause__ = error.__context__ = None
    return error


def raise_as_in_body(failure: Failure, objects: SharedObjects, note: str = "") -> NoReturn:
    """Raise the exception; its traceback is that of the original source, with ``note``; its context stays."""
    handled = sys.exception()
    data = failure.data
    error = objects.unpack(data, failure.rank) if failure.error is None else failure.error
    known = {**dict.fromkeys(_names_to_suggest(error)), _NOTE: _note_of(error) or note}
    error.__traceback__ = rebuilt(frames(error.__traceback__), known)
    context = error.__context__
    try:
        raise error
    finally:
        if context is not None:
            error.__context__ = context
            _end_of_chain(context, handled)


def _names_to_suggest(error: BaseException) -> set[str]:
    """The names among which Python looks for one that was meant, of the program and where it failed."""
    if not isinstance(error, NameError):
        return set()
    known = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1:]
    program = (f for f, _ in traceback.walk_stack(None) if not f.f_code.co_filename.startswith(RUNTIME))
    known += itertools.islice(program, 1)
    return {name for frame in known for name in (*frame.f_globals, *frame.f_code.co_varnames)}


def _note_of(error: BaseException) -> str | None:
    """The note that the traceback keeps; where loops are nested, that of the innermost."""
    notes = (frame.f_globals.get(_NOTE) for frame, _ in traceback.walk_tb(error.__traceback__))
    return next(filter(None, notes), None)


def _add_note(error: BaseException) -> None:
    """Add the note of the traceback; an exception that accepts none stays without."""
    note = _note_of(error)
    with contextlib.suppress(Exception):  # its class may refuse attributes in any way
        if note is not None:
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


def install_hook(*, several: bool = True) -> None:
    """Show uncaught exceptions in terms of the original source; ``several``: this is one of several ranks.

    After an interrupt that was not caught Python would end itself by the signal, and launchers would report a
    rank that was killed. On several ranks it ends with the status that shells show for it.
    """
    previous = sys.excepthook

    def hook(kind: type[BaseException], error: BaseException, tb: types.TracebackType | None) -> None:
        with contextlib.suppress(Exception):  # whatever goes wrong here must not hide the program's own error
            _translate(error, _DEEPEST_CHAIN)
            tb = error.__traceback__
        previous(kind, error, tb)
        if several and isinstance(error, KeyboardInterrupt):
            raise SystemExit(_INTERRUPTED)

    sys.excepthook = hook


class _Trimmed:
    """Pickles exceptions without values that cannot leave this rank.

    Arguments are replaced by what stands for them, attributes are left out.
    """

    def __init__(self, objects: WorkerObjects) -> None:
        self._objects = objects

    def bytes(self, value: Any) -> bytes:
        """The pickle of a value."""
        return self._objects.pack(value, 0, numbered=False, taken_apart=self._apart)

    def _apart(self, error: Any) -> tuple[Any, ...] | None:
        if not isinstance(error, BaseException):
            return None
        state = {name: value for name, value in attributes(error).items() if self._leaves(value)}
        args = tuple(value if self._leaves(value) else _Left(repr(value), str(value)) for value in error.args)
        return of_exception(error, args, state)

    def _leaves(self, value: Any) -> bool:
        try:
            self._objects.unpack(self.bytes(value), self._objects.rank)
        except BaseException:  # objects' own pickling hooks may raise anything
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


def _translate(error: BaseException, depth: int) -> None:
    _add_note(error)
    known = dict.fromkeys(_names_to_suggest(error))
    error.__traceback__ = rebuilt(frames(error.__traceback__), known)
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
