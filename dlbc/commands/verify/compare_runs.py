"""Runs a program sequentially, then in parallel under random settings, up to the first run that differs."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from dlbc.commands.run import shared_directory
from dlbc.commands.verify.compare import Difference, Outcome, Unsteady, differences, unsteady
from dlbc.commands.verify.execute import VerifiedProgram, run_once
from dlbc.commands.verify.kernels import Kernels, read_kernels
from dlbc.commands.verify.settings import RunSettings, draw, most_load, rank_count
from dlbc.parse.read_source import decode_source

#: The time of a run that is not bounded by the user: seconds, and so many times the sequential program's.
_TIMEOUT_S = 120.0
_TIMES = 20.0


@dataclass(frozen=True, slots=True)
class Search:
    """Numbers of ranks, how many runs, the seed of the first, and seconds for each (None: enough)."""

    ranks: Sequence[int]
    runs: int
    seed: int
    timeout_s: float | None = None

    @property
    def drawn(self) -> set[int]:
        """The numbers of ranks that the runs have."""
        return {rank_count(self.seed + number, self.ranks) for number in range(self.runs)}


@dataclass(frozen=True, slots=True)
class Finding:
    """A run that differs: its number from 1, seed and settings, its outcome, and what differs."""

    number: int
    seed: int
    settings: RunSettings
    outcome: Outcome
    differences: Sequence[Difference]
    kernels: Kernels


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found, None if all runs are identical, and what could not be compared.

    ``status`` is that of the sequential program, ``exception`` the type and message of what ended it, if any.
    """

    finding: Finding | None
    unsteady: Unsteady
    status: int
    exception: Sequence[str] | None = None


def compare_runs(
    verified: VerifiedProgram, search: Search, progress: Callable[[int, RunSettings], None] = lambda *_: None
) -> Verdict:
    """Run the program and compare; ``progress`` is called before each parallel run.

    UnsteadyError if two sequential runs differ in how they end; CannotStartError and OSError if a run cannot
    be started; TimeoutError if the sequential program takes longer than the user allows.
    """
    kernels = _kernels(verified)
    with _directory(verified) as expected_in, _directory(verified) as again_in:
        expected, again = (
            run_once(verified, 0, {}, search.timeout_s or 1e6, place) for place in (expected_in, again_in)
        )
        if expected.status is None or again.status is None:
            raise TimeoutError(f"the sequential program has not ended after {search.timeout_s:g} s")
        ignored = unsteady(expected, again)
        timeout_s = search.timeout_s or _TIMEOUT_S + _TIMES * expected.seconds
        load = most_load(min(expected.seconds, again.seconds))
        for number in range(search.runs):
            seed = search.seed + number
            settings = draw(seed, search.ranks, load)
            progress(number + 1, settings)
            with _directory(verified) as found_in:
                found = run_once(verified, settings.ranks, settings.variables, timeout_s, found_in)
                if differing := differences(expected, found, ignored, kernels.unbound):
                    finding = Finding(number + 1, seed, settings, found, differing, kernels)
                    return Verdict(finding, ignored, expected.status)
    exception = expected.end["exception"] if expected.end is not None else None
    return Verdict(None, ignored, expected.status, exception)


def _kernels(verified: VerifiedProgram) -> Kernels:
    """The loops of the file that is run."""
    path = verified.program.path.resolve()
    for source, text in verified.program.generated:
        if source.resolve() == path:
            return read_kernels(decode_source(str(path), text)[0].text)
    return Kernels()


@contextmanager
def _directory(verified: VerifiedProgram) -> Iterator[Path]:
    """A directory that all ranks see."""
    where = shared_directory(verified.program.path)
    with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=where) as name:
        yield Path(name)
