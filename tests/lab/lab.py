"""A network of workstations in one machine, and programs that run on it under mpiexec.

What makes hosts of this machine's processes are a network namespace, a host name, a control group and a
processor each (`network`, `processors`, `host`). For `Lab.run` mpiexec is MPICH's (hydra); a script of the
lab stands in for the ssh by which it reaches hosts. Ranks talk over TCP.

What is made here ends with the process that made it, also where it is killed: namespaces are held by its open
files, its programs and busy processes die with it. Only empty control groups and its scripts remain then; the
next lab sweeps them away.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Self

from dlbrt.contract import ENVIRONMENT
from dlbrt.emulation import LoadSpec, RandomLoad

from tests.lab.host import Host, Placement, place, share_ranks
from tests.lab.load import SIGNAL, Burners, Player, Start, most
from tests.lab.memory import Memory, find_memory
from tests.lab.namespaces import enter
from tests.lab.network import Network, address, host_name
from tests.lab.processors import Hierarchy, Processors, find_hierarchy, scratch, sweep
from tests.lab.requirements import require
from tests.support.mpi import find_mpiexec, run_sequential
from tests.support.processes import TOKEN

__all__ = ["Lab", "LabError", "Result"]

#: TCP whatever MPICH was built with.
_TCP = {"UCX_TLS": "tcp,self", "FI_PROVIDER": "tcp", "MPIR_CVAR_CH4_NETMOD": "ofi", "MPIR_CVAR_NOLOCAL": "1"}

#: What dies with the process that started it, with all that it has started.
_BOUND = ("setpriv", "--pdeathsig", "KILL")
_CONTAINED = ("unshare", "--pid", "--fork", "--kill-child")

_LAUNCH = """\
#!/bin/sh
# What mpiexec calls in place of ssh: [OPTIONS] HOST WORDS...
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
exec {directory}/"$host" "$@"
"""

#: Like ssh, it has a shell carry out the words, and passes no environment on; but the mark by which a test's
#: processes are found.
_SSH = """\
#!/bin/sh
while [ "${{1#-}}" != "$1" ]; do shift; done
host=$1; shift
[ -x {directory}/"$host" ] || {{ echo "ssh: Could not resolve hostname $host" >&2; exit 255; }}
words=$(printf %s "$*" | sed "s/'/'\\\\''/g")
exec env -i {left} {directory}/"$host" sh -c "'$words'"
"""
_LEFT = ("HOME", "PATH", "PYTHONPATH", TOKEN)

_ENTER = """\
#!/bin/sh
{joined}
exec {pinned} {entered} unshare --mount-proc sh -c ". {profile} && exec $*"
"""


class LabError(Exception):
    """What was asked of the lab cannot be done, or did not happen; the message says what."""


@dataclass(frozen=True, slots=True)
class Result:
    """A program that ended by itself.

    ``returncode`` is mpiexec's; ``elapsed_s`` is from its start to its end, to within 50 ms. ``load_starts``
    counts how often the program has begun its load; ``load_late_s`` is the longest delay of a change of load.
    """

    returncode: int
    stdout: bytes
    stderr: str
    elapsed_s: float
    load_starts: int = 0
    load_late_s: float = 0.0


class Lab:
    """Hosts that are up while the context lasts, for any number of runs, one at a time.

    Once they are, ``placement`` says on which processors. SIGTERM and SIGHUP leave the context as an
    exception does, where nobody else handles them.
    """

    def __init__(self, hosts: Sequence[Host]) -> None:
        if not hosts:
            raise ValueError("hosts: expected one or more, found none")
        self.hosts = tuple(hosts)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        """Sets the hosts up; Unavailable where the system does not allow it, OSError where it fails to."""
        require(self.hosts)
        hierarchy = find_hierarchy()
        assert hierarchy is not None, "require() found one"
        sweep(hierarchy)
        if (root := find_memory()) is not None:
            sweep(Hierarchy(root, 1))
        self.placement: Placement = place(self.hosts, sorted(os.sched_getaffinity(0)))
        with ExitStack() as stack:
            stack.enter_context(_ended_by_signals())
            self.processors = stack.enter_context(Processors.of(self.hosts, hierarchy))
            self.memory = stack.enter_context(Memory.of(self.hosts, self.processors.lab.name))
            self.directory = scratch(self.processors.lab)
            stack.callback(shutil.rmtree, self.directory, ignore_errors=True)
            self.directory.mkdir(mode=0o700)
            self.network = stack.enter_context(Network.of(self.hosts))
            self._burners = [
                Burners(group, processor)
                for group, processor in zip(self.processors.hosts, self.placement.processors, strict=True)
            ]
            for burners in self._burners:
                stack.callback(burners.end)
            self._write_scripts()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *exception: object) -> None:
        self._stack.close()

    def run(
        self,
        command: Sequence[str],
        *,
        ranks: int | None = None,
        env: Mapping[str, str] | None = None,
        load: LoadSpec | RandomLoad | None = None,
        emulated: bool = False,
        start: Start = Start.LAUNCH,
        timeout: float = 60,
        cwd: Path | str | None = None,
    ) -> Result:
        """Runs a command on ``ranks`` ranks, by default one a host; neighbours share a host.

        ``env`` is added to the environment, from which settings of the runtime are dropped. ``load`` is given
        to each host as busy processes, which begin to run as ``start`` says; if ``emulated``, to each rank by
        the runtime instead, which slows only hosts of a core or more. After ``timeout`` seconds all processes
        are killed, and ``tests.support.mpi.TimedOut`` shows where they were.

        LabError: a load that cannot be given; a load that the program was to begin, and did not. ValueError:
        fewer ranks than hosts.
        """
        shares = share_ranks(len(self.hosts) if ranks is None else ranks, len(self.hosts))
        spec = LoadSpec(random=load) if isinstance(load, RandomLoad) else load or LoadSpec()
        self._check(spec, emulated)
        extra = {
            **_TCP,
            SIGNAL: str(self._pipe),
            **(_emulated(spec, shares) if emulated else {}),
            **(env or {}),
        }
        player = Player(LoadSpec() if emulated else spec, self._burners, self._pipe)
        with player.playing(start):
            done = run_sequential([*self._mpiexec(shares), *command], timeout, extra, cwd)
        if start is Start.SIGNAL and not player.signals:
            raise LabError(f"the program was to write a line into the pipe {SIGNAL}, and did not")
        return Result(done.status, done.stdout, done.stderr, done.elapsed, player.signals, player.late_s)

    def run_on(
        self,
        host: int,
        command: Sequence[str],
        *,
        load: int = 0,
        timeout: float = 60,
        cwd: Path | str | None = None,
    ) -> Result:
        """Runs a command as one process on a host, beside ``load`` busy ones.

        An mpiexec that it starts, of MPICH or Open MPI, reaches the hosts by their names; as by ssh, only
        what the launcher itself passes on of the environment gets there.
        """
        levels = tuple(load if number == host else 0 for number in range(len(self.hosts)))
        self._check(LoadSpec(levels), emulated=False)
        agent = str(self.directory / "ssh")
        env = {
            **_TCP,
            "HYDRA_LAUNCHER": "ssh",
            "HYDRA_LAUNCHER_EXEC": agent,
            "PRTE_MCA_plm_ssh_agent": agent,
        }
        with Player(LoadSpec(levels), self._burners, self._pipe).playing(Start.LAUNCH):
            words = [*_BOUND, str(self._script(host)), shlex.join(command)]
            done = run_sequential(words, timeout, env, cwd)
        return Result(done.status, done.stdout, done.stderr, done.elapsed)

    def begin_with(self, host: int, commands: str) -> None:
        """Have commands of the shell stand before each program that is started on a host from now on.

        They may mount: each program has mounts of its own.
        """
        profile = self._profile(host)
        profile.write_text(f"{self._profile_text()}{commands}\n")

    def stop(self, host: int) -> None:
        """Stop all processes of a host but those that make its load."""
        self._signal(host, signal.SIGSTOP)

    def go_on(self, host: int) -> None:
        """Have them go on."""
        self._signal(host, signal.SIGCONT)

    def _signal(self, host: int, number: signal.Signals) -> None:
        busy = {process.pid for process in self._burners[host].processes}
        for pid in map(int, (self.processors.hosts[host] / "cgroup.procs").read_text().split()):
            if pid not in busy:
                with suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _mpiexec(self, shares: Sequence[int]) -> list[str]:
        hosts = ",".join(f"{address(number)}:{share}" for number, share in enumerate(shares))
        launcher = ("-launcher", "ssh", "-launcher-exec", str(self.directory / "launch"))
        front_end = ("-localhost", self.network.front_end, "-hosts", hosts, *launcher, "-n", str(sum(shares)))
        return [*_BOUND, *enter(self.network.switch), *_CONTAINED, *find_mpiexec(), *front_end]

    def _check(self, spec: LoadSpec, emulated: bool) -> None:
        if spec.levels and len(spec.levels) != len(self.hosts):
            raise LabError(f"load: expected {len(self.hosts)} values, one per host; found {len(spec.levels)}")
        for number, host in enumerate(self.hosts):
            if not most(spec, number):
                continue
            if emulated and host.throttled:
                raise LabError(
                    f"emulated load on host {number}: expected a host of 1 core or more, found {host.cores}; "
                    "the waiting would fall into the part of each period in which it gets no computing anyway"
                )
            if not emulated and not host.single:
                raise LabError(
                    f"load on host {number}: expected a host of at most 1 core, found {host.cores}"
                )

    @property
    def _pipe(self) -> Path:
        return self.directory / "start"

    def _script(self, host: int) -> Path:
        return self.directory / address(host)

    def _profile(self, host: int) -> Path:
        return self.directory / f"{address(host)}.profile"

    def _profile_text(self) -> str:
        return f"mount --bind {shlex.quote(str(self.directory / 'hosts'))} /etc/hosts\n"

    def _write_scripts(self) -> None:
        os.mkfifo(self._pipe)
        names = [f"{address(n)} {host_name(host, n)}\n" for n, host in enumerate(self.hosts)]
        (self.directory / "hosts").write_text("127.0.0.1 localhost\n" + "".join(names))
        directory = shlex.quote(str(self.directory))
        _write(self.directory / "launch", _LAUNCH.format(directory=directory))
        left = " ".join(f'{name}="${name}"' for name in _LEFT)
        _write(self.directory / "ssh", _SSH.format(directory=directory, left=left))
        for number, group in enumerate(self.processors.hosts):
            processor = self.placement.processors[number]
            pinned = "" if processor is None else f"taskset -c {processor}"
            entered = shlex.join(enter(self.network.hosts[number]))
            groups = [each for each in (group, self.memory.hosts[number]) if each is not None]
            joined = "\n".join(f"echo 0 > {each}/cgroup.procs" for each in groups)
            profile = shlex.quote(str(self._profile(number)))
            script = _ENTER.format(joined=joined, pinned=pinned, entered=entered, profile=profile)
            self.begin_with(number, "")
            _write(self._script(number), script)
            (self.directory / host_name(self.hosts[number], number)).symlink_to(self._script(number))


def _write(path: Path, script: str) -> None:
    path.write_text(script)
    path.chmod(0o755)


def _emulated(spec: LoadSpec, shares: Sequence[int]) -> dict[str, str]:
    """The setting by which the runtime emulates the load, a host's fixed one on each of its ranks."""
    if spec.random is not None:
        settings = f"max={spec.random.maximum},duration={spec.random.duration_s!r},seed={spec.random.seed}"
        return {ENVIRONMENT["load"]: f"random:{settings}"}
    if not spec.levels:
        return {}
    levels = [str(level) for level, share in zip(spec.levels, shares, strict=True) for _ in range(share)]
    return {ENVIRONMENT["load"]: f"fixed:{','.join(levels)}"}


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """Signals that would end this process at once raise SystemExit meanwhile."""
    numbers = [n for n in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(n) is signal.SIG_DFL]
    if threading.current_thread() is not threading.main_thread():
        numbers = []
    for number in numbers:
        signal.signal(number, _leave)
    try:
        yield
    finally:
        for number in numbers:
            signal.signal(number, signal.SIG_DFL)


def _leave(number: int, _: FrameType | None) -> None:
    raise SystemExit(128 + number)
