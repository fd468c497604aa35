"""The numbers that steer balancing, with the paper's defaults where it gives one."""

from __future__ import annotations

from dlbrt.records import dataclass

__all__ = ["Parameters"]


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds of the decision and of the interrupt.

    ``profitability``: least predicted improvement of the finishing time (Zaki et al.: 10 %).
    ``least_moved``: least share of the remaining iterations that is worth a message.
    ``least_sample_s``: computing time below which a window's speed is noise and older ones are used.
    ``patience``: part of the window that a rank out of work waits before it interrupts ranks which,
    by what is known, should be finishing too.
    ``interval_factor``: least time between synchronizations, in units of what one costs.
    ``reserve_factor``: how long an interrupted rank works on while profiles travel, likewise.
    ``period_s``: where ranks synchronize by the clock, how long after the last time; at least
    ``interval_factor`` times what it costs.
    ``least_choice_s``: predicted time to the end below which no strategy is chosen; ``adapts``: whether one
    is chosen again at later synchronizations of all ranks.
    ``exchange_s``, ``byte_s``: cost of an exchange and of moving a byte until they are measured.
    """

    profitability: float = 0.10
    least_moved: float = 0.01
    least_sample_s: float = 1e-3
    patience: float = 0.005
    interval_factor: float = 5.0
    reserve_factor: float = 2.0
    period_s: float = 0.1
    least_choice_s: float = 0.05
    adapts: bool = False
    exchange_s: float = 2e-4
    byte_s: float = 1e-9
