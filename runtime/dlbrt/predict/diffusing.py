"""How long parabolic diffusion will take (`dlbrt.balance.diffusing`), round by round.

Heirich and Taylor's step with processors of different speeds (`dlbrt.diffusion.uneven`): the time t_i = u_i /
s_i that remains to each rank spreads over links with conductances alpha min(s_i, s_j), of a chain or, for
iterations without data, of a box (`dlbrt.diffusion.neighbourhood`). A round takes nu + 1 messages to the
neighbours, each of which polls and answers between its iterations only: so a message takes as long as the
slowest iteration. Rounds follow each other after a period, a shorter one where a rank has run out of work.
Only ranks without work wait for them.

As the rounds of a long loop are many, m of them are simulated as one step of size m alpha, solved exactly (a
tridiagonal system, in a box one for each line, axis by axis), where Jacobi's iterations approximate: m steps
of gain 1 / (1 + y) and one of gain 1 / (1 + m y) spread long waves alike. After an exact step a rank holds
s_i v_i, since fluxes are those of the v; so no share is below 0, and work is conserved. m is chosen so that
there are about `MAX_ROUNDS` rounds. Where iterations have rows, a flux is at most what its link carries in
that time, and what gains time (`movement.worth_giving`).

On a chain of P ranks an imbalance from end to end takes about (P / pi)^2 / alpha rounds: this limits
diffusion where P is large, not its messages; in a box P is the longest side.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil

from dlbrt.diffusion.neighbourhood import Neighbourhood
from dlbrt.parameters import DIFFUSION_EXCHANGES, DIFFUSION_NEEDED_EXCHANGES, DIFFUSION_PERIOD_S
from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.movement import worth_giving
from dlbrt.predict.work import count, lower_bound_s
from dlbrt.records import dataclass

#: Rounds until the lower bound, in a simulation and in a coarse one.
MAX_ROUNDS, FEW_ROUNDS = 64, 8

#: The part of all work that counts as nothing left.
NOTHING_LEFT = 1e-9


@dataclass(frozen=True, slots=True)
class DiffusionModel:
    """Diffusion among neighbours, on a chain the ends of blocks moving."""

    name: str = "diffusion"

    def simulate_s(self, known: ModelInputs, processors: Sequence[Processor]) -> float:
        """As `Candidate.simulate_s`."""
        work_s = known.remaining.work_s
        if not work_s > 0:
            return 0.0
        return _total_s(known, processors, lower_bound_s(processors, work_s), MAX_ROUNDS)

    def estimate_s(self, known: ModelInputs, estimate_inputs: EstimateInputs) -> float:
        """As `Estimated.estimate_s`: in few rounds, on the path of means and, for the others, on the last.

        The others cost most: after each change of load even shares are uneven.
        """
        work_s, paths = estimate_inputs.remaining.work_s, estimate_inputs.paths
        if not work_s > 0:
            return 0.0
        longer = []
        for path in (paths[0], paths[-1]) if len(paths) > 1 else paths:
            floor = lower_bound_s(path, work_s)
            longer.append(_total_s(known, path, floor, FEW_ROUNDS) / floor)
        return estimate_inputs.lower_bound_s * (longer[0] + (len(paths) - 1) * longer[-1]) / len(paths)


def _total_s(known: ModelInputs, processors: Sequence[Processor], floor: float, most: int) -> float:
    """Rounds until all is done, half an iteration on the slowest rank, and two messages to end the loop."""
    end_s = _Play(known, processors, most / floor).total_s()
    if len(processors) == 1:
        return end_s
    return end_s + known.remaining.mean_s / min(known.speeds) / 2 + 2 * known.network.latency_s


class _Play:
    """What each rank holds, from round to round, in base seconds; at most ``rate`` rounds a second."""

    def __init__(self, known: ModelInputs, processors: Sequence[Processor], rate: float) -> None:
        remaining, ranks = known.remaining, len(processors)
        self.processors, self.least_s = processors, 1 / rate
        self.held_s = [known.work.units(runs) * known.work.unit_s for runs in known.held]
        self.speeds = list(known.speeds)
        self.row_s = known.iteration_bytes / known.network.bandwidth / remaining.mean_s
        self.late_s = [0.0] * ranks
        self.at_s: list[float | None] = [0.0] * ranks  # the capacity up to now, where a rank is computing
        self.latency_s = known.network.latency_s
        stand = Neighbourhood.among(ranks, without_rows=known.without_rows)
        self.alpha, self.axes = stand.step.alpha, tuple(stand.lines())
        word_s = self.latency_s + (_slowest_s(known) if known.rules.polls else 0.0)
        words_s = (stand.step.iterations + 1) * word_s
        answer_s = known.network.all_to_all.seconds(2)
        self.period_s = words_s + max(DIFFUSION_PERIOD_S, DIFFUSION_EXCHANGES * answer_s)
        self.idle_s = words_s + DIFFUSION_NEEDED_EXCHANGES * answer_s

    def total_s(self) -> float:
        """When the last rank has done what it holds."""
        now, end_s, least_s = 0.0, 0.0, NOTHING_LEFT * sum(self.held_s)
        while sum(self.held_s) > least_s:
            real_s = self.idle_s if min(self.held_s) <= 0 else self.period_s
            alike = max(1, ceil(self.least_s / real_s))
            if now > 0:
                self._spread(self.alpha * alike, real_s * alike, alike)
            end_s = max(end_s, *self._compute(now, now + real_s * alike))
            now += real_s * alike
        return end_s

    def _compute(self, begin_s: float, until_s: float) -> list[float]:
        """Let all ranks compute; the times at which ranks finished, and 0."""
        ends_s = [0.0]
        for rank, processor in enumerate(self.processors):
            held_s, at_s, from_s = self.held_s[rank], self.at_s[rank], begin_s
            self.at_s[rank] = None
            if held_s <= 0:
                continue
            if at_s is None:
                from_s = min(begin_s + self.late_s[rank], until_s)
                at_s = processor.capacity(from_s)
            could_s = processor.capacity(until_s)
            if could_s - at_s < held_s:
                self.held_s[rank], self.at_s[rank] = held_s - (could_s - at_s), could_s
                if until_s > from_s:
                    self.speeds[rank] = (could_s - at_s) / (until_s - from_s)
            else:
                ends_s.append(processor.reached(at_s + held_s))
                self.held_s[rank] = 0.0
        return ends_s

    def _spread(self, alpha: float, lasts_s: float, rounds: int) -> None:
        """Do a step of as many ``rounds`` in ``lasts_s``; a rank that had nothing waits for what it gets."""
        before = self.held_s.copy()
        self.sends_s = [lasts_s] * len(before)  # how long each rank's link is free, to send and to receive
        self.receives_s = self.sends_s.copy()
        for axis in self.axes:
            for line in axis:
                self._spread_on(line, alpha)
        self.late_s = [
            self.latency_s + min(lasts_s, after * self.row_s) / rounds if held <= 0 and after > 0 else 0.0
            for held, after in zip(before, self.held_s, strict=True)
        ]

    def _spread_on(self, line: Sequence[int], alpha: float) -> None:
        """Let work flow on a chain; with rows as much as links carry and gains time (`worth_giving`)."""
        held_s, speeds = self.held_s, self.speeds
        levels = implicit([held_s[rank] for rank in line], [speeds[rank] for rank in line], alpha)
        if not self.row_s:
            for rank, level in zip(line, levels, strict=True):
                held_s[rank] = speeds[rank] * level
            return
        times = {rank: held_s[rank] / speeds[rank] for rank in line}
        for (rank, level), (other, next_level) in pairwise(zip(line, levels, strict=True)):
            flux = alpha * min(speeds[rank], speeds[other]) * (level - next_level)
            giver, taker = (rank, other) if flux > 0 else (other, rank)
            given = self._carried(giver, taker, abs(flux), times[taker])
            held_s[giver] -= given
            held_s[taker] += given

    def _carried(self, giver: int, taker: int, flux: float, taker_s: float) -> float:
        """How much of a flux moves in this step; rank 0 has all rows."""
        held_s, speeds, given = self.held_s[giver], self.speeds, min(flux, self.held_s[giver])
        if not taker or given <= 0:
            return given
        most = worth_giving(held_s, speeds[giver], taker_s, speeds[taker], self.latency_s, self.row_s)
        free_s = min(self.sends_s[giver], self.receives_s[taker])
        given = max(0.0, min(given, most, free_s / self.row_s))
        self.sends_s[giver] -= given * self.row_s
        self.receives_s[taker] -= given * self.row_s
        return given


def _slowest_s(known: ModelInputs) -> float:
    """The longest mean iteration on any rank, of the work it holds."""
    pairs = zip(known.held, known.speeds, strict=True)
    return max(
        known.work.units(runs) * known.work.unit_s / count(runs) / speed for runs, speed in pairs if runs
    )


def implicit(held: Sequence[float], speeds: Sequence[float], alpha: float) -> list[float]:
    """The v of s_i v_i + sum_j c_ij (v_i - v_j) = u_i on a chain (Thomas's algorithm)."""
    links = [alpha * min(one, other) for one, other in pairwise(speeds)]
    upper: list[float] = []
    found: list[float] = []
    for rank, (units, speed) in enumerate(zip(held, speeds, strict=True)):
        below = links[rank - 1] if rank else 0.0
        above = links[rank] if rank < len(links) else 0.0
        pivot = speed + below + above - (below * upper[-1] if rank else 0.0)
        upper.append(above / pivot)
        found.append((units + (below * found[-1] if rank else 0.0)) / pivot)
    for rank in range(len(found) - 2, -1, -1):
        found[rank] += upper[rank] * found[rank + 1]
    return found
