"""What self-scheduling will take: the rules of `dlbrt.core.chunks`, played (`chunk_play`) or estimated.

A pool at rank 0, which computes as well (`dlbrt.core.peers.pooled`). A request takes one message there and
one back, with the rows of the chunk; rank 0 looks for requests between its iterations only (the paper's
polling, `Rules.polls`), and loses the network's context switch by each. Its link takes one message at a time.
A rank asks ahead by as long as an answer takes, so that it waits only for chunks that are short. Where
iterations have no data of their own, and chunks follow from their index, they are claimed: a fetch-and-add,
one round trip; nobody is asked, and nobody asks ahead.

The estimate has no events and costs some microseconds: the longest of what all take together with their waits
for short chunks, of the first chunk on the slowest rank, and of rank 0's messages.

What the pool gets back from ranks that hold something when self-scheduling begins amid a loop is not counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from dlbrt.core.chunks.factoring import Factoring2
from dlbrt.core.chunks.loop import Known as Facts
from dlbrt.core.chunks.loop import Loop
from dlbrt.core.chunks.measured import Measurements
from dlbrt.core.chunks.rule import Pool, Rule, asked
from dlbrt.core.chunks.sequence import Sequence as Chunks
from dlbrt.core.chunks.table import RULES
from dlbrt.core.chunks.together import at_once
from dlbrt.core.model.chunk_play import ChunkPlay
from dlbrt.core.model.desk import Desk
from dlbrt.core.model.fluid import Rest
from dlbrt.core.model.grains import grains
from dlbrt.core.model.known import Known
from dlbrt.core.model.outlook import Outlook, facts
from dlbrt.core.model.speed import Processor

__all__ = ["Dealing"]


@dataclass(frozen=True, slots=True)
class Dealing:
    """A rule of `dlbrt.core.chunks.table` by its name.

    ``claims``: by an index counter, if the rule has its chunks by index; by default where iterations have no
    data. ``known`` is what the rule is told of the loop; by default `facts`. Where nothing was computed yet
    the first chunks are there, as first shares.
    """

    name: str
    claims: bool | None = None
    known: Facts | None = None

    def ahead_s(self, known: Known, processors: Sequence[Processor]) -> float:
        """What all that is left takes on this path of speeds."""
        rest = known.rest
        if not rest.work_s > 0:
            return 0.0
        rule = self._rule(rest, len(known.held), facts(known) if self.known is None else self.known)
        each, desk = grains(known.work, known.held), self._desk(known, rest, rule)
        return ChunkPlay(rule, rest, each, desk, processors, dealt=known.elapsed_s == 0).total_s()

    def near_s(self, known: Known, outlook: Outlook) -> float:
        """About that, without events."""
        rest = outlook.rest
        if not rest.work_s > 0 or len(known.held) == 1:
            return outlook.floor_s
        rule = self._rule(rest, len(known.held), outlook.facts if self.known is None else self.known)
        return _near_s(rule, self._desk(known, rest, rule), outlook)

    def _rule(self, rest: Rest, ranks: int, told: Facts) -> Rule:
        return RULES[self.name].make(Loop(rest.count, ranks, told))

    def _desk(self, known: Known, rest: Rest, rule: Rule) -> Desk:
        row_s = known.iteration_bytes / known.network.bandwidth
        claims = not known.iteration_bytes if self.claims is None else self.claims
        if claims and rule.sequence() is not None:
            answer_s = known.network.all_to_all.seconds(2)
            return Desk(known.network.latency_s, 0.0, answer_s=answer_s, claims=True)
        each_s = rest.mean_s / known.speeds[0] if known.rules.polls else 0.0
        answer_s = known.network.all_to_all.seconds(2)
        return Desk(known.network.latency_s, row_s, each_s, known.network.switch_s, answer_s)


@lru_cache(maxsize=16)
def _halving(count: int, ranks: int) -> Chunks:
    """About the chunks of rules that have none by index: those of FAC2."""
    return Factoring2(Loop(count, ranks)).sequence()


def _near_s(rule: Rule, desk: Desk, outlook: Outlook) -> float:
    """The longest of three: all together, the slowest rank's first chunk, rank 0's messages."""
    number, unit_s, speeds = rule.loop.n, outlook.rest.mean_s, outlook.speeds
    ranks = len(speeds)
    own = rule.sequence()
    chunks = own or _halving(number, ranks)
    count, slowest = len(chunks), min(range(ranks), key=speeds.__getitem__)
    first = own.size(slowest) if own else asked(rule, Pool(number), slowest, Measurements(ranks))[0]
    slowest_s = first * unit_s / speeds[slowest]
    begun_s = desk.way_s + desk.link_s(chunks.size(0)) + desk.each_s / 2
    last_s = chunks.size(count - 1) * unit_s / speeds[slowest] / 2 + desk.way_s
    size = number / count
    size *= at_once(max(1, int(size)), number, unit_s * ranks / sum(speeds), ranks)
    link_s = desk.least_s(number / size, size, size * unit_s / speeds[0])
    served_s = number / size * desk.serves_s / ranks
    together_s = outlook.floor_s * _slower(chunks, desk, unit_s, speeds) + served_s
    return max(begun_s + max(together_s + last_s, slowest_s), link_s)


def _slower(chunks: Chunks, desk: Desk, unit_s: float, speeds: Sequence[float]) -> float:
    """How many times longer all together take, as ranks wait for chunks too short to be asked for ahead.

    Sizes do not grow, so these are the last ones; they count as of their mean size.
    """
    each_s = unit_s * len(speeds) / sum(speeds)
    low, high = 0, len(chunks)
    while low < high:
        middle = (low + high) // 2
        size = chunks.size(middle)
        low, high = (middle + 1, high) if desk.wait_s(size, size * each_s) <= 0 else (low, middle)
    if low == len(chunks):
        return 1.0
    units = chunks.n - chunks.start(low)
    short = units / (len(chunks) - low)
    short *= at_once(max(1, int(short)), units, each_s, len(speeds))
    return 1 + units / chunks.n * (sum(speeds) / _rate(short, desk, unit_s, speeds) - 1)


def _rate(size: float, desk: Desk, unit_s: float, speeds: Sequence[float]) -> float:
    """The sum of speeds with waits for chunks of this size; at its own pool rank 0 does not wait."""
    rate = 0.0 if desk.claims else speeds[0]
    for speed in speeds if desk.claims else speeds[1:]:
        takes_s = size * unit_s / speed
        rate += speed * takes_s / (takes_s + desk.wait_s(size, takes_s))
    return rate
