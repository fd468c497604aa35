"""The first shares of a loop: the positions with which each rank begins, before anything is measured.

`first_shares` is the rule for a run, a simulation and a prediction alike. The work of iterations is the first
of these that is known: uniform for folded pairs, without any evaluation; what earlier passes measured; what
the kernel states; uniform. The deal follows from what is known of the iterations and of the ranks:

=========  ==========================  =====================================================
dealt in   nothing known, or uniform   work known
=========  ==========================  =====================================================
blocks     equal blocks; by weights    cut by cumulative work (Swartz, sections 2 and 4),
           Ciegis, figure 1            the longest time being least
cyclic     round-robin; by weights     as if nothing were known: dealing is what balances
           Ciegis, figure 3
=========  ==========================  =====================================================

Figure 3 deals row by row, from the last row to the first. In a long loop its pattern is repeated, so that a
share stays a few runs: after as many positions as the sum of the weights, taken as integers, where the
pattern begins again by itself; if that is too long, after `_PERIOD` positions, or more for many ranks.

`ShareForecast` has the times that the shares are expected to take, with the loss from dealing in whole
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
from dlbrt.partition.cost_spec import CostError
from dlbrt.records import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dlbrt.data.layout import Floats
    from dlbrt.partition.known import KnownWork

#: Loops up to this length are dealt by figure 3 without repetition.
_EXACT = 4096

#: The length of the pattern repeated in longer loops, and its least number of rows for each rank.
_PERIOD = 1024
_ROWS_EACH = 16

#: The number of edges at which work is sampled, to forecast a dealt share of a long loop.
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
    """The first share of each rank in the positions first..n-1; together they cover all of these.

    ``weights`` are relative speeds, one for each rank, 0 or more and one above 0; ``work`` is the work of
    positions 0..n-1, None if all cost the same. ValueError for bad numbers; `CostError` if the work turns out
    not to be known.
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
    """The expected ``work`` and ``times`` (work over weight) of each rank, in any unit.

    ``loss`` compares the slowest rank with work shared ideally, fractions of iterations included:
    max(time) / (sum(work) / sum(weights)) - 1; 0 if there is no work.
    """

    work: tuple[float, ...]
    times: tuple[float, ...]
    loss: float


@dataclass(frozen=True, slots=True)
class FirstShares:
    """A deal, the known work of its positions (None: all units count the same), and its forecast."""

    deal: InitialPartition
    work: KnownWork | None = None
    forecast: ShareForecast | None = None

    @property
    def bounds(self) -> tuple[int, ...]:
        """The P + 1 boundaries between the ranks' positions; () if these are not blocks in order of rank."""
        runs = [spans.runs for spans in self.deal.shares]
        if self.deal.units.folded or any(len(r) > 1 or (r and r[0].step > 1) for r in runs):
            return ()
        ends = [self.deal.units.first]
        for r in runs:
            if r and r[0].start != ends[-1]:
                return ()
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
    """The share of ``units`` with which each rank begins, by the rule in this module's docstring.

    ``stated`` evaluates the kernel's cost; ``unusable`` is called with the reason if the work cannot be used,
    and all iterations then count the same. ``weights`` are relative speeds, as for `deal`. ``turns`` above 0
    make a trial: each rank gets that many blocks, in turn, unless shares are cyclic.
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
    """The forecast of shares by the known work of the positions (None: 1 each).

    It is exact for blocks, and for dealt shares of up to 65536 positions; for dealt shares of longer loops,
    work counts as even between 4096 edges. A rank of weight 0 without work counts with the mean time.
    ValueError unless there is a weight for each share; `CostError` as `deal`.
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
    per_run = iter(np.diff(work.before(np.array(ends, np.int64).reshape(-1)))[::2].tolist())
    return [fsum(islice(per_run, len(spans.runs))) for spans in shares]


def _of_dealt(run: range, edges: NDArray[np.int64], density: Floats) -> float:
    """The work of a run with a step: its number of positions between two edges, times the density there."""
    if len(density) == edges[-1]:
        return float(density[run.start : run.stop : run.step].sum())
    below = np.clip(-((run.start - edges) // run.step), 0, len(run))
    return float(np.diff(below) @ density)


def _scattered(n: int, weights: Sequence[float]) -> tuple[Spans, ...]:
    """Figure 3 for n positions: in full, or its pattern repeated from the end."""
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
    """The length of the repeated pattern of figure 3: the sum of the weights, unless that is too long."""
    from fractions import Fraction

    decimal = [Fraction(repr(float(weight))) for weight in weights]  # 0.1 is exactly a tenth
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
