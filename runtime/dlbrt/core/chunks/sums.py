"""Sums over ranks that follow single changes.

A balanced tree of partial sums: a change costs log2 P additions, and the sum depends on the values alone,
not on the order in which they came. A running total with differences added would drift, and two drivers
that hear the same reports in another order would decide otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["SumTree"]


class SumTree:
    """The sum of numbers, one for each of 1 or more places."""

    def __init__(self, values: Sequence[float]) -> None:
        self._places = 1 << (len(values) - 1).bit_length()
        self._nodes = [0.0] * self._places + [*values] + [0.0] * (self._places - len(values))
        for node in range(self._places - 1, 0, -1):
            self._nodes[node] = self._nodes[2 * node] + self._nodes[2 * node + 1]

    @property
    def total(self) -> float:
        """The sum of all."""
        return self._nodes[1]

    def put(self, place: int, value: float) -> None:
        """Replace the number at ``place``."""
        nodes, node = self._nodes, self._places + place
        if nodes[node] == value:
            return
        nodes[node] = value
        while node > 1:
            node >>= 1
            nodes[node] = nodes[2 * node] + nodes[2 * node + 1]
