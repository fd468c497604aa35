"""How dear iterations are along what is left, for chunks whose size is work but which hold whole iterations.

Self-scheduling deals work where W(i) is known (`dlbrt.core.chunks.work`): a chunk of c mean iterations is the
iterations whose work is nearest to c, and one at least. So chunks of dear iterations are larger than asked
for. What is left is cut into parts of equal work; within each, iterations count as alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from dlbrt.core.model.work import Runs, Work, count

__all__ = ["PARTS", "grains"]

PARTS = 16


def grains(work: Work, held: Sequence[Runs]) -> tuple[float, ...]:
    """The cost of iterations over the mean cost, by `PARTS` of the work in order; one number where all are
    alike.

    The order is that of ranks, and within each that of its iterations.
    """
    rest = work.joined(*held)
    units, number = work.units(rest), count(rest)
    if work.prefix is None or not units:
        return (1.0,)
    found = []
    for part in range(PARTS):
        first, rest = work.nearest(rest, units / PARTS) if part + 1 < PARTS else (rest, ())
        cost = work.units(first) or units / PARTS
        found.append(cost / max(1, count(first)) * number / units)
    return tuple(found)
