"""A request to `dlbc simulate`: its options, how their numbers are read, and why it may fail."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field

from dlbrt.parameters import Parameters
from dlbrt.records import dataclass
from dlbrt.sim.description import NetworkDescription
from dlbrt.sim.machine import LoopModel, Machine

from dlbc.commands.explain.loop_numbers import NumberError
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.source import Source


class CannotSimulateError(NumberError):
    """The request cannot be simulated, for the reasons that the message gives, one on a line."""


class FaultyProgramError(Exception):
    """The program has errors, which are among the ``diagnostics`` of the ``source``.

    ``besides`` is what else is wrong with the request, as the message of a CannotSimulateError.
    """

    def __init__(self, source: Source, diagnostics: tuple[Diagnostic, ...], besides: str = "") -> None:
        super().__init__(source.path)
        self.source = source
        self.diagnostics = diagnostics
        self.besides = besides


class Problems:
    """Collects errors, so that all of them are reported at once."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Around a part that may raise NumberError: keep the error, and go on after the part."""
        try:
            yield
        except NumberError as error:
            self._found.append(str(error))
        except FaultyProgramError as error:
            raise FaultyProgramError(error.source, error.diagnostics, "\n".join(self._found)) from error

    def end(self) -> None:
        """Raise CannotSimulateError with all errors kept, if there are any."""
        if self._found:
            raise CannotSimulateError("\n".join(self._found))


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
    kill: Sequence[str] = ()
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
    """The number of the loop that is ``wanted``, or of the only one; CannotSimulateError if there is none."""
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


@dataclass(frozen=True, slots=True)
class SimulatedLoop:
    """A loop to be simulated, of a program or of a recorded run.

    ``source`` is its place (``file.py:12``), ``number`` its number there, ``notes`` are for people, and
    ``model`` makes its model for a number of ranks. ``group`` is the size of groups by its clause. A recorded
    loop ran on ``machine``, with the ``parameters`` of balancing; machines without a description have the
    ``network``. ``bytes_assumed``: the bytes that move with an iteration are not wholly known.
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
        """The loop's place and number, for people."""
        return f"{self.source}, loop {self.number}"
