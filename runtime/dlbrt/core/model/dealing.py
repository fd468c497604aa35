"""What self-scheduling will take: estimates for the rules of `dlbrt.core.chunks`.

A pool at rank 0, which computes as well (`dlbrt.core.peers.pooled`). A request takes one message there and
one back, with the rows of the chunk; rank 0 looks for requests between its iterations only (the paper's
polling, `Rules.polls`), and loses the network's context switch by each. Its link takes one message at a time.
A rank asks ahead by as long as an answer takes, in whole iterations, so that it waits only for chunks that
are short. Where
iterations have no data of their own, and chunks follow from their index, they are claimed: a fetch-and-add,
one round trip; nobody is asked, and nobody asks ahead.

The estimate has no events and costs some ten microseconds. All together take as long as the floor, longer by
what ranks wait for chunks, which come at the rate that ranks can ask for and rank 0's link can bring: chunks
that are too short are the last ones, so it is they that count. Then comes the end (`outlook`). Nobody is done
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
from operator import truediv

from dlbrt.core.chunks.factoring import Factoring2
from dlbrt.core.chunks.loop import Known as Facts
from dlbrt.core.chunks.loop import Loop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Pool, Rule, asked
from dlbrt.core.chunks.sequence import Sequence as Chunks
from dlbrt.core.chunks.table import RULES
from dlbrt.core.chunks.together import at_once
from dlbrt.core.model.desk import TINY_S, Desk
from dlbrt.core.model.fluid import Rest
from dlbrt.core.model.known import Known
from dlbrt.core.model.outlook import Outlook
from dlbrt.dist.layout import quickest
from dlbrt.records import dataclass

__all__ = ["Dealing"]

#: Parts of the chunks that are waited for, in an estimate.
PARTS = 4


@dataclass(frozen=True, slots=True)
class Dealing:
    """A rule of `dlbrt.core.chunks.table` by its name.

    Chunks are claimed from an index counter where iterations have no data, if the rule has its chunks by
    index. ``known`` is what the rule is told of the loop; by default `facts`.
    """

    name: str
    known: Facts | None = None

    def near_s(self, known: Known, outlook: Outlook) -> float:
        """About what all that is left takes, the mean over the paths that the load may take."""
        rest = outlook.rest
        if not rest.work_s > 0 or len(known.held) == 1:
            return outlook.floor_s
        rule = self._rule(rest, len(known.held), outlook.facts if self.known is None else self.known)
        return _near_s(rule, self._desk(known, rest, rule), outlook)

    def _rule(self, rest: Rest, ranks: int, told: Facts) -> Rule:
        return RULES[self.name].make(Loop(rest.count, ranks, told))

    def _desk(self, known: Known, rest: Rest, rule: Rule) -> Desk:
        row_s = known.iteration_bytes / known.network.bandwidth
        if not known.iteration_bytes and rule.sequence() is not None:
            return Desk(known.network.latency_s, 0.0, claims=True)
        each_s = rest.mean_s / known.speeds[0] if known.rules.polls else 0.0
        return Desk(known.network.latency_s, row_s, each_s, known.network.switch_s)


@lru_cache(maxsize=16)
def _halving(count: int, ranks: int) -> Chunks:
    """About the chunks of rules that have none by index: those of FAC2."""
    return Factoring2(Loop(count, ranks)).sequence()


def _near_s(rule: Rule, desk: Desk, outlook: Outlook) -> float:
    """The longer of two: all together, the first chunks."""
    own = rule.sequence()
    together_s = _together_s(own or _halving(rule.loop.n, rule.loop.ranks), desk, outlook)
    return max(together_s, _first_s(rule, own, outlook))


def _first_s(rule: Rule, own: Chunks | None, outlook: Outlook) -> float:
    """When the last rank has done its first chunk, the largest of which are the first or by weight; 0 where
    that is sure to be before all is done."""
    loop = rule.loop
    weights = loop.known.weights or (1.0,) * loop.ranks
    top = 0 if own else max(range(loop.ranks), key=weights.__getitem__)
    most = own.size(0) if own else asked(rule, Pool(loop.n), top, Measurements(loop.ranks))[0]
    if most * outlook.rest.mean_s <= outlook.floor_s * outlook.least:
        return 0.0
    if own:
        return outlook.last_s([own.size(rank) for rank in range(loop.ranks)])
    return outlook.last_s([most * weight / weights[top] for weight in weights])


@lru_cache(maxsize=8)
def _together_s(chunks: Chunks, desk: Desk, outlook: Outlook) -> float:
    """The floor, longer by waits for chunks; what rank 0 loses by serving; the end; the last answer."""
    speeds, unit_s, number, count = outlook.speeds, outlook.rest.mean_s, chunks.n, len(chunks)
    ranks = len(speeds)
    size = number / count
    size *= at_once(max(1, int(size)), number, unit_s * ranks / sum(speeds), ranks)
    served_s = number / size * desk.serves_s / ranks
    begun_s = desk.way_s + desk.link_s(chunks.size(0)) + desk.each_s / 2 if outlook.begun else 0.0
    told_s = desk.way_s * (2 if desk.claims else 1)
    ends_s = _ends_s(chunks, outlook)
    return begun_s + outlook.floor_s * _slower(chunks, desk, unit_s, speeds) + served_s + ends_s + told_s


def _ends_s(chunks: Chunks, outlook: Outlook) -> float:
    """How much later than all together the last rank ends: it is in one of the last chunks, unless chunks are
    all of one size on steady ranks, which can be told exactly."""
    ranks, count = len(outlook.speeds), len(chunks)
    uneven_s = _uneven_s(chunks, outlook.rest.mean_s, outlook.speeds)
    if count <= ranks or (uneven_s is not None and outlook.steady):
        return uneven_s or 0.0
    return max(uneven_s or 0.0, outlook.ends_s((chunks.n - chunks.start(count - ranks)) / ranks))


def _uneven_s(chunks: Chunks, unit_s: float, speeds: Sequence[float]) -> float | None:
    """Chunks of one size are dealt in whole ones: how much later the last of them ends; None for others."""
    size, count = chunks.size(0), len(chunks)
    if count > 1 and size != chunks.size(count - 2):
        return None
    longest = float(max(map(truediv, quickest(count, speeds), speeds)))
    return max(0.0, size * unit_s * longest - chunks.n * unit_s / sum(speeds))


def _slower(chunks: Chunks, desk: Desk, unit_s: float, speeds: Sequence[float]) -> float:
    """How many times longer all together take, as ranks wait for chunks too short to be asked for ahead, or
    rank 0's link is too slow for them.

    Sizes do not grow, so these are the last ones; they count by parts as of their mean size.
    """
    total, count = sum(speeds), len(chunks)
    each_s = unit_s * len(speeds) / total
    low, high = 0, 0 if desk.claims else count
    while low < high:
        middle = (low + high) // 2
        size = chunks.size(middle)
        late = desk.wait_s(size, size * each_s) > 0 or desk.link_s(size) * total > size * unit_s
        low, high = (low, middle) if late else (middle + 1, high)
    parts = PARTS if low < count and chunks.size(low) > chunks.size(count - 1) else 1
    bounds = [low + (count - low) * part // parts for part in range(parts + 1)]
    spent = float(chunks.start(low))
    for begin, end in pairwise(bounds):
        if end > begin:
            left, units = chunks.n - chunks.start(begin), chunks.start(end) - chunks.start(begin)
            mean = units / (end - begin)
            mean *= at_once(max(1, int(mean)), left, each_s, len(speeds))
            spent += units * total / _rate(mean, desk, unit_s, speeds)
    return spent / chunks.n


def _rate(size: float, desk: Desk, unit_s: float, speeds: Sequence[float]) -> float:
    """The sum of speeds with waits for chunks of this size, as far as rank 0's link can serve them; at its
    own pool rank 0 does not wait."""
    work_s = size * unit_s
    if desk.claims:
        wait_s = desk.wait_s(size, work_s)
        return sum([work_s / (work_s / speed + wait_s) for speed in speeds])
    rate = sum([work_s / (work_s / speed + desk.wait_s(size, work_s / speed)) for speed in speeds[1:]])
    return speeds[0] + min(rate, work_s / max(desk.link_s(size), TINY_S))
