"""Collecting the facts, all in other processes and each for a bounded time.

mpi4py is never imported here: a broken MPI may end its process, or hang it.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from dlbrt.contract import FACTS, OptionError
from dlbrt.observe import networks

from dlbc.commands.doctor.bounded import BoundedCommands, CommandResult
from dlbc.commands.doctor.facts import (
    CalibrationFacts,
    Facts,
    HostFacts,
    LauncherFacts,
    RankFacts,
    SlurmFacts,
    StartFacts,
)
from dlbc.commands.launchers import (
    HOSTFILE,
    ListedHost,
    MpiFamily,
    family_of,
    find_mpiexec,
    find_srun,
    host_options,
    hostfile_options,
    hostfile_settings,
    hosts_of_file,
    listed_hosts,
    vendor_options,
)
from dlbc.commands.run import environment_of

__all__ = ["DoctorRequest", "gather"]

#: Hosts that are asked at once.
_AT_ONCE = 8
_RANKS = ("-P", "-m", "dlbrt.mpi.measuring.rank_facts")


@dataclass(frozen=True, slots=True)
class DoctorRequest:
    """What a run would be started with; at most one of ``hostfile`` and ``hosts`` is not empty."""

    ranks: int
    hostfile: str = ""
    hosts: str = ""
    timeout_s: float = 60.0


@dataclass(frozen=True, slots=True)
class _Hosts:
    """The hosts of a run: where they are listed, and the launcher's options for them.

    ``in_slurm``: they are those of the allocation, and srun reaches them.
    """

    listed_in: str
    listed: tuple[ListedHost, ...]
    options: tuple[str, ...] = ()
    in_slurm: bool = False


def gather(request: DoctorRequest, environ: Mapping[str, str]) -> Facts:
    """The facts of a run; takes a few seconds, and at most three times the time-out for every 8 hosts.

    OSError if the hostfile cannot be read, ValueError if the list of hosts is malformed.
    """
    settings = hostfile_settings(request.hostfile)
    commands = BoundedCommands(request.timeout_s, environment_of(settings, alone=False))
    try:
        launcher = _launcher(commands)
        hosts = _hosts(commands, request, launcher, environ)
        here = _described("", commands.run([sys.executable, "-P", "-c", _host_program()]), commands)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            try:
                there = tuple(
                    pool.map(lambda host: _ask(commands, launcher, hosts, host.name), _distinct(hosts.listed))
                )
            except BaseException:
                commands.end_all()
                raise
        # A start on a host that does not answer would only take all of its time.
        ready = bool(here.library) and not any(host.problem for host in there)
        starts = ready and (bool(launcher.path) or request.ranks == 1)
        return Facts(
            ranks=request.ranks,
            timeout_s=request.timeout_s,
            launcher=launcher,
            here=here,
            listed_in=hosts.listed_in,
            listed=hosts.listed,
            hosts=there,
            start=_start(commands, launcher, hosts, request.ranks) if starts else None,
            calibration=_calibration(environ),
            slurm=_slurm(environ),
        )
    finally:
        commands.end_all()


# The launcher, and the hosts


def _launcher(commands: BoundedCommands) -> LauncherFacts:
    """As `dlbc run` finds it (`run.launcher`)."""
    mpiexec = find_mpiexec()
    if mpiexec is None:
        srun = find_srun()
        return (
            LauncherFacts(srun, commands.run([srun, "--version"]).output.strip())
            if srun
            else LauncherFacts("")
        )
    done = commands.run([mpiexec, "--version"])
    text = done.output + done.errors
    version = " ".join(text.split("Release Date")[0].split()) if "HYDRA" in text else text.partition("\n")[0]
    return LauncherFacts(mpiexec, version.strip(), family_of(text))


def _hosts(
    commands: BoundedCommands, request: DoctorRequest, launcher: LauncherFacts, environ: Mapping[str, str]
) -> _Hosts:
    family = launcher.family
    if family is None and not find_srun():
        return _Hosts("", ())
    if request.hosts and family is not None:
        return _Hosts("--hosts", listed_hosts(request.hosts), tuple(host_options(family, request.hosts)))
    named = environ.get(HOSTFILE, "") if family is MpiFamily.MPICH else ""
    if family is not None and (path := request.hostfile or named):
        listed = hosts_of_file(Path(path).read_text(encoding="utf-8", errors="replace"))
        return _Hosts(
            request.hostfile or f"{path} ({HOSTFILE})", listed, tuple(hostfile_options(family, path))
        )
    if find_srun():
        found = commands.run(["scontrol", "show", "hostnames"]).output.split()
        return _Hosts("the Slurm allocation", tuple(map(ListedHost, found)), in_slurm=True)
    return _Hosts("", ())


def _distinct(listed: tuple[ListedHost, ...]) -> list[ListedHost]:
    return list({host.name: host for host in listed}.values())


# Hosts, asked one by one


def _host_program() -> str:
    return resources.files("dlbrt.mpi.measuring").joinpath("host_facts.py").read_text(encoding="utf-8")


def _ask(commands: BoundedCommands, launcher: LauncherFacts, hosts: _Hosts, host: str) -> HostFacts:
    """What the host answers by the launcher's own way of reaching it."""
    if hosts.in_slurm:
        words = ["srun", "--nodes=1", "--ntasks=1", "--overlap", "--nodelist", host]
    else:
        assert launcher.family is not None, "srun alone reaches no other hosts"
        placed = host_options(launcher.family, host)
        unbound = ["--bind-to", "none"] if launcher.family is MpiFamily.OPEN_MPI else []
        options = vendor_options(launcher.family, one_host=False)
        words = [launcher.path, *options, *unbound, *placed, "-n", "1"]
    return _described(host, commands.run([*words, sys.executable, "-P", "-c", _host_program()]), commands)


