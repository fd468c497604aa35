"""The state of a watched run: the annotated loops that are running, and the accesses of their iterations.

An access counts for every annotated loop that is running, in the thread that runs it. A loop records nothing
between its iterations, or once its conflict is found.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Hashable, Iterable
from types import NoneType
from typing import Any

import numpy as np
from dlbrt.records import dataclass

from dlbc.commands.witness import elements
from dlbc.commands.witness.elements import ElementNames
from dlbc.commands.witness.record import AccessSite, IterationConflict, WatchedLoop, WatchedRun

#: Types whose elements do not change, or are not watched.
SILENT = (str, bytes, tuple, range, type, memoryview, np.generic)


class PendingEvaluations(threading.local):
    """For each thread, the objects whose subscripts and the functions whose arguments are being evaluated."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.calls: list[tuple[Any, int, str, list[tuple[str | None, Any]]]] = []
        self.value: tuple[Any, int] | None = None
        self.resized: tuple[Any, int, int] | None = None


@dataclass(frozen=True, slots=True)
class _Active:
    """A running annotated loop: its number, its run, and the identities of its private objects.

    ``objects`` and ``calls`` are the numbers of pending evaluations when it began; more than these are left
    over from an exception, and are dropped.
    """

    number: int
    run: WatchedRun
    private: set[int]
    objects: int
    calls: int


class MonitorState:
    """Everything that is known of one sequential run."""

    def __init__(self) -> None:
        self.loops: list[WatchedLoop] = []
        self.sites: list[AccessSite] = []
        self.files: set[str] = set()
        self.conflicts: dict[int, IterationConflict] = {}
        self.unwatched: dict[str, AccessSite] = {}
        self.runs: dict[int, int] = {}
        self.iterations_watched = self.accesses = 0
        self.names = ElementNames()
        self._active: list[_Active] = []
        self._on = False
        self._thread = threading.get_ident()
        self._pending = PendingEvaluations()
        self._frames = itertools.count(1)

    # Accesses

    def record_access(self, keys: Iterable[Hashable], kind: str, site: int, holder: Any) -> None:
        """Record an access to elements of ``holder``."""
        if threading.get_ident() != self._thread:
            self.note_unwatched("what other threads do", site)
            return
        place = self.sites[site]
        if elements.reinterprets(holder):
            self.note_unwatched("views with elements of another size than the array's", site)
        self.names.keep(holder)
        for key in keys:
            for active in self._active:
                run, private = active.run, active.private
                alone = bool(private) and _is_private(holder, private)
                if run.iteration >= 0 and not run.found and run.record_access(key, kind, place, alone):
                    self._finish(run, self.names.element(key, holder, place.text))

    def _finish(self, run: WatchedRun, element: str) -> None:
        run.element = element
        run.release()
        self._refresh()

    def note_unwatched(self, what: str, site: int) -> None:
        """Remember something that cannot be watched, with the first place where it occurs."""
        if self._on:
            self.unwatched.setdefault(what, self.sites[site])

    def _refresh(self) -> None:
        self._on = any(a.run.iteration >= 0 and not a.run.found for a in self._active)

    # Loops

    def prepare(self, number: int) -> WatchedRun:
        """An annotated loop is reached; its iterable is evaluated next."""
        loop = self.loops[number]
        self.runs[number] = self.runs.get(number, 0) + 1
        run = WatchedRun(loop, self.runs[number])
        frame = sys._getframe(1)
        held = frame.f_locals
        outer = {name: frame.f_globals[name] for name in loop.names if name in frame.f_globals}
        known = outer | {name: held[name] for name in loop.names if name in held}
        for name in loop.names:
            if not isinstance(known.get(name), (*SILENT, int, float, complex, NoneType)):
                self.names.call(known[name], name)
        private = {id(known[n]) for c in loop.annotation.private for n in c.names if n in known}
        depths = len(self._pending.objects), len(self._pending.calls)
        self._active.append(_Active(number, run, private, *depths))
        return run

    def begin(self, run: WatchedRun) -> None:
        """The next iteration begins, by drawing its values."""
        active = next(a for a in self._active if a.run is run)
        del self._pending.objects[active.objects :], self._pending.calls[active.calls :]
        run.iteration = run.started
        self._refresh()

    def end(self, run: WatchedRun) -> None:
        """There is no next iteration, or the loop is left."""
        run.iteration = -1
        self._refresh()

    def at(self, values: tuple[object, ...]) -> None:
        """The iteration has its values: the name of each target, followed by its value."""
        run = self._active[-1].run
        run.started += 1
        run.values.append(values)

    def leave(self, number: int) -> None:
        """The loop is over, in whatever way."""
        if not self._active or self._active[-1].number != number:
            return
        run = self._active.pop().run
        self.end(run)
        self.iterations_watched += run.started
        self.accesses += run.accesses
        if run.found and number not in self.conflicts:
            earlier, later = run.found
            labels = run.labels(earlier.iteration, later.iteration)
            conflict = IterationConflict(run.loop, run.number, earlier, later, labels, run.element)
            self.conflicts[number] = conflict
        run.release()
        if not self._active:
            self.names.clear()

    # Variables

    def frame(self) -> int:
        """A number that distinguishes this call of a function from others."""
        return next(self._frames)

    def _variable(self, token: int, name: str, kind: str, site: int) -> None:
        if threading.get_ident() == self._thread:
            place = self.sites[site]
            for run in [active.run for active in self._active]:
                live = run.iteration >= 0 and not run.found
                if live and run.record_access(f"{token} {name}", kind, place, True):
                    self._finish(run, name)


def _is_private(holder: Any, private: set[int]) -> bool:
    while holder is not None:
        if id(holder) in private:
            return True
        holder = holder.base if isinstance(holder, np.ndarray) else None
    return False
