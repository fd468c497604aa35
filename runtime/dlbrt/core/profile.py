"""The performance profile that ranks exchange at a synchronization (Zaki et al., section 1.2).

The metric is the number of iterations done per second since the last synchronization. A profile is
fixed in size, so that an exchange is one collective over a few numbers, whatever the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from dlbrt.records import dataclass

__all__ = ["NO_FAILURE", "SLICES", "Profile"]

#: Position that stands for "no iteration failed": beyond every iteration space, exact as a double.
NO_FAILURE = 2**53


#: Into so many parts of equal time a rank's computing so far is divided, to tell how its speed has changed.
SLICES = 8


@dataclass(frozen=True, slots=True)
class Profile:
    """One rank's report on its window, the time since the last synchronization.

    ``done`` counts units (iterations, or pairs of them); ``compute_s`` is the time they took, emulated load
    included; ``byte_s`` is how many seconds a byte of moved data took it (0: not measured yet); ``failed_at``
    is the lowest position whose body raised, or `NO_FAILURE`; ``reserved`` counts units that the rank keeps
    in any case, to work on while the profiles travel. ``requests_exchange``: another group asks for a round of all
    groups. For ``waited_s`` seconds it waited for the last synchronization, once that was called (0: not
    known). ``slices`` are the speeds, in work a second, of parts of the time so far (0: not known),
    where a strategy is to be chosen by them.
    """

    done: int
    compute_s: float
    byte_s: float = 0.0
    failed_at: int = NO_FAILURE
    reserved: int = 0
    requests_exchange: bool = False
    waited_s: float = 0.0
    slices: tuple[float, ...] = (0.0,) * SLICES

    def encode(self) -> tuple[float, ...]:
        """As doubles, for the exchange; counts below 2**53 stay exact."""
        counts = self.failed_at, self.reserved, self.requests_exchange
        numbers = self.done, self.compute_s, self.byte_s, *counts, self.waited_s
        return (*map(float, numbers), *self.slices)

    @classmethod
    def decode(cls, numbers: Sequence[float]) -> Profile:
        """The inverse of `encode`."""
        done, compute_s, byte_s, failed_at, reserved, requests_exchange, waited_s, *slices = numbers
        counts = int(failed_at), int(reserved), bool(requests_exchange)
        return cls(int(done), compute_s, byte_s, *counts, waited_s, tuple(slices))

    @classmethod
    def width(cls) -> int:
        """How many doubles a profile takes."""
        return len(fields(cls)) - 1 + SLICES
