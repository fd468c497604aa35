"""Checks of hosts, and of what is kept there: pure functions from facts to findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dlbc.commands.doctor.facts import Facts, HostFacts
from dlbc.commands.doctor.findings import (
    Findings,
    broken,
    counted,
    fine,
    first_line,
    places_of,
    ranks_of,
    some,
    warning,
)
from dlbc.commands.launchers import MpiFamily

#: Versions that all ranks must have alike, by `dlbrt.mpi.session`; that of numba only should be.
_SAME, _ALIKE = ("Python", "dlbrt", "numpy", "mpi4py", "cloudpickle"), ("numba",)
#: MPI's own buffers take some MiB of shared memory a rank; 64 MiB is all that a container has by default.
_LEAST_SHARED = 64 * 2**20
_SEGMENTS = ("mpich_shm_", "sm_segment.", "vader_segment.")


def check_hostfile(facts: Facts) -> Findings:
    """The list of hosts is written for the MPI that reads it."""
    if not facts.listed_in:
        return
    if not facts.listed:
        yield broken("hostfile", "one host a line", f"none in {facts.listed_in}", "name the hosts there")
        return
    family = facts.launcher.family
    other = next((host for host in facts.listed if host.family not in (None, family)), None)
    if other is None or family in (None, MpiFamily.OTHER) or facts.listed_in == "--hosts":
        return
    style = f"{other.name} slots=N" if family is MpiFamily.OPEN_MPI else f"{other.name}:N"
    yield broken(
        "hostfile", f"lines such as {style}, which {family.value if family else ''} reads",
        f"{facts.listed_in} has {other.name} as {other.family.value if other.family else ''} reads it",
        f"write {style} there",
    )  # fmt: skip


def check_hosts(facts: Facts) -> Findings:
    """Each host answers, by the launcher's own way of reaching it."""
    for host in facts.hosts:
        if host.problem:
            yield broken(
                "hosts",
                f"{host.label} starts {facts.here.versions.get('Python', 'Python')} for the launcher "
                f"within {facts.timeout_s:g} s",
                host.problem,
                f"see that `ssh {host.listed} true` asks for no password (or that the launcher's other way "
                "works), and that this environment lies at the same path there",
            )
    answering = [host for host in facts.hosts if not host.problem]
    if answering and len(answering) == len(facts.hosts):
        yield fine("hosts", f"{counted(len(answering), 'host')} of {facts.listed_in} answer")


def check_versions(facts: Facts) -> Findings:
    """All hosts have the same versions of what results depend on."""
    here, alike = facts.here, True
    for host in facts.hosts:
        if host.problem:
            continue
        differing = [name for name in _SAME if _version(host, name) != _version(here, name)]
        unlike = [name for name in _ALIKE if _version(host, name) != _version(here, name)]
        other_library = first_line(host.library) != first_line(here.library)
        alike = alike and not (differing or unlike or other_library)
        if differing:
            yield broken(
                "versions", f"{_listing(here, differing)}, as on this host",
                f"{_listing(host, differing)} on {host.label}",
                "install the same versions there, or use an environment on a file system that all share",
            )  # fmt: skip
        if other_library:
            yield broken(
                "versions", f"{first_line(here.library) or 'no MPI library'}, as on this host",
                f"{first_line(host.library) or host.library_problem} on {host.label}",
                "install the same MPI there",
            )  # fmt: skip
        if unlike:
            yield warning(
                "versions", f"{_listing(here, unlike)}, as on this host",
                f"{_listing(host, unlike)} on {host.label}: ranks there may run compiled loops as Python",
                "install the same version there",
            )  # fmt: skip
    if alike:
        where = counted(len(facts.hosts), "host") if facts.hosts else "this host"
        yield fine("versions", f"{_listing(here, (*_SAME, *_ALIKE))} on {where}")


def check_shared_memory(facts: Facts) -> Findings:
    """`/dev/shm` has room, and nothing that killed jobs have left."""
    for host in _asked(facts):
        if host.shared_free is None:
            yield warning("shared memory", "/dev/shm", f"none on {host.label}", "MPI may use slower means")
            continue
        if host.shared_free < _LEAST_SHARED:
            yield warning(
                "shared memory", f"{_mib(_LEAST_SHARED)} free in /dev/shm",
                f"{_mib(host.shared_free)} on {host.label}",
                "remove what nobody uses there; containers: --shm-size=1g",
            )  # fmt: skip
        if host.leftovers:
            yield warning(
                "shared memory", "no segments of jobs that were killed",
                f"{some(host.leftovers)} on {host.label}, {_mib(host.leftover_bytes)} that no process uses",
                f"rm {' '.join(sorted({_pattern(name) for name in host.leftovers}))}, "
                "while none of your jobs runs there",
            )  # fmt: skip
    free = [host.shared_free or 0 for host in _asked(facts) if not host.leftovers]
    if len(free) == len(_asked(facts)) and (least := min(free)) >= _LEAST_SHARED:
        yield fine("shared memory", f"{_mib(least)} free in /dev/shm{_on_all(facts)}")


