"""A process for each host that watches its ranks from outside: one died, or one has stopped answering.

The ranks of a host share a page of memory, with a slot for each (`Activity`): what it does, and when it
last answered. Ranks write to it at loops and polls. This process reads it about once a second, and hears at
once when a rank ends. A launcher kills all ranks as soon as one dies, so no rank is sure to have the time
to say which one it was.

Law. A rank that ends in any way of its own writes `LEAVING` first, or `ABORTING` if it ends the whole job. So
one that ends without either has died, unless another one aborts. Ranks that die after the first one are not
reported: the launcher has ended them. Where it cannot be told which was the first, each is named. Where ranks
above 0 may die (`--fault-tolerant`), each of these is reported, and only rank 0's death ends the job. Silence
is reported where the rank is stopped, or has used no processor since it last answered: long iterations are no
fault.

Hosts. Where there are several, their watchdogs exchange a datagram a second with that of rank 0's host
(`Hosts`), so a host that is frozen, or cut off, shows on the other side of its link. One that has never been
heard of is not missed: the network may not let datagrams pass. Where this process itself did not run for a
while, the silence of others is not counted.

It is started as a file by itself, and so imports nothing but the standard library.
"""

from __future__ import annotations

import operator
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

#: What a rank does: it runs what is not a loop on all ranks, or one that is, or it ends, or it ends the job.
APART, RUNNING, LEAVING, ABORTING = range(4)
_BY_ITSELF = (LEAVING, ABORTING)

#: A slot: what the rank does, the monotonic time in seconds at which it last answered, and the loop.
_SLOT = struct.Struct("=id240s")
SLOT_BYTES = 256

#: Silence that is reported, in seconds: of a rank that is stopped, and of one that uses no processor.
_STOPPED_S, _SILENT_S = 10.0, 30.0
_LOOK_S = 1.0

#: The argument that says that deaths of ranks above 0 do not end the job.
OUTLIVED = "outlived"

#: What is left of a job one rank of which has died is killed after this time, in seconds.
_GRACE_S = 2.0

#: The variable of this process's environment that says where watchdogs of several hosts meet (`Meeting`).
MEETING = "DLB_WATCHDOGS"

#: The one that names the directory in which this process says that it watches (`mark`).
MARKS = "DLB_WATCHERS"


class Activity(NamedTuple):
    """What a rank last wrote into its slot."""

    phase: int
    answered_s: float
    loop: str

    @classmethod
    def read(cls, board: bytes | memoryview, number: int) -> Activity:
        """Activity ``number`` of a page."""
        phase, answered_s, loop = _SLOT.unpack_from(board, number * SLOT_BYTES)
        return cls(phase, answered_s, loop.rstrip(b"\0").decode(errors="replace"))

    def write(self, board: memoryview, number: int) -> None:
        """Write it as slot ``number``."""
        _SLOT.pack_into(board, number * SLOT_BYTES, self.phase, self.answered_s, self.loop.encode()[:240])


class Watched(NamedTuple):
    """A rank of this host, and the number of its slot."""

    slot: int
    rank: int
    pid: int

    def __str__(self) -> str:
        return f"rank {self.rank} (pid {self.pid})"


class Meeting(NamedTuple):
    """Where the watchdogs of a job meet: the one of rank 0's host has ``port`` open, at ``addresses``.

    ``token`` is the job's. ``handle`` is the open socket, on that host, and -1 on others.
    """

    token: str
    port: int
    addresses: tuple[str, ...]
    handle: int = -1

    def encode(self) -> str:
        """As the value of a variable of the environment."""
        return ",".join((self.token, str(self.port), str(self.handle), *self.addresses))

    @classmethod
    def decode(cls, text: str) -> Meeting:
        """The inverse of `encode`."""
        token, port, handle, *addresses = text.split(",")
        return cls(token, int(port), tuple(addresses), int(handle))


