"""All checks of `dlbc doctor`, in the order in which troubles should be mended.

A later trouble may come from an earlier one: ranks do not start where mpiexec and mpi4py are of two kinds.
"""

from __future__ import annotations

from collections.abc import Callable

from dlbc.commands.doctor import host_checks, mpi_checks
from dlbc.commands.doctor.facts import Facts
from dlbc.commands.doctor.findings import CheckFinding, CheckStatus, Findings

CHECKS: tuple[Callable[[Facts], Findings], ...] = (
    mpi_checks.check_launcher,
    mpi_checks.check_library,
    mpi_checks.check_family,
    mpi_checks.check_slurm,
    host_checks.check_hostfile,
    host_checks.check_hosts,
    host_checks.check_versions,
    mpi_checks.check_start,
    mpi_checks.check_environment,
    mpi_checks.check_threads,
    mpi_checks.check_windows,
    host_checks.check_shared_memory,
    host_checks.check_kernels,
    host_checks.check_processors,
    host_checks.check_calibration,
)


def judge(facts: Facts) -> tuple[CheckFinding, ...]:
    """The findings of all checks."""
    return tuple(finding for check in CHECKS for finding in check(facts))


def is_broken(findings: tuple[CheckFinding, ...]) -> bool:
    """Whether a run would fail."""
    return any(finding.status is CheckStatus.BROKEN for finding in findings)
