"""Interrupts from the keyboard (SIGINT) while a loop runs on several ranks.

Where the signal finds an iteration under way, KeyboardInterrupt is raised in it, as in the sequential
program. Where it finds the runtime, whose messages must not be cut short, it waits (`Interrupts.pending`)
for the next iteration here, or for the next poll of a rank that waits for others. A rank that has been
interrupted reports a failure at position 0, so all ranks drop what they have not begun. The program sees
the interrupt at the first iteration that nobody has done (`stopped`): all iterations before that one are
done, as in the sequential program.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, Protocol

from dlbrt.data.spans import Spans, first_gap
from dlbrt.mpi.failure import Failure
from dlbrt.mpi.values.exceptions import RUNTIME

if TYPE_CHECKING:
    from dlbrt.mpi.perform import RankResult


#: The functions of `signal` without its conversions to enumerations: they would take a tenth of a short run.
_signals: Any = sys.modules["_signal"]


class Iterating(Protocol):
    """What tells whether an iteration is under way."""

    @property
    def in_iteration(self) -> bool:
        """Whether one is."""


class Interrupts:
    """The interrupts of this process; ``pending``: one waits to be raised, or has ended this rank's part.

    ``blocks`` is in how many blocks they wait (`held`).
    """

    def __init__(self) -> None:
        self.pending = False
        self.blocks = 0
        self._walk: Iterating | None = None
        self._runs: CodeType | None = None  # what calls the kernel
        self._raised: KeyboardInterrupt | None = None
        self._came: bool | None = None  # whether one has come that is put off; None where they are not

    def held(self) -> AbstractContextManager[None]:
        """In the block, on rank 0, an interrupt waits, unless `watch` has named a walk that is in an
        iteration.

        Only where Python's own handler would raise KeyboardInterrupt; a handler of the program's stays. Where
        several blocks overlap it waits for the end of the last.
        """
        return _Held(self)

    def ignore(self) -> None:
        """None comes any more: the program is over."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, signal.SIG_IGN)

    @property
    def are_put_off(self) -> bool:
        """Whether none is raised now, as `put_off` has it."""
        return self._came is not None

    @contextmanager
    def put_off(self) -> Iterator[None]:
        """In the block, which stands inside `held`, none is raised; one that comes is pending after it."""
        before = self.pending, self._raised, self._walk, self._runs
        self.pending, self._raised, self._came = False, None, False
        try:
            yield
        finally:
            pending, self._raised, self._walk, self._runs = before
            self.pending = pending or self._came is True
            self._came = None  # last: one that comes just now is not lost

    def serve(self) -> None:
        """On a rank above 0: from now on an interrupt outside loops is rank 0's alone."""
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, self._handle_on_worker)

    def watch(self, walk: Iterating | None, runs: CodeType | None = None) -> None:
        """The walk of the loop that runs from now on, and the code that calls its kernel; None: no loop
        runs."""
        self._walk, self._runs = walk, runs

    def raise_pending(self) -> None:
        """Raise an interrupt that waits; the caller is about to begin an iteration."""
        if self.pending:
            self.pending = False
            self._raised = KeyboardInterrupt()
            raise self._raised

    def ends(self, error: BaseException) -> bool:
        """Whether the exception of a body is an interrupt; it then stays pending until the program has it."""
        if error is not self._raised:
            return False
        self._raised, self.pending = None, True
        return True

    def taken(self) -> bool:
        """Whether an interrupt is pending; afterwards none is."""
        found, self.pending, self._raised = self.pending, False, None
        return found

    def _handle_on_worker(self, number: int, frame: FrameType | None) -> None:
        if self._walk is not None:
            self._handle(number, frame)

    def _handle(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        if self._came is not None:
            self._came = True
            return
        self.pending = True
        if self._walk is not None and self._walk.in_iteration and self._in_body(frame):
            self.raise_pending()

    def _in_body(self, frame: FrameType | None) -> bool:
        """Whether code of the program was interrupted that no other code of the runtime has called."""
        began = frame
        while frame is not None and not frame.f_code.co_filename.startswith(RUNTIME):
            frame = frame.f_back
        return frame is not None and frame is not began and frame.f_code is self._runs


class _Held:
    """`Interrupts.held`: a class since generators take longer, and some runs of loops are very short."""

    __slots__ = ("_interrupts", "_ours")

    def __init__(self, held: Interrupts) -> None:
        self._interrupts = held
        self._ours = False

    def __enter__(self) -> None:
        held = self._interrupts
        if threading.current_thread() is not threading.main_thread():
            return
        if not held.blocks and _signals.getsignal(signal.SIGINT) is signal.default_int_handler:
            _signals.signal(signal.SIGINT, held._handle)
            held.blocks = 1
            self._ours = True
        elif held.blocks:
            held.blocks += 1
            self._ours = True

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        held = self._interrupts
        if self._ours:
            held.blocks -= 1
            if not held.blocks:
                _signals.signal(signal.SIGINT, signal.default_int_handler)
                if held.taken() and error is None:
                    raise KeyboardInterrupt


#: Those of this process.
interrupts = Interrupts()


def stopped(results: Sequence[RankResult], length: int) -> list[RankResult]:
    """The results of all ranks, rank 0's first; if one was interrupted, with one failure, at the first gap.

    If all ``length`` iterations are done there is none, and the interrupt is pending.
    """
    results = list(results)
    if not any(result.interrupted for result in results):
        return results
    interrupts.pending = True
    done = [run for result in results for run in result.figures.done.runs]
    if (end := first_gap(Spans.of(*done))) == length:
        return results
    failures = [result.failure for result in results if result.interrupted and result.failure is not None]
    failure = failures[0] if failures else Failure(end, 0, KeyboardInterrupt())
    rest = [replace(result, failure=None) for result in results[1:]]
    return [replace(results[0], failure=replace(failure, position=end)), *rest]
