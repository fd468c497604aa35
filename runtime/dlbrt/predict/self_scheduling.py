"""How long self-scheduling will take: estimates for the rules of `dlbrt.chunks`.

A pool is at rank 0, which computes as well (`dlbrt.balance.pooled`). A request takes one message there and
one back, with the rows of the chunk; rank 0 polls for requests between its iterations (`ModelOptions.polls`),
and within long ones after `SERVE_S`; each request costs it the network's context switch. Its link takes one
message at a time. A rank asks ahead by as long as an answer takes, in whole iterations, so that it waits only
for chunks that are short. Where iterations have no data of their own, and chunks follow from their index,
chunks are claimed: a fetch-and-add, one round trip; no rank is asked, and no rank asks ahead.

The estimate has no events and costs some ten microseconds. All ranks together take as long as the lower
bound, and longer by their waits for chunks, which come at the rate that ranks can ask for and rank 0's link
can bring: chunks that are too short are the last ones, so the last ones count. Then comes the end
(`EstimateInputs`). No rank is done before its first chunk is, on the paths of the load.

Work that ranks hold when self-scheduling begins within a loop would have to return to the pool; this is not
counted, as `auto` does not change to self-scheduling. Simulated in virtual time from the beginning of the
paper's 28 loops (`tests/bench/strategies_virtual.py`, ethernet, loads that last 2, 5 and 20 s, 3 seeds),
every rule takes longer on average than what `auto` chooses: FAC2, the best of them, 1.011 times as long, and
1.37 at worst.
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
from dlbrt.parameters import SERVE_S
from dlbrt.predict.inputs import EstimateInputs, ModelInputs
from dlbrt.predict.work import RemainingWork
from dlbrt.records import dataclass

#: A time that replaces 0 in a divisor.
TINY_S = 1e-12

#: The rounding error of quotients of times.
NEAR = 1e-9

#: Parts of the chunks that are waited for, in an estimate.
PARTS = 4


@dataclass(frozen=True, slots=True)
class RequestCost:
    """What a chunk costs the rank that gets it: ``way_s`` a message, ``row_s`` the rows of a unit.

    ``serves_s`` is what rank 0 loses by it, ``each_s`` the time between two polls of rank 0, which
    are an iteration apart, or less; 0 where it need not poll. With ``claims`` chunks are claimed, and no rank
    is asked, or asks ahead.
    """

    way_s: float
    row_s: float
    each_s: float = 0.0
    serves_s: float = 0.0
    claims: bool = False

    def link_s(self, units: float) -> float:
        """How long a chunk takes from rank 0 to the asking rank; it occupies rank 0's link as long."""
        return self.way_s + units * self.row_s

    def wait_s(self, units: float, takes_s: float) -> float:
        """How long a rank that computes for ``takes_s`` then waits for the next chunk, asked for ahead.

        It was served at the end of an iteration of rank 0, and will be again.
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


@dataclass(frozen=True, slots=True)
class SelfSchedulingModel:
    """A rule of `dlbrt.chunks.table` by its name.

    Chunks are claimed from a counter where iterations have no data, if the rule gives its chunks by index.
    ``known`` is what the rule knows of the loop; by default `loop_statistics`.
    """

    name: str
    known: LoopStatistics | None = None

    def estimate_s(self, known: ModelInputs, estimate_inputs: EstimateInputs) -> float:
        """As `Estimated.estimate_s`: the longer of two, all ranks together, or the first chunks."""
        remaining = estimate_inputs.remaining
        if not remaining.work_s > 0 or len(known.held) == 1:
            return estimate_inputs.lower_bound_s
        statistics = estimate_inputs.loop_statistics if self.known is None else self.known
        rule = RULES[self.name].make(ScheduledLoop(remaining.count, len(known.held), statistics))
        own, request_cost = rule.sequence(), self._request_cost(known, remaining, rule)
        together_s = _together_s(own or _halving(rule.loop.n, rule.loop.ranks), request_cost, estimate_inputs)
        return max(together_s, _first_s(rule, own, estimate_inputs))

    def _request_cost(self, known: ModelInputs, remaining: RemainingWork, rule: Rule) -> RequestCost:
        row_s = known.iteration_bytes / known.network.bandwidth
        if not known.iteration_bytes and rule.sequence() is not None:
            return RequestCost(known.network.latency_s, 0.0, claims=True)
        each_s = min(remaining.mean_s / known.speeds[0], 2 * SERVE_S) if known.rules.polls else 0.0
        return RequestCost(known.network.latency_s, row_s, each_s, known.network.switch_s)


@lru_cache(maxsize=16)
def _halving(count: int, ranks: int) -> ChunkSequence:
    """Roughly the chunks of rules without chunks by index: those of FAC2."""
    return Factoring2(ScheduledLoop(count, ranks)).sequence()


def _first_s(rule: Rule, own: ChunkSequence | None, estimate_inputs: EstimateInputs) -> float:
    """When the last rank has done its first chunk; 0 where this is certain to be before all is done.

    The largest first chunk is that of rank 0 or of the rank of most weight.
    """
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
    """The lower bound, longer by waits for chunks; what rank 0 loses by serving; the end; the last answer."""
    speeds, unit_s, number = estimate_inputs.speeds, estimate_inputs.remaining.mean_s, chunks.n
    ranks, size = len(speeds), number / len(chunks)
    size *= chunks_per_request(max(1, int(size)), number, unit_s * ranks / sum(speeds), ranks)
    served_s = number / size * request_cost.serves_s / ranks
    begun_s = 0.0
    if estimate_inputs.begun:
        begun_s = request_cost.way_s + request_cost.link_s(chunks.size(0)) + request_cost.each_s / 2
    end_message_s = request_cost.way_s * (2 if request_cost.claims else 1)
    computing_s = estimate_inputs.lower_bound_s * _slower(chunks, request_cost, unit_s, speeds)
    return begun_s + computing_s + served_s + _ends_s(chunks, estimate_inputs) + end_message_s


def _ends_s(chunks: ChunkSequence, estimate_inputs: EstimateInputs) -> float:
    """How much later the last rank ends than all together would.

    It is in one of the last chunks, unless all chunks have one size on ranks of constant speed, where the
    time is known exactly.
    """
    ranks, count = len(estimate_inputs.speeds), len(chunks)
    uneven_s = _uneven_s(chunks, estimate_inputs.remaining.mean_s, estimate_inputs.speeds)
    if count <= ranks or (uneven_s is not None and estimate_inputs.steady):
        return uneven_s or 0.0
    return max(uneven_s or 0.0, estimate_inputs.ends_s((chunks.n - chunks.start(count - ranks)) / ranks))


def _uneven_s(chunks: ChunkSequence, unit_s: float, speeds: Sequence[float]) -> float | None:
    """How much later the last of chunks of one size ends, as they are whole; None if sizes differ."""
    size, count = chunks.size(0), len(chunks)
    if count > 1 and size != chunks.size(count - 2):
        return None
    longest = float(max(map(truediv, quickest(count, speeds), speeds)))
    return max(0.0, size * unit_s * longest - chunks.n * unit_s / sum(speeds))


def _slower(
    chunks: ChunkSequence, request_cost: RequestCost, unit_s: float, speeds: Sequence[float]
) -> float:
    """How many times longer all together take by waits for chunks.

    Chunks are waited for that are too short to be asked for ahead, or for rank 0's link. Sizes do not grow,
    so these are the last chunks; they count by parts, each with its mean size.
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
    """The sum of speeds with waits for chunks of this size, as far as rank 0's link serves them.

    Rank 0 does not wait, as the pool is its own.
    """
    work_s = size * unit_s
    if request_cost.claims:
        wait_s = request_cost.wait_s(size, work_s)
        return sum([work_s / (work_s / speed + wait_s) for speed in speeds])
    rate = sum(
        [work_s / (work_s / speed + request_cost.wait_s(size, work_s / speed)) for speed in speeds[1:]]
    )
    return speeds[0] + min(rate, work_s / max(request_cost.link_s(size), TINY_S))
