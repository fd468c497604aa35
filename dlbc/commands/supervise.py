"""Waiting for the processes of a run, and passing on what ends them: interrupts, SIGTERM and SIGHUP.

A launcher may print what it does about an interrupt on standard output, take seconds, or lose the program's
status. So an interrupt passes it by: it starts with SIGINT blocked, the ranks (`dlbrt.script`) let it through
again, and this process sends it to the ranks that it finds below the launcher. A second interrupt ends the
job.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

__all__ = ["run_command"]

#: How long the processes may take to end once they have been told to, in seconds.
_GRACE_S = 5.0
_MODULE = b"dlbrt.script"
_ENDING = (signal.SIGTERM, signal.SIGHUP)


def run_command(command: Sequence[str], environment: Mapping[str, str], *, passes_by: bool) -> int:
    """Run a command to its end; its exit status, 128 + N if signal N ended it or this process.

    ``passes_by``: the command starts ranks on this host, and interrupts pass it by. OSError if it cannot be
    started.
    """
    run = _Run(passes_by=passes_by and Path("/proc/self/stat").exists())
    with run.handling_signals():
        run.start(command, environment)
        return run.wait()


class _Run:
    """The processes of a run; ``ended_by`` is the signal because of which they were told to end."""

    def __init__(self, *, passes_by: bool) -> None:
        self._passes_by = passes_by
        self._process: subprocess.Popen[bytes] | None = None
        self._interrupted = False
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
        """Start the command; signals that come meanwhile wait."""
        held = {signal.SIGINT, *_ENDING}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
        try:
            inherited = {signal.SIGINT} if self._passes_by else set()
            signal.pthread_sigmask(signal.SIG_SETMASK, before | inherited)
            self._process = subprocess.Popen(command, env=environment)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

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
        ranks = [pid for pid in _below(self._process.pid) if _MODULE in _arguments(pid)]
        for pid in ranks:
            _send(pid, signal.SIGINT)
        if not ranks:  # they have not begun yet
            self._end(signal.SIGINT)

    def _end(self, number: int) -> None:
        """Tell the command to end, which ends its ranks; if it does not in time, kill them."""
        assert self._process is not None
        self._ended_by = self._ended_by or number
        self._below_launcher = [*self._below_launcher, *_below(self._process.pid)]
        self._process.terminate()
        signal.setitimer(signal.ITIMER_REAL, _GRACE_S)

    def _kill(self) -> None:
        assert self._process is not None
        if self._ended_by is None:
            self._end(signal.SIGINT)
            return
        self._below_launcher = [*self._below_launcher, *_below(self._process.pid)]
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


def _below(root: int) -> list[int]:
    """The processes that a process has started, and those that these have, and so on."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir() if Path("/proc").exists() else ():
        if entry.name.isdigit():
            with suppress(OSError):
                # The name of the program, in parentheses, may hold anything.
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]
