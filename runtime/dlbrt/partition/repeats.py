"""Densities that were measured while the machine was busy with other things: which of them can be trusted.

Other programs that take a processor make some groups of iterations look expensive, in one pass these and in
the next pass those, whereas what iterations cost comes back. So such a pass is repeated. The repeats are
put together by the median of each group, of two by the lesser, since a disturbance only adds to a time. They
are confirmed by cross-validation: each repeat is cut as the others together suggest, and has to be better
balanced that way than by the cut under which all of them were measured.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dlbrt.partition.density import Density
from dlbrt.partition.imbalance import inefficiency

#: The last so many repeats count. A density that they do not refute stays until the next check.
MOST_REPEATS = 5

#: A pass is disturbed if the processor was given for less than this part of the seconds of computing.
QUIET_SHARE = 0.95


def typical(repeats: Sequence[Density]) -> Density:
    """The density that one or more repeats have in common; ValueError unless their groups are alike."""
    first = repeats[0]
    if any((each.n, each.group) != (first.n, first.group) for each in repeats):
        raise ValueError("expected densities by the same groups")
    work = np.stack([each.work for each in repeats])
    return Density(first.n, first.group, work.min(axis=0) if len(repeats) == 2 else np.median(work, axis=0))


def are_confirmed(repeats: Sequence[Density], bounds: Sequence[int], speeds: Sequence[float]) -> bool:
    """Whether a cut by the repeats, two at least, would be better than the one by ``bounds``.

    Shares are judged by the seconds that they take ranks of ``speeds``; a rank of speed 0 does not count.
    """
    for place, each in enumerate(repeats):
        others = typical([*repeats[:place], *repeats[place + 1 :]]) if len(repeats) > 1 else each
        cut = others.cut(speeds)
        if not _imbalance(each, cut, speeds) < _imbalance(each, bounds, speeds):
            return False
    return len(repeats) > 1


def share_times(density: Density, bounds: Sequence[int], speeds: Sequence[float]) -> list[float]:
    """The seconds that the shares between ``bounds`` take ranks of ``speeds``; 0 at speed 0."""
    work = density.between(bounds).tolist()
    return [part / speed if speed > 0 else 0.0 for part, speed in zip(work, speeds, strict=True)]


def _imbalance(density: Density, bounds: Sequence[int], speeds: Sequence[float]) -> float:
    times = share_times(density, bounds, speeds)
    return inefficiency([t for t, speed in zip(times, speeds, strict=True) if speed > 0])
