"""What a system must have for the lab: Linux, root, namespaces, control groups, and a few programs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache

from tests.lab import memory
from tests.lab.host import Host
from tests.lab.network import Network
from tests.lab.processors import Processors, find_hierarchy, sweep
from tests.support.mpi import find_mpiexec

__all__ = ["Unavailable", "require", "why_no_hosts", "why_no_memory", "why_not"]

#: Programs that the lab calls, and the package that has them.
_PROGRAMS = {
    "ip": "iproute2",
    "tc": "iproute2",
    "nsenter": "util-linux",
    "setpriv": "util-linux",
    "taskset": "util-linux",
    "unshare": "util-linux",
}


class Unavailable(Exception):
    """The lab does not work on this system; the message says why in one sentence."""


def require(hosts: Iterable[Host] = ()) -> None:
    """Unavailable where the lab does not work, or not with hosts like these."""
    limited = any(host.memory_mb is not None for host in hosts)
    reason = why_no_hosts() or (memory.refusal() if limited else "")
    if reason:
        raise Unavailable(reason)


@cache
def why_not() -> str:
    """Why the lab does not work on this system, in one sentence; empty if it does."""
    return next(filter(None, (check() for check in _CHECKS)), "")


@cache
def why_no_hosts() -> str:
    """Why it makes no hosts, which any MPI may then use; empty if it does."""
    return next(filter(None, (check() for check in _CHECKS if check is not _mpiexec)), "")


@cache
def why_no_memory() -> str:
    """Why the lab's hosts can have no limit of memory on this system; empty if they can."""
    return why_not() or memory.refusal()


def _system() -> str:
    return "" if sys.platform == "linux" else f"the lab needs Linux; this is {sys.platform}"


def _user() -> str:
    return "" if os.geteuid() == 0 else "the lab needs root, to make namespaces and control groups"


def _programs() -> str:
    missing = [f"{name} (of {package})" for name, package in _PROGRAMS.items() if not shutil.which(name)]
    return f"the lab needs programs that are not on PATH: {', '.join(missing)}" if missing else ""


def _mpiexec() -> str:
    try:
        command = find_mpiexec()
    except AssertionError as missing:
        return f"the lab needs MPICH: {missing}"
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=30, check=False)
    return "" if "HYDRA" in done.stdout else f"the lab needs MPICH's mpiexec (hydra); {command[0]} is another"


def _groups() -> str:
    return "" if find_hierarchy() else "the lab needs control groups with the controller cpu; none is mounted"


def _trial() -> str:
    """Makes a host as small as hosts are, and takes it away."""
    hierarchy = find_hierarchy()
    assert hierarchy is not None, "checked before"
    host = Host(cores=0.1, rate_mbit=10)
    try:
        sweep(hierarchy)
        with Processors.of([host], hierarchy), Network.of([host]):
            return ""
    except OSError as refusal:
        return f"this system does not let the lab make a host: {refusal}"


_CHECKS: tuple[Callable[[], str], ...] = (_system, _user, _programs, _mpiexec, _groups, _trial)
