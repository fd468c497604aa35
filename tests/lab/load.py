"""Real external load: busy processes on each host, as many as the discrete random load says.

The load of a host is an integer drawn from 0..max for each duration of persistence (Zaki, Li, Parthasarathy,
section 1.3.1, figure 1.3): the same draws, by the same seed and the number of the host, as the runtime's
emulated load makes for a rank. A host with load l runs l busy processes beside its ranks. All of them are
started before they are needed, and stopped; a change of load is a signal to those that it starts or stops.

Loads that begin with the launch lie over the start of the programs too, which takes seconds on slow hosts.
A program that writes a line into the pipe `SIGNAL` names, right before its loop, begins them there.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from threading import Event, Thread

from dlbrt.emulation import Load, LoadSpec

__all__ = ["SIGNAL", "Burners", "Player", "Start", "most"]

#: The variable that names the pipe into which a program writes a line where its load is to begin.
SIGNAL = "LAB_START"

#: It stops itself as soon as it is sure to die with its parent.
_BURNER = ("setpriv", "--pdeathsig", "KILL", "sh", "-c", "kill -STOP $$; while :; do :; done")


class Start(Enum):
    """When the load of a run begins; a line in the pipe begins it anew in either case."""

    LAUNCH = "launch"  #: as mpiexec is started
    SIGNAL = "signal"  #: at the first line that the program writes into the pipe


@dataclass(slots=True)
class Burners:
    """The busy processes of one host: those started, of which the first ``busy`` run."""

    group: Path
    processor: int | None
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    busy: int = 0

    def provide(self, count: int) -> None:
        """Starts processes until there are ``count``."""
        new = [subprocess.Popen(_BURNER) for _ in range(count - len(self.processes))]
        self.processes += new
        for process in new:
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                raise OSError(f"a busy process ended by itself, with status {status}")
            (self.group / "cgroup.procs").write_text(str(process.pid))
            if self.processor is not None:
                os.sched_setaffinity(process.pid, {self.processor})

    def set(self, busy: int) -> None:
        """Has so many of them run."""
        for process in self.processes[self.busy : busy]:
            process.send_signal(signal.SIGCONT)
        for process in self.processes[busy : self.busy]:
            process.send_signal(signal.SIGSTOP)
        self.busy = busy

    def end(self) -> None:
        """Ends all of them."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()


def most(spec: LoadSpec, host: int) -> int:
    """The highest load that the host can have."""
    fixed = spec.levels[host] if spec.levels else 0
    return max(fixed, spec.random.maximum if spec.random else 0)


class Player:
    """Plays the loads of all hosts in time, in a thread of its own.

    ``pipe`` is a named pipe; each time that something is written into it the loads begin anew, as the
    emulated load does at the entry of each loop. ``signals`` counts that; ``late_s`` is the longest delay of
    a change.
    """

    def __init__(self, spec: LoadSpec, hosts: Sequence[Burners], pipe: Path) -> None:
        self.signals = 0
        self.late_s = 0.0
        self._spec = spec
        self._hosts = hosts
        self._pipe = pipe
        self._failure: BaseException | None = None
        for number, burners in enumerate(hosts):
            burners.provide(most(spec, number))

    @contextmanager
    def playing(self, start: Start) -> Iterator[Player]:
        """Plays while the context lasts; afterwards no process is busy."""
        waiting = os.open(self._pipe, os.O_RDWR | os.O_NONBLOCK)  # for both: writers never wait for a reader
        end, ended = os.eventfd(0), Event()
        thread = Thread(target=self._play, args=(waiting, end, ended, start), name="load", daemon=True)
        thread.start()
        try:
            yield self
        finally:
            ended.set()
            os.eventfd_write(end, 1)
            thread.join()
            for burners in self._hosts:
                burners.set(0)
            os.close(waiting)
            os.close(end)
        if self._failure is not None:
            raise self._failure

    def _play(self, waiting: int, end: int, ended: Event, start: Start) -> None:
        poll = select.poll()
        poll.register(waiting, select.POLLIN)
        poll.register(end, select.POLLIN)
        begun = time.monotonic() if start is Start.LAUNCH else None
        try:
            _be_punctual()
            loads = self._loads()
            while not ended.is_set():
                if self._signalled(waiting):
                    begun, loads = time.monotonic(), self._loads()
                poll.poll(self._change(loads, begun))
        except BaseException as failure:  # told to the thread that waits for this one
            self._failure = failure

    def _loads(self) -> list[Load]:
        return [Load(self._spec, number) for number in range(len(self._hosts))]

    def _signalled(self, waiting: int) -> bool:
        with suppress(BlockingIOError):
            if os.read(waiting, 4096):
                self.signals += 1
                return True
        return False

    def _change(self, loads: Sequence[Load], begun: float | None) -> float | None:
        """Sets the loads of this moment; in how many ms they change, None if not by themselves."""
        if begun is None:
            return None
        elapsed_s = time.monotonic() - begun
        for load, burners in zip(loads, self._hosts, strict=True):
            burners.set(load.level(elapsed_s))
        if self._spec.random is None:
            return None
        duration_s = self._spec.random.duration_s
        blocks = elapsed_s // duration_s
        self.late_s = max(self.late_s, elapsed_s - blocks * duration_s) if blocks else self.late_s
        return max(0.0, ((blocks + 1) * duration_s - (time.monotonic() - begun)) * 1000)


def _be_punctual() -> None:
    """This thread, which does little, is to be woken at once however busy the processors are."""
    with suppress(OSError):  # not allowed: as punctual as others
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
