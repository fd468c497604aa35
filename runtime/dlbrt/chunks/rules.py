"""The rules that measure nothing within the loop: SS, FSC, mFSC, GSS, TSS, FAC, FAC2, WF, AWF.

Chunks of one size.

* SS: one unit (Tang, Yew 1986): least imbalance, most chunks.
* FSC: (sqrt(2) N h / (sigma P sqrt(ln P)))^(2/3), rounded up, for which overhead and the expected wait for
  the last rank are least together (Kruskal, Weiss 1985, for large N and equal ranks). With P = 1 or sigma =
  0 no rank waits, and the chunk is a rank's share; it never is more. DLS4LB divides by 0 in both cases.
* mFSC: about as many chunks as factoring makes, without knowing sigma or h: floor(0.55 + n ln 2 / ln n) with
  n = ceil(N/P), as in DLS4LB; 1 for n = 1, where the formula divides by 0.

Chunks that shrink one by one.

* GSS: the next chunk is a rank's share of what is left, ceil(R/P) (Polychronopoulos, Kuck 1987). If
  iterations cost the same, ranks that begin at any times end within one iteration of each other. DLS4LB and
  its simulator LoopSim disagree about the rounding; here it is the ceiling of the paper, whose example (N =
  100, P = 5) is a test.
* TSS: chunks that shrink evenly, from f = ceil(N/2P) to l = 1 (Tzen, Ni 1993): S = ceil(2N/(f + l)) chunks,
  the k-th of f - k (f - l)/(S - 1). The step is a fraction, and sizes are rounded up, so that S chunks are
  enough. An integer step, as in DLS4LB, is 0 as soon as f - l < S - 1, which is wherever N/P is less than
  about 8 P: all chunks then are of size f, and TSS is a static schedule. Tables in the literature were made
  with integer steps; ``step`` gives them.

Batches of P equal chunks, so small that the next batches can even out the imbalance they leave.

* FAC (Flynn Hummel, Schonberg, Flynn 1992): with R_j left, chunks of batch j have ceil(R_j/(x_j P)) units,
  b_j = P sigma / (2 mu sqrt(R_j)), x_0 = 1 + b^2 + b sqrt(b^2 + 2), x_j = 2 + b^2 + b sqrt(b^2 + 4). With
  sigma = 0 the first batch deals everything. What DLS4LB calls FAC is x = 2.
* FAC2: x = 2, in the form that depends on the counter k alone: ceil((N/P) (1/2)^(floor(k/P) + 1))
  (Eleliemy, Ciorba 2021). The table of 1992 follows from R_j instead; it is WF with equal weights.

Factoring for ranks of unequal speed.

* WF (Flynn Hummel, Schmidt, Uma, Wein 1996): with R_j left, batch j deals P ceil(R_j/2P) units, and the
  chunk of rank i is w_i ceil(R_j/2P), to the nearest unit; the weights w_i are relative speeds that add up
  to P. With equal weights this is factoring with x = 2 as its table of 1992 has it.
* AWF (Banicescu, Velusamy, Devaprasad 2003): WF in each time step, with weights from the steps before: pi_i
  = sum(s t_is) / sum(s n_is) over steps s, w_i = P (1/pi_i) / sum(1/pi_k). In the first step they are
  equal, or the weights known. A rank that was not measured keeps its known weight (1 where nothing is known),
  and the measured ranks share the sum of theirs: so the weights add up to P whichever ranks were measured.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import groupby
from math import ceil, fsum, log, sqrt

from dlbrt.chunks.rule import Batch, ChunkSequence, Pool, Rule
from dlbrt.chunks.statistics import Basis, LoopStatistic, Measurements, RankStatistics, ScheduledLoop
from dlbrt.records import dataclass


class Factoring(Rule):
    """FAC; ValueError where mean and deviation are not known."""

    def __init__(self, loop: ScheduledLoop) -> None:
        loop.require("FAC", LoopStatistic.VARIATION)
        super().__init__(loop)
        mean, deviation = loop.known.mean_s or 0.0, loop.known.deviation_s or 0.0
        self._variation = deviation / mean if deviation else 0.0

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """P chunks by the formula."""
        chunk = self._chunk(left)
        return Batch(left - chunk * self.loop.ranks, chunk)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """The chunk of the batch."""
        return batch.chunk

    def sequence(self) -> ChunkSequence:
        """One run a batch."""
        return ChunkSequence(self.loop.n, self._runs())

    def _chunk(self, left: int) -> int:
        b = self.loop.ranks * self._variation / (2 * sqrt(left))
        least = 1 if left == self.loop.n else 2
        ratio = least + b * b + b * sqrt(b * b + 2 * least)
        return max(1, ceil(left / (ratio * self.loop.ranks)))

    def _runs(self) -> Iterator[tuple[int, int]]:
        left = self.loop.n
        while left > 0:
            chunk = self._chunk(left)
            yield self.loop.ranks, chunk
            left -= chunk * self.loop.ranks


class Factoring2(Rule):
    """FAC2."""

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """By the number of chunks dealt before."""
        return self._size(pool.chunks // self.loop.ranks)

    def sequence(self) -> ChunkSequence:
        """One run a batch; n halvings, each rounded up, reach 1 and then go on."""
        halvings = self.loop.n.bit_length()
        runs = [(self.loop.ranks, self._size(j)) for j in range(halvings)]
        return ChunkSequence(self.loop.n, [*runs, (max(1, self.loop.n), 1)])

    def _size(self, batch: int) -> int:
        return -(-self.loop.n // (self.loop.ranks << (batch + 1)))


class FixedSize(Rule):
    """Chunks of ``chunk`` >= 1 units."""

    def __init__(self, loop: ScheduledLoop, chunk: int) -> None:
        super().__init__(loop)
        self.chunk = chunk

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """The same for all."""
        return self.chunk

    def sequence(self) -> ChunkSequence:
        """One run."""
        return ChunkSequence(self.loop.n, [(max(1, -(-self.loop.n // self.chunk)), self.chunk)])


def ss(loop: ScheduledLoop) -> Rule:
    """Self-scheduling."""
    return FixedSize(loop, 1)


def fsc(loop: ScheduledLoop) -> Rule:
    """Fixed-size chunking; ValueError where overhead or deviation is not known."""
    loop.require("FSC", LoopStatistic.OVERHEAD, LoopStatistic.DEVIATION)
    overhead, deviation = loop.known.overhead_s or 0.0, loop.known.deviation_s or 0.0
    share = max(1, loop.each)
    waiting = deviation * loop.ranks * sqrt(log(loop.ranks))
    work = sqrt(2) * loop.n * overhead
    if not work < share**1.5 * waiting:  # also where the quotient would not be finite
        return FixedSize(loop, share)
    return FixedSize(loop, min(share, max(1, ceil((work / waiting) ** (2 / 3)))))


def mfsc(loop: ScheduledLoop) -> Rule:
    """Modified fixed-size chunking."""
    return FixedSize(loop, mfsc_size(loop))


def mfsc_size(loop: ScheduledLoop) -> int:
    """The chunk of mFSC, 1 or more."""
    share = loop.each
    return max(1, int(0.55 + share * log(2) / log(share))) if share > 1 else 1


class Guided(Rule):
    """Guided self-scheduling."""

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """ceil(R/P)."""
        return -(-pool.left // self.loop.ranks)

    def sequence(self) -> ChunkSequence:
        """By runs: chunks have s units as long as more than (s - 1) P are left."""
        return ChunkSequence(self.loop.n, self._runs())

    def _runs(self) -> Iterator[tuple[int, int]]:
        left, ranks = self.loop.n, self.loop.ranks
        while left > 0:
            size = -(-left // ranks)
            count = -(-(left - (size - 1) * ranks) // size)
            yield count, size
            left -= count * size


#: The size of the last chunk of TSS.
_LAST = 1


class Trapezoid(Rule):
    """Trapezoid self-scheduling; ValueError for a ``step`` below 0."""

    def __init__(self, loop: ScheduledLoop, step: Fraction | None = None) -> None:
        super().__init__(loop)
        if step is not None and step < 0:
            raise ValueError(f"expected a step of 0 or more, found {step}")
        self.first = max(_LAST, -(-loop.n // (2 * loop.ranks)))
        self.count = -(-2 * loop.n // (self.first + _LAST))
        fitting = Fraction(self.first - _LAST, max(1, self.count - 1))
        self.step = fitting if step is None else step
        self._fall, self._per = self.step.numerator, self.step.denominator

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """f - k step, rounded up."""
        return self._size(pool.chunks)

    def sequence(self) -> ChunkSequence:
        """By runs of equal sizes."""
        return ChunkSequence(self.loop.n, self._runs())

    def _size(self, k: int) -> int:
        return max(_LAST, self.first - k * self._fall // self._per)

    def _runs(self) -> Iterator[tuple[int, int]]:
        for size, alike in groupby(self._size(k) for k in range(self.count)):
            yield len(list(alike)), size
        yield max(1, self.loop.n), _LAST  # only a step that is not the fitting one leaves anything


class Weighted(Rule):
    """WF with the weights known of the loop, equal weights where none are known."""

    def __init__(self, loop: ScheduledLoop) -> None:
        super().__init__(loop)
        self.weights = loop.weights

    def begin(self, left: int, seen: Measurements) -> Batch:  # noqa: ARG002
        """Half of what is left."""
        chunk = halved(left, self.loop.ranks)
        return Batch(left - chunk * self.loop.ranks, chunk)

    def size(self, pool: Pool, batch: Batch, rank: int, seen: Measurements) -> int:  # noqa: ARG002
        """The rank's weight of an equal chunk."""
        return nearest(self.weights[rank] * batch.chunk)


