"""The simulated processors with the network between them, and the loop.

Both are frozen descriptions. The real cost of iterations and the balancer's knowledge of it differ: the first
is the ``seconds`` of a `LoopModel`, the second its ``work_table``.

How much a rank computes by when is the integral of its effective speed under emulated load. Discrete load
(Zaki, Li, Parthasarathy, section 1.3.1): in the k-th duration of persistence a rank of speed S with load l(k)
computes S / (l(k) + 1) as fast. The loads are drawn by `dlbrt.emulation`, as in a run. Their sums up to each
block are kept, so that both directions take a search.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import field, replace
from itertools import accumulate

import numpy as np

from dlbrt.data.layout import InitialPartition, block
from dlbrt.data.spans import Spans
from dlbrt.data.work_table import UNIFORM, Units, WorkTable
from dlbrt.emulation import Load, LoadSpec, parse_cliffs, parse_load, parse_speeds
from dlbrt.predict.groups import GroupRules
from dlbrt.predict.network import Network
from dlbrt.records import dataclass

#: Products of times and speeds are compared with this relative tolerance.
ROUNDING = 1e-9


class LoadedProcessor:
    """The computing that rank ``rank`` of relative speed ``speed`` can do, which begins with ``held`` units.

    Times count from loop entry.
    """

    __slots__ = ("_block_s", "_full", "_load", "_steady", "_sums")

    def __init__(self, spec: LoadSpec, rank: int, speed: float = 1.0, held: int = 0) -> None:
        self._load = Load(spec, rank)
        self._load.hold(held)
        self._full = speed / self._load.speed_factor
        drawn = spec.random if spec.random is not None and spec.random.maximum else None
        self._block_s = drawn.duration_s if drawn is not None else 0.0
        self._steady = 0.0 if drawn is not None else self._full / (self._load.level(0.0) + 1)
        self._sums = [0.0]

    def done(self, time_s: float) -> float:
        """Seconds of computing, on a processor of speed 1, that are done by a time."""
        if not self._block_s:
            return time_s * self._steady
        block = int(time_s / self._block_s)
        while len(self._sums) < block + 2:
            self._extend()
        whole = self._sums[block]
        return whole + (time_s / self._block_s - block) * (self._sums[block + 1] - whole)

    def when(self, done_s: float) -> float:
        """The time by which ``done_s`` is done: the inverse of `done`."""
        if not self._block_s:
            return done_s / self._steady
        while self._sums[-1] <= done_s:
            self._extend()
        block = bisect_right(self._sums, done_s) - 1
        whole = self._sums[block]
        return (block + (done_s - whole) / (self._sums[block + 1] - whole)) * self._block_s

    def _extend(self) -> None:
        middle_s = (len(self._sums) - 0.5) * self._block_s
        self._sums.append(self._sums[-1] + self._block_s * self._full / (self._load.level(middle_s) + 1))


@dataclass(frozen=True, slots=True)
class Machine:
    """Ranks of relative ``speeds``, under emulated ``load``, on a ``network``.

    ``groups`` are the groups of local strategies, together all ranks, which cooperate by the ``rules``.
    ValueError without a speed, or for one that is not above 0.
    """

    speeds: tuple[float, ...]
    network: Network = field(default_factory=Network.default)
    load: LoadSpec = field(default_factory=LoadSpec)
    groups: tuple[tuple[int, ...], ...] = ()
    rules: GroupRules = field(default_factory=GroupRules)

    def __post_init__(self) -> None:
        if not self.speeds or min(self.speeds) <= 0:
            raise ValueError(f"expected one speed above 0 for each rank, found {self.speeds}")

    @property
    def ranks(self) -> int:
        """The number of ranks."""
        return len(self.speeds)

    def processors(self, held: Sequence[int] = ()) -> tuple[LoadedProcessor, ...]:
        """The processor of each rank, which begins with ``held`` units; by default below its cliff."""
        each = enumerate(zip(self.speeds, held or (0,) * self.ranks, strict=True))
        return tuple(LoadedProcessor(self.load, rank, speed, units) for rank, (speed, units) in each)


@dataclass(frozen=True, slots=True)
class LoopModel:
    """A loop of ``n`` iterations; the one at position p takes ``seconds[p]`` on a processor of speed 1.

    ``seconds`` may be one number for all. ``folded`` deals pairs t and n-1-t. ``work_table`` is the work of
    units as the balancer knows it. ``iteration_bytes`` move with an iteration. ``shares`` are the units that
    each rank begins with, by default equal blocks. ValueError for times that are below 0 or not one for each
    iteration.
    """

    n: int
    seconds: float | tuple[float, ...]
    folded: bool = False
    work_table: WorkTable = UNIFORM
    iteration_bytes: float = 0.0
    shares: tuple[Spans, ...] = ()

    def __post_init__(self) -> None:
        each = self.seconds if isinstance(self.seconds, tuple) else (self.seconds,)
        if isinstance(self.seconds, tuple) and len(each) != self.n:
            raise ValueError(f"expected {self.n} times, one for each iteration, found {len(each)}")
        if self.n < 0 or min(each, default=0.0) < 0:
            raise ValueError(
                f"expected times and a number of iterations of 0 or more, found {self.n}, {each}"
            )

    @property
    def units(self) -> Units:
        """The units that are dealt."""
        return Units(0, self.n, self.folded)

    def deal(self, ranks: int) -> InitialPartition:
        """The first shares of the units; ValueError if ``shares`` are not for that many ranks."""
        if self.shares and len(self.shares) != ranks:
            raise ValueError(f"expected shares for {ranks} ranks, found {len(self.shares)}")
        return InitialPartition(self.units, self.shares or block(len(self.units), ranks), self.work_table)

    @property
    def unit_bytes(self) -> float:
        """The bytes that move with a unit."""
        return self.iteration_bytes * (2 if self.folded else 1)

    def costs(self) -> UnitCosts:
        """The seconds of units."""
        return UnitCosts(self)


class UnitCosts:
    """Seconds that units take on a processor of speed 1."""

    def __init__(self, loop: LoopModel) -> None:
        each: Sequence[float] = [loop.seconds] * loop.n if loop.folded else ()  # type: ignore[list-item]
        each = loop.seconds if isinstance(loop.seconds, tuple) else each
        self._one = 0.0 if isinstance(loop.seconds, tuple) or loop.folded else loop.seconds
        self._uniform = not each
        if loop.folded and each:
            half = len(loop.units)
            each = [each[u] + (each[loop.n - 1 - u] if u != loop.n - 1 - u else 0.0) for u in range(half)]
        self._each = np.array(each, dtype=np.float64)
        self._before = list(accumulate(each, initial=0.0))

    @property
    def mean_and_deviation(self) -> tuple[float, float]:
        """The mean and the standard deviation of the seconds of a unit."""
        if not len(self._each):
            return self._one, 0.0
        return float(self._each.mean()), float(self._each.std())

    def of(self, spans: Spans) -> float:
        """The seconds of ``spans``."""
        return self._run(spans.runs[0]) if len(spans.runs) == 1 else sum(map(self._run, spans.runs))

    def of_first(self, spans: Spans, count: int) -> float:
        """The seconds of the first ``count`` units of ``spans``."""
        seconds = 0.0
        for run in spans.runs:
            if count <= len(run):
                return seconds + self._run(run[:count])
            seconds += self._run(run)
            count -= len(run)
        return seconds

    def within(self, spans: Spans, seconds: float) -> int:
        """How many units of ``spans``, in order, are completed in ``seconds``."""
        count, seconds = 0, seconds * (1 + ROUNDING)
        for run in spans.runs:
            takes = self._run(run)
            if seconds < takes:
                return count + self._of_run(run, seconds)
            seconds -= takes
            count += len(run)
        return count

    def _run(self, run: range) -> float:
        if self._uniform:
            return self._one * len(run)
        if run.step == 1:
            return self._before[run.stop] - self._before[run.start]
        return float(self._each[run.start : run.stop : run.step].sum())

    def _of_run(self, run: range, seconds: float) -> int:
        """How many units of a run that takes longer are completed in ``seconds``."""
        if self._uniform:
            return min(len(run) - 1, int(seconds / self._one))
        if run.step == 1:
            end = bisect_right(self._before, self._before[run.start] + seconds, run.start, run.stop)
            return max(0, min(len(run) - 1, end - 1 - run.start))
        sums = np.cumsum(self._each[run.start : run.stop : run.step])
        return min(len(run) - 1, int(np.searchsorted(sums, seconds, side="right")))


# Loads and speeds for any number of ranks. A list such as ``fixed:0,3`` or ``1,1,4`` is for as many ranks as
# it has values; for a multiple of that number the list is repeated.

_FIXED = "fixed:"


def load_for(text: str, ranks: int) -> LoadSpec:
    """The load that ``text`` describes, for ``ranks`` ranks; OptionError as in `parse_load`."""
    kind = text.strip()
    values = kind.removeprefix(_FIXED)
    return parse_load(_FIXED + _repeated(values, ranks) if values != kind else text, ranks)


def speeds_for(text: str, ranks: int) -> LoadSpec:
    """The emulated speeds and cliffs that ``text`` lists; OptionError as in `parse_speeds`."""
    values = _repeated(text, ranks)
    return LoadSpec(speeds=parse_speeds(values, ranks), cliffs=parse_cliffs(values, ranks))


def reseeded(load: LoadSpec, number: int, ranks: int) -> LoadSpec:
    """The ``number``-th load of the same kind: no two share the draws of a rank; only random loads differ."""
    if load.random is None:
        return load
    return replace(load, random=replace(load.random, seed=load.random.seed + number * ranks))


def _repeated(values: str, ranks: int) -> str:
    """The list repeated to one value per rank; unchanged if that is impossible, which parsing refuses."""
    times, rest = divmod(ranks, values.count(",") + 1)
    return values if rest or not times else ",".join([values] * times)
