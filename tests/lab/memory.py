"""The memory of hosts: a control group with a limit, and swap (controller ``memory``, version 1).

A process of a host that needs more than the host has pages: the kernel puts away what was not used for
longest and brings it back when it is touched. It goes to a device of compressed memory where the kernel has
such (zram), which no other work keeps busy as it may a disk; else to a file. A limit holds for the processes
of its host alone; so does the end of those that need more than limit and swap together. Processes of other
control groups that are at their limits may page there as well: swap should be ample. The kernel may end
a process that pages heavily although swap is left, where it finds no page to take (`Memory.kills` tells).

Swap is in use while the lab lasts and no longer: a process of its own waits for the end of the lab's, however
that ends, swaps off and takes device or file away.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.lab.host import Host
from tests.lab.processors import remove

__all__ = ["Memory", "find_memory", "refusal", "swap"]

_MB = 1 << 20
_PROGRAMS = ("mkswap", "swapon", "swapoff")
#: How readily the kernel pages out what is no file, of 0 to 100.
_SWAPPINESS = 100

#: Reading the one makes a device of compressed memory, writing its number to the other takes it away.
_ADDED, _REMOVED = (Path("/sys/class/zram-control", f"hot_{word}") for word in ("add", "remove"))

#: Waits for the end of its input, which is the end of the lab or of its process.
_KEEPER = f"""
cat > /dev/null
swapoff "$0" 2> /dev/null
if [ "$1" ]; then echo "$1" > {_REMOVED}; else rm -f "$0"; fi
"""


def find_memory(mounts: str | None = None) -> Path | None:
    """Where the controller ``memory`` of version 1 is, in a table of mounts, by default this system's."""
    for line in (Path("/proc/mounts").read_text() if mounts is None else mounts).splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(point)
    return None


def refusal() -> str:
    """Why hosts can have no memory of their own on this system, in one sentence; empty if they can."""
    missing = [name for name in _PROGRAMS if not shutil.which(name)]
    if missing:
        return f"memory of hosts needs programs that are not on PATH: {', '.join(missing)} (of util-linux)"
    if find_memory() is None:
        return "memory of hosts needs control groups of version 1 with the controller memory; none is mounted"
    try:
        with swap(1):
            return ""
    except OSError as refused:
        return f"this system does not let the lab swap: {refused}"


@dataclass(frozen=True, slots=True)
class Memory:
    """The group of each host with a limit, None for the others."""

    hosts: tuple[Path | None, ...]

    @classmethod
    @contextmanager
    def of(cls, hosts: Sequence[Host], name: str) -> Iterator[Memory]:
        """Groups of these hosts while the context lasts, and swap for what they lack; OSError if refused."""
        limited = {number: host.memory_mb for number, host in enumerate(hosts) if host.memory_mb is not None}
        if not limited:
            yield cls((None,) * len(hosts))
            return
        root = find_memory()
        if root is None:
            raise OSError("no controller of memory is mounted")
        lab = root / name
        with swap(sum(hosts[number].swap_mb for number in limited)):
            try:
                lab.mkdir()
                for number, megabytes in limited.items():
                    _limit(lab / f"host{number}", megabytes)
                yield cls(tuple(lab / f"host{n}" if n in limited else None for n in range(len(hosts))))
            finally:
                remove(lab)

    def peak_mb(self, host: int) -> float:
        """The most memory that a host has used; ValueError if it has no limit."""
        return _megabytes(self._group(host) / "memory.max_usage_in_bytes")

    def paged_mb(self, host: int) -> float:
        """What of a host is in swap now; ValueError if it has no limit."""
        return _entry(self._group(host) / "memory.stat", "swap") / _MB

    def kills(self, host: int) -> int:
        """How many processes of a host the kernel has ended for want of memory; ValueError as above."""
        return _entry(self._group(host) / "memory.oom_control", "oom_kill")

    def _group(self, host: int) -> Path:
        group = self.hosts[host]
        if group is None:
            raise ValueError(f"host {host}: expected one with a limit of memory")
        return group


def _limit(group: Path, megabytes: float) -> None:
    group.mkdir()
    (group / "memory.swappiness").write_text(str(_SWAPPINESS))
    (group / "memory.limit_in_bytes").write_text(str(round(megabytes * _MB)))


def _entry(file: Path, name: str) -> int:
    """A figure of a file with lines of a name and a number each."""
    return int(dict(line.split() for line in file.read_text().splitlines())[name])


def _megabytes(file: Path) -> float:
    return int(file.read_text()) / _MB


@contextmanager
def swap(megabytes: float) -> Iterator[Path]:
    """That much swap in use, in compressed memory or else in a file; OSError where the system refuses it."""
    where = _in_memory(megabytes) if _ADDED.exists() else _in_a_file(megabytes)
    keeper = subprocess.Popen(["sh", "-c", _KEEPER, *where], stdin=subprocess.PIPE, start_new_session=True)
    try:
        _call("mkswap", where[0])
        _call("swapon", where[0])
        yield Path(where[0])
    finally:
        keeper.communicate()  # ends its input


def _in_memory(megabytes: float) -> tuple[str, str]:
    """A new device of the kernel's that keeps pages compressed (zram), and its number."""
    number = _ADDED.read_text().strip()
    Path(f"/sys/block/zram{number}/disksize").write_text(str(round(megabytes * _MB)))
    return f"/dev/zram{number}", number


def _in_a_file(megabytes: float) -> tuple[str]:
    """A file without holes: its blocks are to be there."""
    handle, name = tempfile.mkstemp(prefix="dlbc-lab-swap-")
    with os.fdopen(handle, "wb") as out:
        for _ in range(max(1, round(megabytes))):
            out.write(bytes(_MB))
    return (name,)


def _call(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        raise OSError(done.stderr.strip() or f"{command[0]}: status {done.returncode}")
