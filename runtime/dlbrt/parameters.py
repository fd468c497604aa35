"""The numbers that steer balancing, with the paper's defaults where it gives one.

What agents go by and the cost model predicts by stands here once, with its unit and its reason. It imports
nothing, so that the policy, the model, the chunk rules and both drivers can all read it.
"""

from __future__ import annotations

from typing import Final

from dlbrt.records import dataclass

#: Least predicted improvement of the finishing time for which work moves, as a part (Zaki et al.: 10 %).
PROFITABILITY: Final = 0.10

#: Least part of the remaining iterations that is worth a message.
MIN_MOVED: Final = 0.01

#: Seconds of work between two polls for messages. A poll costs about a microsecond, so polling costs about
#: a tenth of a percent; a rank that interrupts waits no longer than this, or one iteration. Chunks of
#: self-scheduling that are shorter are taken several at once, until they last as long.
CHUNK_S: Final = 1e-3

#: Diffusion: time between two rounds of a rank, at least so many seconds and so many exchanges of profiles,
#: so that rounds cost a few per cent of it.
DIFFUSION_PERIOD_S: Final = 5e-3
DIFFUSION_EXCHANGES: Final = 20.0

#: Diffusion: the same in exchanges, where of two neighbours one has work and the other none.
DIFFUSION_NEEDED_EXCHANGES: Final = 5.0

#: Pool: the time that an answer takes may exceed whole units by this part of one, and still count as these.
POOL_SLACK_UNITS: Final = 0.25

#: Pool: while at most so many units a rank are left, rank 0 only serves, if one of its units takes more than
#: so many exchanges: who asks then would wait for it.
POOL_LAST_UNITS: Final = 2
POOL_DEAR_EXCHANGES: Final = 10.0

#: Edges of the table of work by which all ranks share what remains: it travels with the call.
WORK_EDGES: Final = 1024

#: Groups of iterations whose measured times or sums of work are kept, at most: half a megabyte.
MAX_GROUPS: Final = 1 << 16

#: With fewer iterations for each rank there is nothing to divide by what they cost.
MIN_ITERATIONS_EACH: Final = 2


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds of the decision and of the interrupt.

    ``profitability``: least predicted improvement of the finishing time (`PROFITABILITY`).
    ``min_moved``: least share of the remaining iterations that is worth a message (`MIN_MOVED`).
    ``min_sample_s``: computing time below which a window's speed is noise and older ones are used.
    ``interrupt_slack``: part of the window that a rank out of work waits before it interrupts ranks which,
    by what is known, should be finishing too.
    ``interval_factor``: least time between synchronizations, in units of what one costs.
    ``reserve_factor``: how long an interrupted rank works on while profiles travel, likewise.
    ``period_s``: where ranks synchronize by the clock, how long after the last time; at least
    ``interval_factor`` times what it costs.
    ``min_choice_s``: predicted time to the end below which no strategy is chosen; ``adapts``: whether one
    is chosen again at later synchronizations of all ranks.
    ``exchange_s``, ``byte_s``: cost of an exchange and of moving a byte until they are measured.
    """

    profitability: float = PROFITABILITY
    min_moved: float = MIN_MOVED
    min_sample_s: float = 1e-3
    interrupt_slack: float = 0.005
    interval_factor: float = 5.0
    reserve_factor: float = 2.0
    period_s: float = 0.1
    min_choice_s: float = 0.05
    adapts: bool = False
    exchange_s: float = 2e-4
    byte_s: float = 1e-9