def _described(host: str, done: CommandResult, commands: BoundedCommands) -> HostFacts:
    found: dict[str, Any] = {}
    for line in _lines(done.output):
        found |= line
    if "host" not in found:
        late = f"no answer within {commands.timeout_s:g} s"
        return HostFacts(host, late if done.status is None else done.reason or f"status {done.status}")
    described, mpi = found["host"], found.get("mpi")
    if mpi is None:
        reason = "loading it took too long" if done.status is None else done.reason or f"status {done.status}"
        mpi = {"library": "", "problem": reason}
    described["leftovers"] = tuple(described["leftovers"])
    return HostFacts(listed=host, library=mpi["library"], library_problem=mpi["problem"], **described)


def _lines(output: str) -> Iterator[dict[str, Any]]:
    """What the lines hold that begin as facts do; launchers may put a label before."""
    for line in output.splitlines():
        _, begins, document = line.partition(FACTS)
        if begins:
            yield json.loads(document)


# The start of all ranks


def _start(commands: BoundedCommands, launcher: LauncherFacts, hosts: _Hosts, ranks: int) -> StartFacts:
    words: list[str] = []
    if ranks > 1:
        options = (
            [] if launcher.family is None else vendor_options(launcher.family, one_host=not hosts.listed)
        )
        words = [launcher.path, *options, *hosts.options, "-n", str(ranks)]
    began = time.monotonic()
    done = commands.run([*words, sys.executable, *_RANKS])
    seconds = time.monotonic() - began
    worlds, counts = [], []
    for line in _lines(done.output):
        if "ranks" in line:
            worlds.append(tuple(RankFacts(**rank) for rank in line["ranks"]))
        counts += [line["counted"]] if "counted" in line else []
    return StartFacts(done.status, seconds, tuple(worlds), counts == [list(range(ranks))], done.reason)


# Calibration and Slurm


def _calibration(environ: Mapping[str, str]) -> CalibrationFacts:
    path = networks.default_path(environ)
    if path is None:
        return CalibrationFacts("")
    try:
        found = networks.read(path)
    except OptionError as error:
        return CalibrationFacts(str(path), problem=str(error))
    kept = tuple((each.date, dict(each.site.ranks), each.site.mpi) for each in found)
    return CalibrationFacts(str(path), kept)


def _slurm(environ: Mapping[str, str]) -> SlurmFacts | None:
    if shutil.which("srun") is None and "SLURM_JOB_ID" not in environ:
        return None
    tasks = environ.get("SLURM_NTASKS", "")
    return SlurmFacts(environ.get("SLURM_JOB_ID", ""), int(tasks) if tasks.isdecimal() else None)
