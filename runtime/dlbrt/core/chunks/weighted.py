"""WF and AWF: factoring for ranks of unequal speed.

* WF (Flynn Hummel, Schmidt, Uma, Wein 1996): with R_j left, batch j deals P ceil(R_j/2P) units, and the
  chunk of rank i is w_i ceil(R_j/2P), to the nearest unit; the weights w_i are relative speeds that add up
  to P. With equal weights this is factoring with x = 2 as its table of 1992 has it.
* AWF (Banicescu, Velusamy, Devaprasad 2003): WF in each time step, with weights from the steps before: pi_i
  = sum(s t_is) / sum(s n_is) over steps s, w_i = P (1/pi_i) / sum(1/pi_k). In the first step they are
  equal, or those that are known.

A rank that was not measured keeps its known weight (1 where nothing is known), and the measured ones share
what they have of theirs: so the weights add up to P with any part of the ranks measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import fsum

from dlbrt.core.chunks.loop import ScheduledLoop
from dlbrt.core.chunks.measured import Basis, Measurements, RankStatistics
from dlbrt.core.chunks.rule import Batch, Pool, Rule
from dlbrt.records import dataclass

__all__ = ["AcrossSteps", "Steps", "Weighted", "halved", "nearest", "reweighted"]


class Weighted(Rule):
    """WF with the weights known of the loop, equal ones where none are."""

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
    """What AWF keeps of time steps: of each rank, units and seconds weighted by the step's number."""

    count: int
    units: tuple[float, ...]
    compute_s: tuple[float, ...]

    @classmethod
    def before(cls, ranks: int) -> Steps:
        """No step yet."""
        return cls(0, (0.0,) * ranks, (0.0,) * ranks)

    def then(self, seen: Measurements) -> Steps:
        """With one time step more, of which ``seen`` is all that was measured."""
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
