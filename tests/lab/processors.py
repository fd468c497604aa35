"""The processors of hosts: a control group each, with a quota of computing (CPU bandwidth control).

A quota is the most that a host gets. That it gets as much on a machine where others compute too is the matter
of weights: those of hosts are as their cores, and the lab's is far above the usual one.

Version 1 and version 2 of control groups differ in names and units of files alone. Groups of a lab stand in
one directory, whose name says which process made it and when that one began: what a process that is no more
has left is known by it, and swept away.
"""

from __future__ import annotations

import itertools
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.lab.host import Host

__all__ = ["Hierarchy", "Processors", "find_hierarchy", "leftovers", "remove", "scratch", "sweep"]

_PREFIX = "dlbc-lab"
_PATIENCE_S = 10.0
_LAB_WEIGHT = 100.0
_numbers = itertools.count()


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where the system keeps the control groups that limit computing, and in which version."""

    root: Path
    version: int

    def limit(self, group: Path, quota_us: int, period_us: int) -> None:
        """Grants the group so many us of computing in each period, and a weight that goes with it."""
        if self.version == 2:
            (group / "cpu.max").write_text(f"{quota_us} {period_us}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(quota_us))
        self.weigh(group, quota_us / period_us)

    def weigh(self, group: Path, weight: float) -> None:
        """Gives the group a weight, rounded, within the system's limits; processes in no group have 1."""
        if self.version == 2:
            (group / "cpu.weight").write_text(str(min(max(round(weight * 100), 1), 10_000)))
        else:
            (group / "cpu.shares").write_text(str(min(max(round(weight * 1024), 2), 262_144)))

    def make_parent(self, group: Path) -> None:
        """Makes a group whose own groups may be limited."""
        if self.version == 2:
            _enable(self.root)
        group.mkdir()
        if self.version == 2:
            _enable(group)


def find_hierarchy(mounts: str | None = None) -> Hierarchy | None:
    """The one of the controller ``cpu`` in a table of mounts, by default this system's; None without one."""
    for line in (Path("/proc/mounts").read_text() if mounts is None else mounts).splitlines():
        _, point, kind, options, *_ = line.split()
        if kind == "cgroup" and "cpu" in options.split(","):
            return Hierarchy(Path(point), 1)
        if kind == "cgroup2" and "cpu" in _controllers(Path(point)):
            return Hierarchy(Path(point), 2)
    return None


@dataclass(frozen=True, slots=True)
class Processors:
    """The control group of each host, in the group of the lab."""

    lab: Path
    hosts: tuple[Path, ...]

    @classmethod
    @contextmanager
    def of(cls, hosts: Sequence[Host], hierarchy: Hierarchy) -> Iterator[Processors]:
        """Groups of these hosts while the context lasts, in which every process is killed at its end."""
        lab = hierarchy.root / f"{_PREFIX}-{os.getpid()}-{_begun(os.getpid())}-{next(_numbers)}"
        try:
            hierarchy.make_parent(lab)
            if all(host.cores is not None for host in hosts):
                hierarchy.weigh(lab, _LAB_WEIGHT)
            groups = tuple(lab / f"host{number}" for number in range(len(hosts)))
            for group, host in zip(groups, hosts, strict=True):
                group.mkdir()
                if host.cores is not None:
                    hierarchy.limit(group, *host.quota_us())
            yield cls(lab, groups)
        finally:
            remove(lab)


def scratch(lab: Path) -> Path:
    """The directory of a lab's scripts, by its group."""
    return Path(tempfile.gettempdir(), lab.name)


def leftovers(hierarchy: Hierarchy) -> tuple[Path, ...]:
    """Groups of labs whose process is no more."""
    return tuple(lab for lab in sorted(hierarchy.root.glob(f"{_PREFIX}-*")) if not _is_alive(lab))


def sweep(hierarchy: Hierarchy) -> tuple[Path, ...]:
    """Removes what labs of processes that are no more have left, their processes killed; what it removed."""
    found = leftovers(hierarchy)
    for lab in found:
        remove(lab)
        shutil.rmtree(scratch(lab), ignore_errors=True)
    return found


def remove(lab: Path) -> None:
    """Kills what is in the groups of a lab and removes them; OSError if that takes too long."""
    until = time.monotonic() + _PATIENCE_S
    for group in (*lab.glob("host*"), lab):
        while group.exists():
            for pid in _members(group):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            try:
                group.rmdir()
            except FileNotFoundError:  # somebody else sweeps
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.005)  # processes that are killed leave their group a little later


def _members(group: Path) -> tuple[int, ...]:
    try:
        return tuple(map(int, (group / "cgroup.procs").read_text().split()))
    except FileNotFoundError:
        return ()


def _is_alive(lab: Path) -> bool:
    pid, _, begun = lab.name.removeprefix(f"{_PREFIX}-").partition("-")
    return bool(pid.isdigit()) and _begun(int(pid)) == begun.partition("-")[0]


def _begun(pid: int) -> str:
    """When a process began, in clock ticks after the system did; empty if there is none."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except OSError:
        return ""


def _controllers(root: Path) -> list[str]:
    try:
        return (root / "cgroup.controllers").read_text().split()
    except OSError:
        return []


def _enable(group: Path) -> None:
    if "cpu" not in (group / "cgroup.subtree_control").read_text().split():
        (group / "cgroup.subtree_control").write_text("+cpu")
