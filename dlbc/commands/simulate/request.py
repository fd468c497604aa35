"""What was asked of `dlbc simulate`, and its numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from dlbrt.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel, Machine

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.source import Source

# ------------------------------------------------------------------------------
# Why something cannot be simulated.


class CannotSimulateError(Exception):
    """The message says what was expected, what was found and what to try; it may have several lines."""


class FaultyProgramError(Exception):
    """The program has errors, which are among the ``diagnostics`` of the ``source``.

    ``besides`` is what else is wrong with what was asked, as the message of a CannotSimulateError.
    """

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...], besides: str = "") -> None:
        super().__init__(source.path)
        self.source = source
        self.diagnostics = diagnostics
        self.besides = besides


class Problems:
    """Collects what cannot be, so that all of it is said at once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """A part that may raise CannotSimulateError, which is kept."""
        try:
            yield
        except CannotSimulateError as error:
            self._found.append(str(error))
        except FaultyProgramError as error:
            raise FaultyProgramError(error.source, error.diagnostics, "\n".join(self._found)) from error

    def end(self) -> None:
        """CannotSimulateError with all that was kept, if anything."""
        if self._found:
            raise CannotSimulateError("\n".join(self._found))


# ------------------------------------------------------------------------------

#: Numbers lie between these, so that what is computed with them stays finite.
_LEAST, _MOST = 1e-15, 1e15


@dataclass(frozen=True, slots=True)
class SimulationRequest:
    """The options as they were given; None, or nothing in a list: not at all."""

    file: str | None = None
    trace: str | None = None
    loop: str | None = None
    ranks: str | None = None
    strategy: str = "all"
    settings: Sequence[str] = ()
    iteration_s: str | None = None
    bytes: str | None = None
    machine: str | None = None
    load: str | None = None
    speeds: str | None = None
    slow: Sequence[str] = ()
    group: str | None = None
    seeds: str = "1"
    trace_out: str | None = None
    format: str = "full"

    def __post_init__(self) -> None:
        """CannotSimulateError for what does not go together."""
        if (self.file is None) == (self.trace is None):
            found = "neither" if self.file is None else "both"
            raise CannotSimulateError(f"expected a program or --trace, a recorded run; found {found}")
        program_only = {"set": self.settings, "iteration-s": self.iteration_s, "bytes": self.bytes}
        given = [name for name, value in program_only.items() if value] if self.trace else []
        if given:
            raise CannotSimulateError(f"--{given[0]}: expected it with a program; a recorded run has its own")


def choose_loop(path: str, wanted: str | None, places: Mapping[int, str]) -> int:
    """The number of the loop that is ``wanted``, or of the only one. CannotSimulateError."""
    if not places:
        raise CannotSimulateError(f"{path}: expected a parallel loop; found none")
    if wanted is None and len(places) == 1:
        return next(iter(places))
    if found := [number for number in places if str(number) == wanted]:
        return found[0]
    known = ", ".join(f"{number} ({place})" for number, place in places.items())
    raise CannotSimulateError(f"--loop: expected one of the loops {known}; found {wanted or 'none named'}")


def read_count(option: str, text: str, most: int) -> int:
    """A whole number from 1 on; CannotSimulateError for anything else."""
    if not (re.fullmatch("[0-9]{1,9}", text) and 1 <= int(text) <= most):
        raise CannotSimulateError(f"{option}: expected a whole number from 1 to {most}; found {text!r}")
    return int(text)


def read_number(option: str, text: str, *, above: bool = False) -> float:
    """A number of 0 or more, or ``above`` 0; CannotSimulateError for anything else."""
    least = _LEAST if above else 0.0
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not least <= value <= _MOST:
        wanted = f"a number from {least:g} to {_MOST:g}"
        raise CannotSimulateError(f"{option}: expected {wanted}; found {text!r}")
    return value


# ------------------------------------------------------------------------------
# A loop that can be simulated, wherever what is known of it comes from: a program, or a recorded run.


@dataclass(frozen=True, slots=True)
class SimulatedLoop:
    """Where it stands (``file.py:12``), its ``number`` there, notes for people, a model for so many ranks.

    ``group`` is the size of the groups that its clause asks for. A recorded one was run on ``machine``, with
    the ``parameters`` of balancing; the ``network`` is that of machines that are not described.
    ``bytes_assumed``: what moves with an iteration is not wholly known.
    """

    source: str
    number: int
    notes: tuple[str, ...]
    model: Callable[[int], LoopModel]
    group: int | None = None
    machine: Machine | None = None
    network: NetworkDescription = field(default_factory=NetworkDescription)
    parameters: Parameters | None = None
    bytes_assumed: bool = False

    @property
    def name(self) -> str:
        """What it is called."""
        return f"{self.source}, loop {self.number}"
