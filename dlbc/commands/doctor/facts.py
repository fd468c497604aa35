"""What `dlbc doctor` finds: frozen facts, which `gather` collects and `checks` judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dlbc.commands.launchers import ListedHost, MpiFamily

__all__ = [
    "CalibrationFacts",
    "Facts",
    "HostFacts",
    "LauncherFacts",
    "RankFacts",
    "SlurmFacts",
    "StartFacts",
]


@dataclass(frozen=True, slots=True)
class LauncherFacts:
    """The launcher of a run: mpiexec, else srun in a Slurm allocation; ``path`` is empty if there is none.

    ``version`` is the first line of its version text, ``family`` None for srun, which starts any MPI.
    """

    path: str
    version: str = ""
    family: MpiFamily | None = None


@dataclass(frozen=True, slots=True)
class HostFacts:
    """A host. ``listed`` is its name in the list of hosts, empty for the one where the command runs.

    ``problem`` says why it could not be asked; then nothing else is known. ``versions`` has an empty text
    for what is missing, ``library`` is the MPI library that mpi4py loads there. ``shared_free`` is in bytes.
    """

    listed: str = ""
    problem: str = ""
    name: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    library: str = ""
    library_problem: str = ""
    processors: int = 0
    shared_free: int | None = None
    leftovers: tuple[str, ...] = ()
    leftover_bytes: int = 0
    kernels: str = ""
    kernels_problem: str = ""
    threads: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """How messages name it."""
        if not self.listed:
            return "this host"
        return self.listed if self.name in ("", self.listed) else f"{self.listed} ({self.name})"


@dataclass(frozen=True, slots=True)
class RankFacts:
    """A rank: its host, level of threads, MPI library, and the hash of a text, by which sets are ordered."""

    host: str
    level: str
    library: str
    order: int


@dataclass(frozen=True, slots=True)
class StartFacts:
    """A start of all ranks, which took ``seconds``.

    ``status`` is None where the time was up. ``worlds`` has the ranks that found each other, as many groups
    as there were; ``counted`` says whether all then added to one counter of shared memory.
    """

    status: int | None
    seconds: float
    worlds: tuple[tuple[RankFacts, ...], ...]
    counted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class CalibrationFacts:
    """The file of measured networks, and what it has: date, ranks of each host, MPI library.

    ``problem`` says why the file is refused.
    """

    path: str
    networks: tuple[tuple[str, Mapping[str, int], str], ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class SlurmFacts:
    """Slurm: the job of this shell, if it is in one, and its number of tasks, None where it has none."""

    job: str = ""
    tasks: int | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything that is judged. ``listed_in`` says where the hosts are listed, empty for this host alone.

    ``start`` is None where no start was tried; ``slurm`` is None where Slurm is not installed.
    """

    ranks: int
    timeout_s: float
    launcher: LauncherFacts
    here: HostFacts
    listed_in: str = ""
    listed: tuple[ListedHost, ...] = ()
    hosts: tuple[HostFacts, ...] = ()
    start: StartFacts | None = None
    calibration: CalibrationFacts = CalibrationFacts("")
    slurm: SlurmFacts | None = None