class Hosts:
    """What the watchdog of this host, which it calls ``name``, hears of others.

    On rank 0's host it hears of all others, elsewhere of rank 0's host. A datagram is the job's token,
    whether the host's ranks end, and what to call the host.
    """

    def __init__(self, meeting: Meeting, name: str) -> None:
        import socket  # ranks, which import this module, have no use for it

        self._meeting, self._name = meeting, name
        self._leads = meeting.handle >= 0
        handle = meeting.handle if self._leads else None
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM, fileno=handle)
        self.socket.setblocking(False)
        self._received: dict[str, tuple[float, tuple[str, int]]] = {}  # by name: when last, and from where
        self._reported: set[str] = set()

    def speak(self, *, leaving: bool = False) -> None:
        """Tell the others that this host's ranks go on, or that they end."""
        known = [place for _, place in self._received.values()]
        meeting = self._meeting
        places = known if known or self._leads else [(each, meeting.port) for each in meeting.addresses]
        for place in places:
            with suppress(OSError):
                self.socket.sendto(f"{meeting.token} {int(leaving)} {self._name}".encode(), place)

    def hear(self, now: float) -> None:
        """Take in what has come; a host of which nothing was known gets an answer at once."""
        known = len(self._received)
        with suppress(OSError):
            while True:
                data, place = self.socket.recvfrom(1024)
                token, _, said = data.decode(errors="replace").partition(" ")
                leaving, _, name = said.partition(" ")
                if token != self._meeting.token:
                    continue
                if leaving == "1":
                    self._received.pop(name, None)
                else:
                    self._received[name] = now, place
                    self._reported.discard(name)
        if self._leads and len(self._received) > known:
            self.speak()

    def excuse(self, seconds: float) -> None:
        """This process did not run for so long, and could not hear."""
        self._received = {name: (when + seconds, place) for name, (when, place) in self._received.items()}

    def silent(self, now: float) -> tuple[str, float]:
        """The host that has been silent longest, and for how long; ``""`` where none is known."""
        return max(
            ((name, now - when) for name, (when, _) in self._received.items()),
            key=_SECONDS,
            default=("", 0.0),
        )

    def report(self, name: str) -> bool:
        """Whether a host's silence is yet to be reported."""
        new = name not in self._reported
        self._reported.add(name)
        return new


_SECONDS = operator.itemgetter(1)
_RANK = operator.attrgetter("rank")