def check_kernels(facts: Facts) -> Findings:
    """numba is there, and what it compiles can be kept."""
    if not facts.here.versions.get("numba"):
        yield warning(
            "compiled loops", "numba", "none: loops with `jit` run as Python", "pip install 'dlbc[jit]'"
        )
        return
    troubled = [host for host in _asked(facts) if host.kernels_problem]
    for host in troubled:
        yield warning(
            "compiled loops", f"a directory for compiled loops{f' ({host.kernels})' if host.kernels else ''}",
            f"{host.kernels_problem} on {host.label}: each run compiles again",
            "set XDG_CACHE_HOME to a directory of your own that can be written",
        )  # fmt: skip
    if not troubled:
        yield fine("compiled loops", f"numba {facts.here.versions['numba']}, kept in {facts.here.kernels}")


def check_processors(facts: Facts) -> Findings:
    """Each rank has a processor, and so have the threads of its numerical libraries."""
    if facts.hosts and not ranks_of(facts):
        return
    on_host = Counter(rank.host for rank in ranks_of(facts)) or Counter({facts.here.name: facts.ranks})
    processors = {host.name: host.processors for host in _asked(facts)}
    threads, variable = max(
        ((_number(text), name) for name, text in facts.here.threads.items()), default=(1, "")
    )
    crowded = [
        name for name, ranks in on_host.items() if ranks * threads > processors.get(name, ranks * threads)
    ]
    if not crowded:
        places = [
            f"{counted(ranks, 'rank')} on {counted(processors[name], 'processor')} of {name}"
            for name, ranks in sorted(on_host.items())
            if name in processors
        ]
        of_threads = f"; {variable}={threads}" if variable else ""
        yield fine("processors", f"{some(places)}{of_threads}")
        return
    # The host that is short of most.
    name = min(crowded, key=lambda name: (processors[name] / on_host[name], name))
    ranks, available = on_host[name], processors[name]
    others = f", and too few on {counted(len(crowded) - 1, 'more host')}" if len(crowded) > 1 else ""
    if ranks > available:
        yield warning(
            "processors", f"{counted(ranks, 'processor')} for {counted(ranks, 'rank')}",
            f"{available} on {name}{others}: ranks take turns", f"at most {counted(available, 'rank')} there",
        )  # fmt: skip
    else:
        of_threads = f"{counted(threads, 'thread')} ({variable})"
        yield warning(
            "processors", f"{ranks * threads} processors for {counted(ranks, 'rank')} of {of_threads}",
            f"{available} on {name}{others}", f"{variable}={available // ranks}",
        )  # fmt: skip


def check_calibration(facts: Facts) -> Findings:
    """Whether the network of these hosts has been measured, and when."""
    kept = facts.calibration
    measure = f"dlbc calibrate -n {facts.ranks}"
    if not kept.path:
        yield warning("calibration", "a home directory", "none: nothing is kept", "set XDG_CACHE_HOME")
    elif kept.problem:
        yield warning("calibration", "networks that dlbc has measured", kept.problem, measure)
    elif facts.ranks > 1 and (ranks := ranks_of(facts)):
        counts = Counter(rank.host for rank in ranks)
        library = first_line(ranks[0].library)
        fitting = [
            date or "an unknown day"
            for date, there, mpi in kept.networks
            if mpi == library
            and there.keys() == counts.keys()
            and all(there[host] >= count for host, count in counts.items())
        ]
        if fitting:
            yield fine("calibration", f"measured on {fitting[0]}, kept in {kept.path}")
        else:
            found = f"none of {places_of(facts)} in {kept.path}: each run measures a few messages itself"
            yield fine("calibration", found, measure)


def _asked(facts: Facts) -> list[HostFacts]:
    """The hosts of the run that have answered: this one where none are listed."""
    return [host for host in facts.hosts if not host.problem] or [facts.here]


def _on_all(facts: Facts) -> str:
    return f" on each of {counted(len(facts.hosts), 'host')}" if len(_asked(facts)) > 1 else ""


def _version(host: HostFacts, name: str) -> str:
    return host.versions.get(name, "")


def _listing(host: HostFacts, names: Sequence[str]) -> str:
    return ", ".join(
        f"{name} {_version(host, name)}" if _version(host, name) else f"no {name}" for name in names
    )


def _number(text: str) -> int:
    """The threads of the outermost level."""
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() else 1


def _mib(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"


def _pattern(path: str) -> str:
    """The names of segments of this kind."""
    return next(f"{path[: path.index(begin)]}{begin}*" for begin in _SEGMENTS if begin in path)
