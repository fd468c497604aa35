"""The size K of the groups of local strategies, tuned by the model (Zaki et al., sections 1.2.1 and 1.3.2).

The smaller a group, the cheaper its synchronizations, and the more of the imbalance lies between groups,
where no local strategy reaches it. Which counts for more depends on the network, the load and the iterations,
all of which the model has. So it plays LDDLB and LCDLB to the end for a few sizes, on the paths of the load
by which strategies are compared, and takes the size by which the better of the two ends first.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from dlbrt.predict.choose import SEED
from dlbrt.predict.groups import blocks
from dlbrt.predict.inputs import ModelInputs
from dlbrt.predict.recurrence import evaluate
from dlbrt.predict.schemes import SCHEMES

#: Another size is taken if it is predicted to take less time by this part.
MIN_GAIN = 0.02

#: Ranks times paths that are played for a size.
_EFFORT = 16

#: At most so many sizes are played.
_MAX_SIZES = 6


def sizes(ranks: int, unit: int) -> tuple[int, ...]:
    """The sizes worth comparing: of two groups, four, eight .., in multiples of ``unit``, at least 2."""
    found = []
    for halvings in range(1, _MAX_SIZES + 1):
        size = -(-ranks // 2**halvings)
        size = -(-size // unit) * unit
        if 2 <= size < ranks and size not in found:
            found.append(size)
    return tuple(found)


def tuned(known: ModelInputs, unit: int = 1) -> int | None:
    """The size of blocks by which the local strategies end first from a synchronization on.

    Sizes are multiples of ``unit``, the ranks of a host where these are to stay together. None where the
    present groups of ``known`` are as good, by `MIN_GAIN`.
    """
    ranks = len(known.held)
    best_s, best = (1 - MIN_GAIN) * _ahead_s(known), None
    for size in sizes(ranks, unit):
        seconds = _ahead_s(replace(known, groups=blocks(ranks, size), within=()))
        if seconds < best_s:
            best_s, best = seconds, size
    return best


def _ahead_s(known: ModelInputs) -> float:
    """How long the better of the local strategies takes from now on, the mean over paths."""
    random = Random(SEED)
    drawn = max(1, _EFFORT // len(known.held)) - 1
    paths = [known.history.mean_path(), *(known.history.drawn_path(random) for _ in range(drawn))]
    totals = [
        sum(
            evaluate(
                known.scenario(scheme, path), scheme, known.held, known.groups, speeds=known.speeds
            ).total_s
            for path in paths
        )
        for scheme in SCHEMES
        if scheme.local
    ]
    return min(totals) / len(paths)
