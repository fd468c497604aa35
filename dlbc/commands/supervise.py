"""Waiting for the processes of a run, and passing on what ends them: interrupts, SIGTERM and SIGHUP.

A launcher may print what it does about an interrupt on standard output, take seconds, or lose the program's
status. So an interrupt passes it by: it starts with SIGINT blocked, the ranks (`dlbrt.script`) let it through
again, and this process sends it to the ranks that it finds below the launcher. A second interrupt ends the
job.

A process that watches the ranks names those that die (`dlbrt.watchdog`). Where there is none yet, the
launcher may end the job by its status alone, and this process says why (`_Unwatched`).
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from math import inf
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from dlbrt.contract import BEGAN

from dlbc.commands.segments import remove_leftovers, segments

__all__ = ["processes_below", "run_command"]

#: How long the processes may take to end once they have been told to, in seconds.
_GRACE_S = 5.0
_MODULE = b"dlbrt.script"
#: How often a command is started whose ranks die before the program begins.
_STARTS = 4
#: Until the program has begun: seconds between two looks, that ranks take to end in an orderly way, and after
#: which all are there if none has died.
_LOOK_S, _ORDERLY_END_S, _ALL_STARTED_S = 0.05, 2.0, 10.0
#: How long processes that watch ranks may go on when the job has ended, in seconds.
_LAST_WORDS_S = 2.0
#: The status of ranks that refuse to begin, because of options or versions.
_REFUSED = 2
#: The status where rank 0 has died, of which the launcher may say nothing.
_ROOT_DIED = 1
_ENDING = (signal.SIGTERM, signal.SIGHUP)
#: Signals that a launcher returns as its status (MPICH's does) where a rank was killed or has crashed.
_DEADLY = {
    *(signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE),
    *(signal.SIGKILL, signal.SIGSEGV),
}
#: The status of a launcher that has itself failed, as that of MPICH does where it answers a rank just killed.
_LAUNCHER_FAILED = 255


class Beginning(NamedTuple):
    """How it is seen that a program has begun: rank 0 makes a ``file`` then, and writes to it at its end.

    ``ranks`` is the number of ranks on this host; 0: it is not known.
    """

    file: Path
    ranks: int


def run_command(
    command: Sequence[str],
    environment: Mapping[str, str],
    *,
    passes_by: bool,
    beginning: Beginning | None = None,
    watchers: Path | None = None,
) -> int:
    """Run a command to its end; its exit status, 128 + N if signal N ended it or this process.

    ``passes_by``: the command starts ranks on this host, and interrupts pass it by. With a ``beginning``,
    ranks may die: before the program has begun, the command is then started again, since MPI can do without
    a rank only after all have begun. ``watchers`` is the directory of `dlbrt.contract.WATCHERS`, if there is
    one. OSError if the command cannot be started.
    """
    run = _Run(passes_by=passes_by and Path("/proc/self/stat").exists())
    with run.handling_signals():
        if beginning is None:
            unwatched = _Unwatched(watchers) if watchers is not None else None
            run.start(command, environment)
            status = run.wait()
            if unwatched is not None and not run.ended_by_signal:
                unwatched.explain(status)
            return status
        for _ in range(_STARTS):
            run.start(command, environment)
            if run.begins(beginning):
                status = run.wait()
                # Where no rank is left that could end by a status, the launcher's is 0.
                return status or (0 if beginning.file.stat().st_size else _ROOT_DIED)
            print("dlbc: a rank died before the program began: started again", file=sys.stderr, flush=True)
        print(f"dlbc: given up after {_STARTS} starts", file=sys.stderr, flush=True)
        return 1


class _Unwatched:
    """A job until its ranks are watched: each process that watches some leaves a file among the ``watchers``.

    Made before the job is started.
    """

    def __init__(self, watchers: Path) -> None:
        self._watchers = watchers
        self._segments = segments()

    def explain(self, status: int) -> None:
        """Say why a job has ended with this status, and remove what it has left, if nobody was watching."""
        closed = self._watchers.with_name(f"{self._watchers.name}-closed")
        self._watchers.rename(closed)  # from now on nobody begins to watch
        watchers = list(closed.iterdir()) if status else []
        when = "" if watchers else " before the runtime began"
        said = ""
        if status in _DEADLY and not self._has_ended() and not _speak(watchers):
            said = f"a rank was killed (signal {status}){when}"
        elif status == _LAUNCHER_FAILED and not watchers:
            said = f"the launcher failed (status {status}){when}, as it does if a rank is killed then"
        if said:
            print(f"dlbc: {said}; the job has ended", file=sys.stderr, flush=True)
        if not status or watchers:
            return
        for path in sorted(remove_leftovers(self._segments)):
            print(f"dlbc: {path} may be left over from this job", file=sys.stderr, flush=True)

    def _has_ended(self) -> bool:
        """Whether the program has ended in a way of its own: the status is what it has chosen."""
        began = self._watchers.with_name(BEGAN)
        return began.exists() and began.stat().st_size > 0


def _speak(watchers: Sequence[Path]) -> bool:
    """Whether one of these has said what happened, once they have ended or had the time to."""
    until = time.monotonic() + _LAST_WORDS_S
    while any(Path(f"/proc/{each.name}").exists() for each in watchers) and time.monotonic() < until:
        time.sleep(_LOOK_S / 10)
    return any(each.stat().st_size for each in watchers)


class _Run:
    """The processes of a run; ``ended_by`` is the signal because of which they were told to end."""

    def __init__(self, *, passes_by: bool) -> None:
        self._passes_by = passes_by
        self._process: subprocess.Popen[bytes] | None = None
        self._interrupted = False
        self._beginning: Path | None = None
        self._ended_by: int | None = None
        self._below_launcher: list[int] = []  # the processes below the launcher when it was told to end

    @contextmanager
    def handling_signals(self) -> Iterator[None]:
        """In the block signals are passed on to the processes of the run."""
        handled = (signal.SIGINT, signal.SIGALRM, *_ENDING)
        previous = {number: signal.getsignal(number) for number in handled}
        try:
            for number in handled:
                if previous[number] != signal.SIG_IGN:  # `nohup` ignores SIGHUP
                    signal.signal(number, self._handle)
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            for number, handler in previous.items():
                signal.signal(number, handler)

    def start(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the command, unless a signal has ended the run; signals that come meanwhile wait."""
        held = {signal.SIGINT, *_ENDING}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
        try:
            if self._ended_by is not None:
                return
            inherited = {signal.SIGINT} if self._passes_by else set()
            signal.pthread_sigmask(signal.SIG_SETMASK, before | inherited)
            self._process = subprocess.Popen(command, env=environment)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def begins(self, beginning: Beginning) -> bool:
        """Wait until the program has begun, or the command has ended; False where a rank has died before.

        Then nothing is left of the run.
        """
        assert self._process is not None
        self._beginning, seen = (began := beginning.file), set[int]()
        until = complete_until = inf
        while not began.exists() and self._process.poll() is None and self._ended_by is None:
            # What ranks start in turn has their command line until it has its own: it is no rank.
            started = _children().get(self._process.pid, [])
            ranks = {pid for pid in started if _MODULE in _arguments(pid)}
            now = time.monotonic()
            if until == inf and not seen <= ranks:
                until = now + _ORDERLY_END_S  # ranks that refuse to begin end all
            if len(ranks) >= beginning.ranks:
                complete_until = inf
            elif ranks and complete_until == inf:
                complete_until = now + _ALL_STARTED_S
            seen |= ranks
            if now > min(until, complete_until):
                for pid in (*ranks, self._process.pid):
                    _send(pid, signal.SIGKILL)
                self._process.wait()
                return False
            time.sleep(_LOOK_S)
        # Ranks that refuse to begin say why. Where one was killed, the launcher's status may be any.
        return began.exists() or self._ended_by is not None or self._process.poll() == _REFUSED

    @property
    def ended_by_signal(self) -> bool:
        """Whether a signal to this process has ended it."""
        return self._ended_by is not None

    def wait(self) -> int:
        """Wait for the end of the command and of all that it has started; its status."""
        assert self._process is not None
        status = self._process.wait()
        for pid in self._below_launcher:
            _send(pid, signal.SIGKILL)  # a launcher that was killed leaves its ranks
        if self._ended_by is not None:
            return 128 + self._ended_by
        return status if status >= 0 else 128 - status

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._process is None:
            raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)
        if number == signal.SIGALRM:
            self._kill()
        elif number == signal.SIGINT and not self._interrupted:
            self._interrupted = True
            self._interrupt()
        else:
            self._end(number)

    def _interrupt(self) -> None:
        assert self._process is not None
        if not self._passes_by:
            # The terminal interrupts the command as well. If it goes on, it is told to end.
            signal.setitimer(signal.ITIMER_REAL, _GRACE_S)
            return
        ranks = [pid for pid in processes_below(self._process.pid) if _MODULE in _arguments(pid)]
        if not ranks or (self._beginning is not None and not self._beginning.exists()):
            self._end(signal.SIGINT)  # the program has not begun yet
            return
        for pid in ranks:
            _send(pid, signal.SIGINT)

    def _end(self, number: int) -> None:
        """Tell the command to end, which ends its ranks; if it does not in time, kill them."""
        assert self._process is not None
        self._ended_by = self._ended_by or number
        self._below_launcher = [*self._below_launcher, *processes_below(self._process.pid)]
        self._process.terminate()
        signal.setitimer(signal.ITIMER_REAL, _GRACE_S)

    def _kill(self) -> None:
        assert self._process is not None
        if self._ended_by is None:
            self._end(signal.SIGINT)
            return
        self._below_launcher = [*self._below_launcher, *processes_below(self._process.pid)]
        self._process.kill()


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def _arguments(pid: int) -> list[bytes]:
    """The command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return []


def _children() -> dict[int, list[int]]:
    """The processes that each process has started."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc").exists() else ():
        if entry.name.isdigit():
            with suppress(OSError):
                # The name of the program, in parentheses, may hold anything.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    return children


def processes_below(root: int) -> list[int]:
    """The processes that a process has started, and those that these have, and so on."""
    children, found = _children(), [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]
