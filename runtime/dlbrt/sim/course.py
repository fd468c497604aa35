"""How much a rank computes by when: the integral of its effective speed under emulated load.

Discrete load (Zaki, Li, Parthasarathy, section 1.3.1): in the k-th duration of persistence a rank of speed S
with load l(k) computes S / (l(k) + 1) as fast. The loads are those of `dlbrt.core.load`, drawn as a run draws
them. Their sums up to each block are kept, so that both directions take a search.
"""

from __future__ import annotations

from bisect import bisect_right

from dlbrt.core.load import Load, LoadSpec

__all__ = ["LoadedProcessor"]


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
        """Seconds of computing on a processor of speed 1 that are done by a time."""
        if not self._block_s:
            return time_s * self._steady
        block = int(time_s / self._block_s)
        while len(self._sums) < block + 2:
            self._extend()
        whole = self._sums[block]
        return whole + (time_s / self._block_s - block) * (self._sums[block + 1] - whole)

    def when(self, done_s: float) -> float:
        """The time by which so much is done: the inverse of `done`."""
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