class Watchdog:
    """Watches the ranks of a host, whose page is the open file ``board``, and the other ``hosts``, if any.

    ``timeout_s`` seconds of silence end the job; 0: never. ``outlived``: deaths of ranks above 0 do not. The
    file that this process has left (`mark`) is open as ``marked``, if there is one.
    """

    def __init__(
        self,
        board: int,
        host: str,
        timeout_s: float,
        ranks: Sequence[Watched],
        hosts: Hosts | None = None,
        *,
        outlived: bool = False,
        marked: int = -1,
    ) -> None:
        self._board, self._host, self._timeout_s, self._outlived = board, host, timeout_s, outlived
        self._hosts = hosts
        self._marked = marked
        self._ranks: dict[int, Watched] = {}  # by the handle of the process
        self._silence: dict[int, tuple[object, float]] = {}  # by rank: what is unchanged, and since when
        self._reported: set[int] = set()  # ranks whose silence has been reported
        self._ending_s: float | None = None  # when what is left of the job is killed
        gone = []
        for each in ranks:
            try:
                self._ranks[os.pidfd_open(each.pid)] = each
            except ProcessLookupError:
                gone.append(each)
        self._ended(gone)

    def run(self) -> None:
        """Watch until all ranks have ended."""
        poll = select.poll()
        for handle in self._ranks:
            poll.register(handle, select.POLLIN)
        hosts, looked_s = self._hosts, time.monotonic()
        if hosts is not None:
            poll.register(hosts.socket, select.POLLIN)
            hosts.speak()
        while self._ranks:
            handles = [handle for handle, _ in poll.poll(_LOOK_S * 1000) if handle in self._ranks]
            if (paused_s := time.monotonic() - looked_s - 2 * _LOOK_S) > 0:
                self._excuse(paused_s)
                looked_s = time.monotonic()
            if hosts is not None:
                hosts.hear(time.monotonic())
            self._ended([self._ranks[handle] for handle in handles])
            for handle in handles:
                poll.unregister(handle)
                del self._ranks[handle]
            now = time.monotonic()
            if self._ending_s is not None and now >= self._ending_s:
                self._kill()
            elif self._ending_s is None and now - looked_s >= _LOOK_S:
                looked_s = now
                self._look(now)
                self._look_at_hosts(now)
        if hosts is not None:
            hosts.speak(leaving=True)

    def _excuse(self, seconds: float) -> None:
        """This process did not run, and perhaps nothing did on this host."""
        self._silence.clear()
        if self._hosts is not None:
            self._hosts.excuse(seconds)

    def _look_at_hosts(self, now: float) -> None:
        """Report hosts whose watchdogs are silent, while ranks of this host go on."""
        if (hosts := self._hosts) is None or self._ending_s is not None:
            return
        hosts.speak()
        name, silent_s = hosts.silent(now)
        goes_on = [each for each in self._ranks.values() if self._read(each).phase not in _BY_ITSELF]
        said = (
            f"nothing has been heard of {name} on {self._host} for {silent_s:.0f} s: it is frozen, or cut off"
        )
        if goes_on and self._timeout_s and silent_s >= self._timeout_s:
            self._say(f"{said}; the time-out of {self._timeout_s:g} s ends the job")
            self._ending_s = now
            os.kill(goes_on[0].pid, signal.SIGKILL)
        elif goes_on and silent_s >= _SILENT_S and hosts.report(name):
            self._say(said)

    def _ended(self, ranks: Sequence[Watched]) -> None:
        """These ranks have ended; report it if they are the first to have died."""
        dead = [each for each in ranks if self._read(each).phase not in _BY_ITSELF]
        if any(self._read(each).phase == ABORTING for each in (*ranks, *self._ranks.values())):
            self._ending_s = self._ending_s or time.monotonic() + _GRACE_S
            return  # it has said why, and the launcher ends the others
        if self._outlived and self._ending_s is None and all(each.rank for each in dead):
            for each in dead:
                where = _within(self._read(each))
                self._say(f"{each} on {self._host} has died{where}; the others go on without it")
            return
        if dead and self._ending_s is None:
            # The launcher may hear of a death, and kill others, before the process is quite gone.
            rest = (each for each in self._ranks.values() if each not in ranks)
            dead += [each for each in rest if self._dies(each)]
            names = " or ".join(map(str, sorted(dead, key=_RANK)))
            self._say(f"{names} on {self._host} has died{_within(self._read(dead[0]))}; the job ends")
            self._ending_s = time.monotonic() + _GRACE_S

    def _dies(self, watched: Watched) -> bool:
        """Whether a rank that is still there is about to be gone, in no way of its own."""
        return _process(watched.pid).is_ending and self._read(watched).phase not in _BY_ITSELF

    def _look(self, now: float) -> None:
        """Report ranks that have not answered for long."""
        for watched in self._ranks.values():
            slot, process = self._read(watched), _process(watched.pid)
            unchanged = slot, process.used
            known, since_s = self._silence.get(watched.rank, (None, now))
            if known != unchanged:
                self._silence[watched.rank] = unchanged, now
                self._reported.discard(watched.rank)
                since_s = now
            idle_s = now - since_s if process.is_stopped or slot.phase == RUNNING else 0.0
            silent_s = max(idle_s, now - slot.answered_s if slot.phase == RUNNING else 0.0)
            said = f"{watched} on {self._host} has not answered for {silent_s:.0f} s"
            said += f"{_within(slot)}, and {process.describe()}"
            if self._timeout_s and silent_s >= self._timeout_s:
                self._say(f"{said}; the time-out of {self._timeout_s:g} s ends the job")
                self._ending_s = now
                os.kill(watched.pid, signal.SIGKILL)
                return
            allowed_s = _STOPPED_S if process.is_stopped else _SILENT_S
            if idle_s >= allowed_s and watched.rank not in self._reported:
                self._reported.add(watched.rank)
                self._say(said)

    def _read(self, watched: Watched) -> Activity:
        return Activity.read(os.pread(self._board, SLOT_BYTES, watched.slot * SLOT_BYTES), 0)

    def _say(self, text: str) -> None:
        with suppress(OSError):
            if self._marked >= 0:
                os.write(self._marked, b"said")
            os.write(2, f"dlb: {text}\n".encode(errors="replace"))

    def _kill(self) -> None:
        for watched in self._ranks.values():
            with suppress(ProcessLookupError):
                os.kill(watched.pid, signal.SIGKILL)


