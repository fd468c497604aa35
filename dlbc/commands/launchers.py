"""Launchers of MPI: which is found, to which MPI it belongs, and the options that each kind needs."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from enum import Enum
from pathlib import Path
from typing import NamedTuple

#: Where MPICH looks for a hostfile. `dlbc run --hostfile` sets it for any MPI, whose launcher gets an option.
HOSTFILE = "HYDRA_HOST_FILE"
#: Where one of these is set, ranks may run on other hosts.
_HOSTS = (
    *("SLURM_JOB_ID", "PBS_NODEFILE", "LSB_HOSTS", "PE_HOSTFILE", HOSTFILE, "I_MPI_HYDRA_HOST_FILE"),
    *("OMPI_MCA_orte_default_hostfile", "PRTE_MCA_prte_default_hostfile"),
)
#: Seconds that a launcher may take to print its version.
_VERSION_S = 30.0


class MpiFamily(Enum):
    """Implementations of MPI whose launchers start each other's programs."""

    MPICH = "MPICH"
    OPEN_MPI = "Open MPI"
    OTHER = "an MPI that is neither MPICH nor Open MPI"


#: Words of version texts of libraries and launchers. MVAPICH and Intel MPI are built from MPICH, and start by
#: its protocol; the launcher of Open MPI 5 is PRRTE's, that of Open MPI 4 OpenRTE's.
_WORDS = (
    (MpiFamily.OPEN_MPI, ("Open MPI", "OpenRTE", "open-mpi", "PRRTE")),
    (MpiFamily.MPICH, ("MPICH", "HYDRA", "MVAPICH", "Intel(R) MPI")),
)


def family_of(version: str) -> MpiFamily:
    """The family by the version text of a library or of a launcher."""
    return next(
        (family for family, words in _WORDS if any(word in version for word in words)), MpiFamily.OTHER
    )


def find_mpiexec() -> str | None:
    """The launcher beside this Python, which belongs to the MPI that mpi4py loads; else that on the path."""
    beside = Path(sys.executable).parent / "mpiexec"
    return str(beside) if os.access(beside, os.X_OK) else shutil.which("mpiexec")


def find_srun() -> str | None:
    """Slurm's launcher, in an allocation; for programs whose MPI has no mpiexec.

    Where there is one it comes first: it joins ranks of its own MPI, whatever plugin srun takes by default.
    """
    return shutil.which("srun") if "SLURM_JOB_ID" in os.environ else None


def version_text(mpiexec: str) -> str:
    """What the launcher prints as its version; empty if it cannot be started, or prints nothing in time."""
    try:
        done = subprocess.run(
            [mpiexec, "--version"], capture_output=True, text=True, timeout=_VERSION_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def vendor_options(family: MpiFamily, *, one_host: bool) -> list[str]:
    """Only Open MPI needs options: without them it refuses more ranks than cores, and to run as root.

    On several hosts (not ``one_host``) it goes by their slots: with the first option all ranks would share
    the first host.
    """
    if family is not MpiFamily.OPEN_MPI:
        return []
    crowding = ["--oversubscribe"] if one_host else []
    return [*crowding, *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]


def on_other_hosts(environ: Mapping[str, str]) -> bool:
    """Whether ranks that are started in this environment may run on other hosts."""
    return any(environ.get(name) for name in _HOSTS)


def default_ranks() -> int:
    """The tasks of the Slurm allocation, else one rank for each processor here, but two at least."""
    allocated = os.environ.get("SLURM_NTASKS", "")
    return int(allocated) if allocated.isdecimal() else max(2, len(os.sched_getaffinity(0)))


class ListedHost(NamedTuple):
    """A host of a list or a hostfile; ``slots`` is 0 where no number is given.

    ``family`` is the only MPI that reads the line; None: both do.
    """

    name: str
    slots: int = 0
    family: MpiFamily | None = None


def listed_hosts(text: str) -> tuple[ListedHost, ...]:
    """The hosts of ``a,b:2``, which both kinds of launchers read. ValueError for anything else."""
    found = []
    for item in text.split(","):
        match = re.fullmatch(r"\s*([^\s:,]+)(?::([1-9][0-9]*))?\s*", item)
        if match is None:
            raise ValueError(f"expected hosts such as a,b:2, found {text!r}")
        found.append(ListedHost(match[1], int(match[2] or 0)))
    return tuple(found)


def hosts_of_file(text: str) -> tuple[ListedHost, ...]:
    """The hosts of a hostfile, one a line: ``a:2`` for MPICH, ``a slots=2`` for Open MPI."""
    found = []
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        name, colon, number = words[0].partition(":")
        slots = next((word.partition("=")[2] for word in words if word.startswith("slots=")), "")
        family = MpiFamily.OPEN_MPI if slots else MpiFamily.MPICH if colon else None
        count = slots or number
        found.append(ListedHost(name, int(count) if count.isdecimal() else 0, family))
    return tuple(found)


def host_options(family: MpiFamily, hosts: str) -> list[str]:
    """The launcher's options for a list of hosts; empty for none."""
    return ["--host" if family is MpiFamily.OPEN_MPI else "-hosts", hosts] if hosts else []


def hostfile_options(family: MpiFamily, hostfile: str) -> list[str]:
    """The launcher's options for a hostfile; empty for none."""
    return ["--hostfile" if family is MpiFamily.OPEN_MPI else "-f", hostfile] if hostfile else []


def hostfile_settings(hostfile: str) -> dict[str, str]:
    """The setting of a run on the hosts of a file; empty for none. OSError if it cannot be read."""
    if not hostfile:
        return {}
    with open(hostfile, "rb"):
        return {HOSTFILE: os.path.abspath(hostfile)}
