"""The first shares of a loop: who begins with which positions, before anything is measured.

`first_shares` is the rule for a run, a simulation and a prediction alike. What iterations cost is, in this
order: the same for all where they go in pairs, so nothing is evaluated for them; what passes before have
measured; what the kernel says; the same for all. Then by what is known of the iterations and of the ranks:

=========  ==========================  =====================================================
dealt in   nothing known, or uniform   work known
=========  ==========================  =====================================================
blocks     equal blocks; by weights    cut by cumulative work (Swartz, sections 2 and 4),
           Ciegis, figure 1            the longest time being least
cyclic     round-robin; by weights     as if nothing were known: dealing is what balances
           Ciegis, figure 3
=========  ==========================  =====================================================

Figure 3 deals row by row, from the last one to the first. In a long loop its pattern is repeated, so that a
share stays a few runs: after as many positions as the sum of the weights, taken as integers, when it begins
again by itself; where that is too long, after `_PERIOD` positions, or more where there are many ranks.

What the shares are then expected to take is in `ShareForecast`, with the loss from dealing in whole
iterations (Swartz, section 5: a domain divided into whole rows is not divided evenly).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice, pairwise
from math import fsum, gcd, inf, lcm
from typing import TYPE_CHECKING

import numpy as np

from dlbrt.contract import Distribution
from dlbrt.data import layout
from dlbrt.data.layout import InitialPartition
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units
from dlbrt.parameters import MAX_GROUPS, MIN_ITERATIONS_EACH, WORK_EDGES
from dlbrt.partition import imbalance
from dlbrt.partition.cost_spec import CostError
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dlbrt.data.layout import Floats
    from dlbrt.partition.known import KnownWork

#: Loops this long are dealt by figure 3 to the last row.
_EXACT = 4096

#: The length of the pattern that is repeated in longer ones, and at least so many rows for each rank.
_PERIOD = 1024
_ROWS_EACH = 16

#: Edges at which work is looked at, to tell what a dealt share of a long loop takes.
_EDGES = 4096


def deal(
    n: int,
    ranks: int,
    distribution: Distribution,
    *,
    first: int = 0,
    weights: Sequence[float] | None = None,
    work: KnownWork | None = None,
) -> tuple[Spans, ...]:
    """The first share of each rank in the positions first..n-1; together they are all of these.

    ``weights`` are relative speeds, one a rank, 0 or more and one above 0; ``work`` is that of positions
    0..n-1, None where all cost the same. ValueError for bad numbers; `CostError` where the work cannot be
    told after all.
    """
    left = n - first
    _check(left, ranks, weights)
    if work is not None and work.n != n:
        raise ValueError(f"expected the work of {n} iterations, found that of {work.n}")
    if distribution is Distribution.CYCLIC:
        shares = _scattered(left, weights) if weights else layout.cyclic(left, ranks)
        return tuple(spans.shifted(first) for spans in shares)
    if work is not None and left and work.before([first])[0] < work.total:
        return _blocks(work.cut(weights or [1.0] * ranks, first))
    if weights:
        from dlbrt.partition.proportional import block_rows

        return _blocks(np.cumsum([first, *block_rows(left, weights)]).tolist())
    return tuple(spans.shifted(first) for spans in layout.block(left, ranks))


@dataclass(frozen=True, slots=True)
class ShareForecast:
    """What shares are expected to take: ``work`` and ``times`` (work over weight) of each rank, any unit.

    ``loss`` is how much longer the slowest rank takes than all would with the work shared ideally, in
    parts of iterations too: max(time) / (sum(work) / sum(weights)), less 1; 0 where there is no work.
    """

    work: tuple[float, ...]
    times: tuple[float, ...]
    loss: float

    @property
    def inefficiency(self) -> float:
        """L_I in percent (Swartz, equation 2)."""
        return imbalance.inefficiency(self.times)

    @property
    def efficiency(self) -> float:
        """L_E in percent (Swartz, equation 3)."""
        return imbalance.efficiency(self.times)

    @property
    def idle_share(self) -> float:
        """The T_max variant of L_I, in percent."""
        return imbalance.idle_share(self.times)


@dataclass(frozen=True, slots=True)
class FirstShares:
    """A deal, the work known of its positions (None: units count as the same), and what it may take."""

    deal: InitialPartition
    work: KnownWork | None = None
    forecast: ShareForecast | None = None

    @property
    def bounds(self) -> tuple[int, ...]:
        """The P + 1 boundaries between the ranks' positions; none where they are not blocks in order."""
        runs = [spans.runs for spans in self.deal.shares]
        if self.deal.units.folded or any(len(r) > 1 or (r and r[0].step > 1) for r in runs):
            return ()
        ends = [self.deal.units.first]
        for r in runs:
            ends.append(r[0].stop if r else ends[-1])
        return tuple(ends)