class AcrossSteps(Weighted):
    """AWF in one time step: WF with the weights known, whose measurements are for the next step (`Steps`)."""

    learns = True


def halved(left: int, ranks: int) -> int:
    """ceil(R/2P)."""
    return -(-left // (2 * ranks))


def nearest(size: float) -> int:
    """The integer that is nearest, the larger one of two."""
    return int(size + 0.5)


def reweighted(rates: Sequence[float], prior: Sequence[float]) -> tuple[float, ...]:
    """Weights by measured rates (units a second), ``prior`` ones where a rate is 0; of the same sum."""
    measured = fsum(rates)
    if not measured:
        return tuple(prior)
    scale = fsum(weight for rate, weight in zip(rates, prior, strict=True) if rate) / measured
    return tuple(rate * scale if rate else weight for rate, weight in zip(rates, prior, strict=True))


@dataclass(frozen=True, slots=True)
class Steps:
    """What AWF keeps of time steps: units and seconds of each rank, weighted by the step's number."""

    count: int
    units: tuple[float, ...]
    compute_s: tuple[float, ...]

    @classmethod
    def before(cls, ranks: int) -> Steps:
        """No step yet."""
        return cls(0, (0.0,) * ranks, (0.0,) * ranks)

    def then(self, seen: Measurements) -> Steps:
        """The steps with another one, in which ``seen`` was measured."""
        s = self.count + 1
        pairs = [(record.units, record.mean_s * record.units) for record in seen.records]
        units = tuple(old + s * new for old, (new, _) in zip(self.units, pairs, strict=True))
        compute_s = tuple(old + s * new for old, (_, new) in zip(self.compute_s, pairs, strict=True))
        return Steps(s, units, compute_s)

    def weights(self, prior: Sequence[float]) -> tuple[float, ...]:
        """The weights of the next step."""
        records = [
            RankStatistics(weighted_units=units, weighted_compute_s=seconds)
            for units, seconds in zip(self.units, self.compute_s, strict=True)
        ]
        return reweighted([record.rate(Basis.COMPUTE) for record in records], prior)
