"""A thread that serves other ranks while an iteration is under way here.

A rank that is within an iteration of seconds would let a thief wait that could do iterations which this rank
has not begun. So, where the strategy allows it, a thread looks for messages once an iteration has lasted for
`SERVE_S`, and answers them. It never runs beside the runtime's own code: `open` and `close` are called where
the iteration begins and ends, and `close` waits until the thread is done, which takes microseconds.

What the program sees of its process, or of its thread, must not change within an iteration. So only rows that
need no pickle travel: hooks of pickling would run in this thread, without the program's decimal context, and
picklers stop the collection of garbage and bound recursion for all.
"""

from __future__ import annotations

import _thread  # a thread that `threading` knows would show in the program
from collections.abc import Callable
from time import sleep  # not looked up at each call: the program may put another one in its place
from weakref import WeakMethod

from mpi4py import MPI

from dlbrt.mpi.team import clock
from dlbrt.parameters import SERVE_S


class ServingThread:
    """Calls ``serve`` within iterations, with the number of units under way and for how long they have been.

    ``error`` is what it has raised; the thread is over then. The thread keeps nothing of the program alive.
    """

    def __init__(self, serve: Callable[[int, float], None]) -> None:
        self.error: BaseException | None = None
        self._serve = WeakMethod(serve)
        self._units = 0
        self._since = 0.0
        self._turn = _thread.allocate_lock()  # whoever has it is in the runtime
        self._turn.acquire()
        self._over = False
        _thread.start_new_thread(self._run, ())

    @staticmethod
    def possible() -> bool:
        """Whether MPI lets another thread than the main one call it, and the program besides."""
        return MPI.Query_thread() == MPI.THREAD_MULTIPLE

    def open(self, units: int, since: float) -> None:
        """This rank begins so many units: until `close` others are served."""
        self._units, self._since = units, since
        self._turn.release()

    def close(self) -> None:
        """They are done, or have failed."""
        if self._units:
            self._turn.acquire()
            self._units = 0

    def end(self) -> None:
        """The loop is over; the thread may be waiting for its turn."""
        self._over = True
        self._turn.release()

    def _run(self) -> None:
        while not self._over:
            sleep(SERVE_S)
            if self._units and clock() - self._since > SERVE_S:
                with self._turn:
                    self._look()

    def _look(self) -> None:
        elapsed_s, serve = clock() - self._since, self._serve()
        if serve is None:
            self._over = True
        elif self._units and elapsed_s > SERVE_S and not self._over:
            try:
                serve(self._units, elapsed_s)
            except BaseException as error:  # the rank itself raises it, at its next poll
                self.error, self._over = error, True