class _Process(NamedTuple):
    """What the system says of a process: its state, its flags, and the processor time that it has used."""

    state: str
    flags: int
    used: int

    @property
    def is_stopped(self) -> bool:
        """Whether a signal or a debugger has stopped it."""
        return self.state in ("T", "t")

    @property
    def is_ending(self) -> bool:
        """Whether it is about to be gone, or is."""
        return not self.state or bool(self.flags & _EXITING)

    def describe(self) -> str:
        """As part of a sentence."""
        return _STATES.get(self.state, "computes")


#: The flag of a process that has begun to end (PF_EXITING of the kernel).
_EXITING = 0x4

_STATES = {"T": "is stopped", "t": "is stopped by a debugger", "S": "sleeps", "D": "waits for a device"}


def _process(pid: int) -> _Process:
    try:
        with open(f"/proc/{pid}/stat") as file:
            # The name of the program, in parentheses, may hold anything.
            fields = file.read().rpartition(")")[2].split()
    except OSError:  # it has just ended
        return _Process("", 0, 0)
    return _Process(fields[0], int(fields[6]), int(fields[11]) + int(fields[12]))


def _within(slot: Activity) -> str:
    return f" in the loop at {slot.loop}" if slot.phase == RUNNING and slot.loop else ""


def mark(directory: str) -> int | None:
    """Leave a file that says: ranks are watched from now on; its handle, -1 if it cannot be made.

    None if nobody waits for that any more: `dlbc run` takes the directory away when the job has ended. The
    file is named by this process, and is empty until that has said something. So either there is a file in
    the directory, or `dlbc run` says that a rank has died.
    """
    try:
        return os.open(os.path.join(directory, str(os.getpid())), os.O_CREAT | os.O_WRONLY, 0o600)
    except FileNotFoundError:
        return None
    except OSError:  # no reason not to watch
        return -1


def main() -> None:
    """``watchdog.py PAGE HOST TIMEOUT [outlived] RANK:PID..``: the slots are in the order of the ranks."""
    page, host, timeout_s, *ranks = sys.argv[1:]
    if outlived := ranks[:1] == [OUTLIVED]:
        del ranks[0]
    meeting = Meeting.decode(os.environ[MEETING]) if MEETING in os.environ else None
    # What is closed are the connections of the rank that has started this to its launcher.
    kept = meeting.handle if meeting is not None and meeting.handle >= 0 else 4096
    os.closerange(3, kept)
    os.closerange(kept + 1, 4096)
    with suppress(OSError):  # the job has ended already
        board = os.open(page, os.O_RDONLY)
        marked = mark(os.environ[MARKS]) if MARKS in os.environ else -1
        if marked is None:
            return
        numbers = [list(map(int, each.split(":"))) for each in ranks]
        watched = [Watched(slot, *each) for slot, each in enumerate(numbers)]
        own = ", ".join(str(each.rank) for each in watched)
        name = f"{host} (rank{'s' * (len(watched) > 1)} {own})"
        hosts = Hosts(meeting, name) if meeting is not None else None
        Watchdog(board, host, float(timeout_s), watched, hosts, outlived=outlived, marked=marked).run()


if __name__ == "__main__":
    main()
