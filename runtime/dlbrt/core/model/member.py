"""One rank in the recurrences: the iterations it holds, and how far it has got (Zaki et al., 1.3.1, 1.3.2).

Where speeds are integrated (`Averaging.EXACT`), a rank's clock is kept twice: as a time, and as the capacity
of its processor up to then. What fits until a time is a difference of capacities, and when work ends is one
inverse; so a window between two synchronizations costs three of each. It is the inner loop of a choice, which
has to be made in milliseconds.
"""

from __future__ import annotations

from dlbrt.core.model.redistribute import ModelOptions
from dlbrt.core.model.speed import Averaging, Processor
from dlbrt.core.model.work import NOTHING, IterationCosts, Runs
from dlbrt.records import dataclass

__all__ = ["ModelRank"]

_EXACT = Averaging.EXACT


@dataclass(slots=True)
class ModelRank:
    """What a rank of a group holds, since when it is ready, and how fast it was.

    ``units`` is the cost of ``held``, ``at_s`` the capacity of the processor up to ``ready_s``, ``end_s``
    when it will have done all that it holds. ``worked_s`` and ``took_s`` are what it did by its profiles.
    """

    work: IterationCosts
    rules: ModelOptions
    processor: Processor
    held: Runs
    ready_s: float
    speed: float
    units: int = 0
    at_s: float = 0.0
    end_s: float = 0.0
    worked_s: float = 0.0
    took_s: float = 0.0

    def __post_init__(self) -> None:
        self.units = self.work.units(self.held)
        self.at_s = self.processor.capacity(self.ready_s)
        self.plan()

    def gets(self, held: Runs) -> None:
        """Hold these from now on."""
        if held is not self.held:
            self.held, self.units = held, self.work.units(held)

    def resume(self, when: float) -> None:
        """Go on then, if it is ready by then."""
        if when > self.ready_s:
            self.ready_s, self.at_s = when, self.processor.capacity(when)

    def plan(self) -> float:
        """When it will have done all that it holds."""
        end_s = self._finish_s(self.units * self.work.unit_s)
        self.end_s = end_s
        return end_s

    def compute(self, until_s: float) -> tuple[float, float]:
        """Work until it looks, at ``until_s`` or later, or has finished; what it did, and in what time."""
        begin_s, stops_s, units, unit_s = self.ready_s, self.end_s, self.units, self.work.unit_s
        if stops_s <= until_s:
            self.held, self.units = NOTHING, 0
            work_s = units * unit_s
        elif until_s <= begin_s:
            return 0.0, 0.0
        else:
            self.held, self.units = self.work.remaining_after(
                self.held, units, self._fits_s(until_s) / unit_s
            )
            work_s = (units - self.units) * unit_s
            if not self.rules.polls:
                stops_s = until_s
            elif self.held:
                next_poll_s = self._finish_s(work_s)
                stops_s = next_poll_s if next_poll_s > until_s else until_s
        if self.rules.polls:
            self.at_s += work_s
        else:  # an iteration begun counts as done, so work over time is not the speed
            work_s = self.processor.average(begin_s, stops_s, self.rules.averaging) * (stops_s - begin_s)
            self.at_s = self.processor.capacity(stops_s)
        self.ready_s = stops_s
        return work_s, stops_s - begin_s

    def learn(self, work_s: float, seconds: float) -> None:
        """The speed since the last synchronization, or since the beginning."""
        if self.rules.all_history:
            work_s, seconds = work_s + self.worked_s, seconds + self.took_s
            self.worked_s, self.took_s = work_s, seconds
        if work_s > 0 and seconds > 0:
            self.speed = work_s / seconds

    def _fits_s(self, until_s: float) -> float:
        """The work for which there is time until then."""
        if self.rules.averaging is _EXACT:
            return self.processor.capacity(until_s) - self.at_s
        return self.processor.done(self.ready_s, until_s, self.rules.averaging)

    def _finish_s(self, work_s: float) -> float:
        """When so much is done."""
        if not work_s > 0:
            return self.ready_s
        if self.rules.averaging is _EXACT:
            end_s = self.processor.reached(self.at_s + work_s)
            return end_s if end_s > self.ready_s else self.ready_s
        return self.processor.finish(self.ready_s, work_s, self.rules.averaging)
