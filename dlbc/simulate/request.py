"""What was asked of `dlbc simulate`, and its numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dlbrt.records import dataclass

from dlbc.simulate.problems import CannotSimulateError

__all__ = ["SimulationRequest", "choose_loop", "read_count", "read_number"]

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