def first_shares(
    units: Units,
    ranks: int,
    distribution: Distribution,
    *,
    measured: KnownWork | None = None,
    stated: Callable[[], KnownWork | None] = lambda: None,
    unusable: Callable[[CostError], None] = lambda _: None,
    weights: Sequence[float] | None = None,
    turns: int = 0,
) -> FirstShares:
    """What each rank begins with of ``units``, by the rule that this module begins with.

    ``stated`` evaluates what the kernel says that iterations cost; ``unusable`` is told why work cannot be
    used, and iterations count as the same then. ``weights`` are relative speeds, as for `deal`. ``turns``
    above 0 make a trial of ranks that is not of cyclic shares: each gets so many blocks, in turn.
    """

    def dealt(work: KnownWork | None) -> FirstShares:
        first, speeds = 0 if units.folded else units.first, weights or None
        if turns and distribution is not Distribution.CYCLIC:
            shares = tuple(spans.shifted(first) for spans in layout.in_turns(len(units), ranks, turns))
        else:
            shares = deal(first + len(units), ranks, distribution, first=first, weights=speeds, work=work)
        work_table = UNIFORM if work is None else work.table(WORK_EDGES)
        return FirstShares(InitialPartition(units, shares, work_table), work, expected(shares, work, speeds))

    work = None if units.folded else measured
    try:
        if work is None and not units.folded and units.stop >= MIN_ITERATIONS_EACH * ranks:
            work = stated()
        return dealt(work)
    except CostError as error:
        unusable(error)
        return dealt(None)


def expected(
    shares: Sequence[Spans], work: KnownWork | None = None, weights: Sequence[float] | None = None
) -> ShareForecast:
    """What shares are expected to take by the work known of the positions (None: 1 each).

    Exact for blocks, and for dealt shares of up to 65536 positions; in longer loops work is taken as even
    between 4096 edges for these. A rank of weight 0 without work counts as taking the mean time. ValueError
    unless there is a weight for each share; `CostError` as `deal`.
    """
    rates = list(weights) if weights else [1.0] * len(shares)
    if len(rates) != len(shares):
        raise ValueError(f"expected {len(shares)} weights, found {len(rates)}")
    each = [float(len(spans)) for spans in shares] if work is None else _work_of(shares, work)
    ideal = sum(each) / sum(rates)
    times = [_time(amount, rate, ideal) for amount, rate in zip(each, rates, strict=True)]
    return ShareForecast(tuple(each), tuple(times), max(times) / ideal - 1 if ideal else 0.0)


def _time(amount: float, rate: float, mean: float) -> float:
    if rate > 0:
        return amount / rate
    return inf if amount else mean


def _work_of(shares: Sequence[Spans], work: KnownWork) -> list[float]:
    if all(run.step == 1 for spans in shares for run in spans.runs):
        return _of_blocks(shares, work)
    count = work.n if work.n <= MAX_GROUPS else _EDGES
    edges = np.arange(count + 1, dtype=np.int64) * work.n // count
    density = np.diff(work.before(edges)) / np.diff(edges)
    return [sum(_of_dealt(run, edges, density) for run in spans.runs) for spans in shares]


def _of_blocks(shares: Sequence[Spans], work: KnownWork) -> list[float]:
    ends = [(run.start, run.stop) for spans in shares for run in spans.runs]
    work_table = iter(np.diff(work.before(np.array(ends, np.int64).reshape(-1)))[::2].tolist())
    return [fsum(islice(work_table, len(spans.runs))) for spans in shares]


def _of_dealt(run: range, edges: NDArray[np.int64], density: Floats) -> float:
    """The work of every so-manieth position: how many of them lie between two edges, times the density."""
    if len(density) == edges[-1]:
        return float(density[run.start : run.stop : run.step].sum())
    below = np.clip(-((run.start - edges) // run.step), 0, len(run))
    return float(np.diff(below) @ density)


def _scattered(n: int, weights: Sequence[float]) -> tuple[Spans, ...]:
    """Figure 3 for n positions: to the last row, or its pattern repeated from the end on."""
    from dlbrt.partition.proportional import scattered_owners

    period = _period(weights)
    owners = scattered_owners(n if n <= _EXACT else min(n, period), weights)
    if len(owners) == n and not np.array_equal(owners[period:], owners[:-period]):
        period = n
    shares: list[list[range]] = [[] for _ in weights]
    for place, owner in enumerate(owners[-period:].tolist(), max(0, n - period)):
        shares[owner].append(range(place % period, n, period))
    return tuple(Spans.of(*runs) for runs in shares)


def _period(weights: Sequence[float]) -> int:
    """After how many rows the pattern of figure 3 is repeated: the sum of the weights, if it can be."""
    from fractions import Fraction

    decimal = [Fraction(repr(float(weight))) for weight in weights]  # 0.1 is a tenth, as it is written
    unit = lcm(*(weight.denominator for weight in decimal))
    whole = [int(weight * unit) for weight in decimal]
    return min(sum(whole) // gcd(*whole), max(_PERIOD, _ROWS_EACH * len(weights)))


def _blocks(bounds: Sequence[int]) -> tuple[Spans, ...]:
    return tuple(Spans.of(range(low, high)) for low, high in pairwise(bounds))


def _check(left: int, ranks: int, weights: Sequence[float] | None) -> None:
    if left < 0 or ranks < 1:
        raise ValueError(f"expected 0 or more iterations and at least 1 rank, found {left} and {ranks}")
    if weights and len(weights) != ranks:
        raise ValueError(f"expected a weight for each of {ranks} ranks, found {len(weights)}")
    if weights:
        from dlbrt.partition.newton import fractions

        fractions(weights)
