"""What self-scheduling will take: estimates for the rules of `dlbrt.chunks`.

A pool at rank 0, which computes as well (`dlbrt.balance.pooled`). A request takes one message there and
one back, with the rows of the chunk; rank 0 looks for requests between its iterations only (the paper's
polling, `Rules.polls`), and loses the network's context switch by each. Its link takes one message at a time.
A rank asks ahead by as long as an answer takes, in whole iterations, so that it waits only for chunks that
are short. Where
iterations have no data of their own, and chunks follow from their index, they are claimed: a fetch-and-add,
one round trip; nobody is asked, and nobody asks ahead.

The estimate has no events and costs some ten microseconds. All together take as long as the floor, longer by
what ranks wait for chunks, which come at the rate that ranks can ask for and rank 0's link can bring: chunks
that are too short are the last ones, so it is they that count. Then comes the end (`estimate_inputs`). Nobody is done
before its first chunk is, on the paths that the load may take.

What the pool gets back from ranks that hold something when self-scheduling begins amid a loop is not counted:
`auto` does not go over to it. Played in virtual time from the beginning of the paper's 28 loops
(`tests/bench/strategies_virtual.py`, ethernet, loads that last 2, 5 and 20 s, 3 seeds), every rule takes
longer in the mean than what `auto` chooses: FAC2, the best of them, 1.011 times as long, and 1.37 at worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from math import ceil
from operator import truediv

from dlbrt.chunks.rule import ChunkSequence, Pool, Rule, chunks_per_request, next_chunk
from dlbrt.chunks.rules import Factoring2
from dlbrt.chunks.statistics import LoopStatistics, Measurements, ScheduledLoop
from dlbrt.chunks.table import RULES
from dlbrt.data.layout import quickest
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.work import RemainingWork
from dlbrt.records import dataclass

# ------------------------------------------------------------------------------
# What it costs a rank to be dealt a chunk, asked of rank 0 or claimed from a counter.

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


# ------------------------------------------------------------------------------

#: Parts of the chunks that are waited for, in an estimate.
PARTS = 4


@dataclass(frozen=True, slots=True)
class SelfSchedulingModel:
    """A rule of `dlbrt.chunks.table` by its name.

    Chunks are claimed from an index counter where iterations have no data, if the rule has its chunks by
    index. ``known`` is what the rule is told of the loop; by default `loop_statistics`.
    """

    name: str
    known: LoopStatistics | None = None

    def estimate_s(self, known: ModelInputs, estimate_inputs: EstimateInputs) -> float:
        """About what all that is left takes, the mean over the paths that the load may take."""
        remaining = estimate_inputs.remaining
        if not remaining.work_s > 0 or len(known.held) == 1:
            return estimate_inputs.lower_bound_s
        rule = self._rule(
            remaining, len(known.held), estimate_inputs.loop_statistics if self.known is None else self.known
        )
        return _near_s(rule, self._request_cost(known, remaining, rule), estimate_inputs)

    def _rule(self, remaining: RemainingWork, ranks: int, statistics: LoopStatistics) -> Rule:
        return RULES[self.name].make(ScheduledLoop(remaining.count, ranks, statistics))

    def _request_cost(self, known: ModelInputs, remaining: RemainingWork, rule: Rule) -> RequestCost:
        row_s = known.iteration_bytes / known.network.bandwidth
        if not known.iteration_bytes and rule.sequence() is not None:
            return RequestCost(known.network.latency_s, 0.0, claims=True)
        each_s = remaining.mean_s / known.speeds[0] if known.rules.polls else 0.0
        return RequestCost(known.network.latency_s, row_s, each_s, known.network.switch_s)


@lru_cache(maxsize=16)
def _halving(count: int, ranks: int) -> ChunkSequence:
    """About the chunks of rules that have none by index: those of FAC2."""
    return Factoring2(ScheduledLoop(count, ranks)).sequence()


def _near_s(rule: Rule, request_cost: RequestCost, estimate_inputs: EstimateInputs) -> float:
    """The longer of two: all together, the first chunks."""
    own = rule.sequence()
    together_s = _together_s(own or _halving(rule.loop.n, rule.loop.ranks), request_cost, estimate_inputs)
    return max(together_s, _first_s(rule, own, estimate_inputs))


def _first_s(rule: Rule, own: ChunkSequence | None, estimate_inputs: EstimateInputs) -> float:
    """When the last rank has done its first chunk, the largest of which are the first or by weight; 0 where
    that is sure to be before all is done."""
    loop = rule.loop
    weights = loop.known.weights or (1.0,) * loop.ranks
    top = 0 if own else max(range(loop.ranks), key=weights.__getitem__)
    most = own.size(0) if own else next_chunk(rule, Pool(loop.n), top, Measurements(loop.ranks))[0]
    if most * estimate_inputs.remaining.mean_s <= estimate_inputs.lower_bound_s * estimate_inputs.least:
        return 0.0
    if own:
        return estimate_inputs.last_s([own.size(rank) for rank in range(loop.ranks)])
    return estimate_inputs.last_s([most * weight / weights[top] for weight in weights])


@lru_cache(maxsize=8)
def _together_s(chunks: ChunkSequence, request_cost: RequestCost, estimate_inputs: EstimateInputs) -> float:
    """The floor, longer by waits for chunks; what rank 0 loses by serving; the end; the last answer."""
    speeds, unit_s, number, count = (
        estimate_inputs.speeds,
        estimate_inputs.remaining.mean_s,
        chunks.n,
        len(chunks),
    )
    ranks = len(speeds)
    size = number / count
    size *= chunks_per_request(max(1, int(size)), number, unit_s * ranks / sum(speeds), ranks)
    served_s = number / size * request_cost.serves_s / ranks
    begun_s = (
        request_cost.way_s + request_cost.link_s(chunks.size(0)) + request_cost.each_s / 2
        if estimate_inputs.begun
        else 0.0
    )
    end_message_s = request_cost.way_s * (2 if request_cost.claims else 1)
    ends_s = _ends_s(chunks, estimate_inputs)
    return (
        begun_s
        + estimate_inputs.lower_bound_s * _slower(chunks, request_cost, unit_s, speeds)
        + served_s
        + ends_s
        + end_message_s
    )


def _ends_s(chunks: ChunkSequence, estimate_inputs: EstimateInputs) -> float:
    """How much later than all together the last rank ends: it is in one of the last chunks, unless chunks are
    all of one size on steady ranks, which can be told exactly."""
    ranks, count = len(estimate_inputs.speeds), len(chunks)
    uneven_s = _uneven_s(chunks, estimate_inputs.remaining.mean_s, estimate_inputs.speeds)
    if count <= ranks or (uneven_s is not None and estimate_inputs.steady):
        return uneven_s or 0.0
    return max(uneven_s or 0.0, estimate_inputs.ends_s((chunks.n - chunks.start(count - ranks)) / ranks))


def _uneven_s(chunks: ChunkSequence, unit_s: float, speeds: Sequence[float]) -> float | None:
    """Chunks of one size are dealt in whole ones: how much later the last of them ends; None for others."""
    size, count = chunks.size(0), len(chunks)
    if count > 1 and size != chunks.size(count - 2):
        return None
    longest = float(max(map(truediv, quickest(count, speeds), speeds)))
    return max(0.0, size * unit_s * longest - chunks.n * unit_s / sum(speeds))


def _slower(
    chunks: ChunkSequence, request_cost: RequestCost, unit_s: float, speeds: Sequence[float]
) -> float:
    """How many times longer all together take, as ranks wait for chunks too short to be asked for ahead, or
    rank 0's link is too slow for them.

    Sizes do not grow, so these are the last ones; they count by parts as of their mean size.
    """
    total, count = sum(speeds), len(chunks)
    each_s = unit_s * len(speeds) / total
    low, high = 0, 0 if request_cost.claims else count
    while low < high:
        middle = (low + high) // 2
        size = chunks.size(middle)
        late = (
            request_cost.wait_s(size, size * each_s) > 0 or request_cost.link_s(size) * total > size * unit_s
        )
        low, high = (low, middle) if late else (middle + 1, high)
    parts = PARTS if low < count and chunks.size(low) > chunks.size(count - 1) else 1
    bounds = [low + (count - low) * part // parts for part in range(parts + 1)]
    spent = float(chunks.start(low))
    for begin, end in pairwise(bounds):
        if end > begin:
            left, units = chunks.n - chunks.start(begin), chunks.start(end) - chunks.start(begin)
            mean = units / (end - begin)
            mean *= chunks_per_request(max(1, int(mean)), left, each_s, len(speeds))
            spent += units * total / _rate(mean, request_cost, unit_s, speeds)
    return spent / chunks.n


def _rate(size: float, request_cost: RequestCost, unit_s: float, speeds: Sequence[float]) -> float:
    """The sum of speeds with waits for chunks of this size, as far as rank 0's link can serve them; at its
    own pool rank 0 does not wait."""
    work_s = size * unit_s
    if request_cost.claims:
        wait_s = request_cost.wait_s(size, work_s)
        return sum([work_s / (work_s / speed + wait_s) for speed in speeds])
    rate = sum(
        [work_s / (work_s / speed + request_cost.wait_s(size, work_s / speed)) for speed in speeds[1:]]
    )
    return speeds[0] + min(rate, work_s / max(request_cost.link_s(size), TINY_S))
