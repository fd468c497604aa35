"""The numbers that steer balancing, with the paper's defaults where it gives one.

Each number that agents and the cost model use is defined once, here, with its unit and its reason. This
module imports only `records`, so that the policy, the model, the chunk rules and both drivers can read it.
"""

from __future__ import annotations

from typing import Final

from dlbrt.records import dataclass

#: Least predicted improvement of the finishing time for which work moves, as a fraction (Zaki et al.: 10 %).
PROFITABILITY: Final = 0.10

#: Least fraction of the remaining iterations that is worth a message.
MIN_MOVED: Final = 0.01

#: Seconds of work between two polls for messages. A poll costs about a microsecond, so polling costs about a
#: tenth of a percent; a rank that interrupts waits no longer than this, or one iteration. Shorter chunks of
#: self-scheduling are taken several at a time, until they last as long.
CHUNK_S: Final = 1e-3

#: A rank that has been within an iteration for so many seconds begins to answer other ranks, and looks for
#: messages as often. A look takes about 50 us, since it interrupts the iteration.
SERVE_S: Final = 1e-2

#: Compiled chunks last longer, since their loops run over strips of iterations; on a rank alone, which has no
#: one to react to, long enough that their price cannot be seen.
COMPILED_S: Final = 3e-3
COMPILED_ALONE_S: Final = 50e-3

#: After each stretch of folded pairs that come apart a rank closes what it has contributed and synchronizes,
#: which takes a tenth of a millisecond. So these stretches may grow longer than `CHUNK_S`: to this part of
#: the time since the loop began, and at most to so many seconds.
PAIRS_PART: Final = 0.02
MAX_PAIRS_S: Final = 8e-3

#: Diffusion: the time between two rounds of a rank is at least this many seconds, and this many exchanges of
#: profiles, so that rounds cost a few per cent of it.
DIFFUSION_PERIOD_S: Final = 5e-3
DIFFUSION_EXCHANGES: Final = 20.0

#: Diffusion: the same, in exchanges, if one of two neighbours has work and the other has none.
DIFFUSION_NEEDED_EXCHANGES: Final = 5.0

#: Pool: the time of an answer counts as whole units if it exceeds them by at most this part of a unit.
POOL_SLACK_UNITS: Final = 0.25

#: Stealing, diffusion: ranks count for themselves what is done where a message takes at least so many seconds
#: for each other rank. Sending one takes about 5 us.
COUNT_S: Final = 2e-5

#: Routines: what it takes, besides the rows that move, until passes over new shares go on as those before.
#: Several runs are planned and sent anew (200 passes of heat in a plate: 4.8 ms on two ranks).
REPLAN_S = 5e-3

#: Edges of the work table by which all ranks share what remains; it is sent with the call.
WORK_EDGES: Final = 1024

#: The most groups of iterations whose measured times or sums of work are kept: half a megabyte.
MAX_GROUPS: Final = 1 << 16

#: With fewer iterations for each rank, their costs are not evaluated: there is nothing to divide.
MIN_ITERATIONS_EACH: Final = 2


@dataclass(frozen=True, slots=True)
class Parameters:
    """Thresholds of the decision and of the interrupt.

    ``profitability``: least predicted improvement of the finishing time (`PROFITABILITY`).
    ``min_moved``: least fraction of the remaining iterations that is worth a message (`MIN_MOVED`).
    ``min_sample_s``: computing time below which a window's speed is noise and older windows are used.
    ``interrupt_slack``: part of the window that a rank out of work waits before it interrupts ranks that are
    expected to finish soon too.
    ``interval_factor``: least time between synchronizations, in units of the cost of one.
    ``reserve_factor``: how long an interrupted rank works on while profiles travel, in the same units.
    ``period_s``: if ranks synchronize by the clock, the time between synchronizations; at least
    ``interval_factor`` times the cost of one.
    ``min_choice_s``: predicted time to the end below which no strategy is chosen; ``adapts``: whether a
    strategy is chosen again at later synchronizations of all ranks; ``asks_model``: whether there are surveys
    of ranks that steal, for the model.
    ``whole_history``: speeds are those since the loop began, not those of the last window.
    ``poll_s``: how long ranks compute between two polls, where that is longer than an iteration.
    ``exchange_s``, ``byte_s``: seconds of an exchange and of moving a byte until they are measured.
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
    asks_model: bool = True
    whole_history: bool = False
    poll_s: float = 0.0
    exchange_s: float = 2e-4
    byte_s: float = 1e-9
