"""What it costs a rank to be dealt a chunk, asked of rank 0 or claimed from a counter."""

from __future__ import annotations

from math import ceil

from dlbrt.records import dataclass

__all__ = ["NEAR", "TINY_S", "RequestCost"]

#: A time that stands for none in a divisor.
TINY_S = 1e-12

#: Rounding of times over times.
NEAR = 1e-9


@dataclass(frozen=True, slots=True)
class RequestCost:
    """What it costs to be dealt a chunk: a message's way, a unit's rows.

    ``serves_s`` is what rank 0 loses by it, ``each_s`` how long an iteration of rank 0's takes, between two
    of which it looks; 0 where nobody has to look. With ``claims`` nobody is asked, and nobody asks ahead.
    """

    way_s: float
    row_s: float
    each_s: float = 0.0
    serves_s: float = 0.0
    claims: bool = False

    def link_s(self, units: float) -> float:
        """From when rank 0 serves a request until the chunk is there: it takes rank 0's link for so long."""
        return self.way_s + units * self.row_s

    def wait_s(self, units: float, takes_s: float) -> float:
        """How long a rank that has computed for ``takes_s`` waits for the next chunk, asked for ahead.

        It was served at the end of an iteration of rank 0's, and will be again.
        """
        answer_s = self.way_s + self.link_s(units)
        if self.claims:
            return answer_s
        ahead_s = min(takes_s, answer_s + self.each_s)
        if self.each_s and takes_s > 0:
            ahead_s = min(takes_s, ceil(ahead_s * units / takes_s - NEAR) * takes_s / units)
        late_s = answer_s - ahead_s
        if self.each_s and ahead_s < answer_s + self.each_s:
            late_s = ceil((takes_s + late_s) / self.each_s - NEAR) * self.each_s - takes_s
        return max(0.0, late_s)
