"""Which vertices a rank gives to a neighbour: those that keep borders short and parts whole.

The method preserves adjacency if each exchange does (Heirich and Taylor, section 6): what a rank gives is of
its outside, and goes to where the neighbours of it are. For domains that no order of data describes the
paper finds priority queues promising. Here a queue holds what is on the border between two ranks.

First comes the vertex by whose move the fewest edges are cut: those to vertices that stay, less those to
vertices that the other rank has by now. Of equals the one goes first that has been on the border longest, so
that it is peeled off in layers. That keeps the borders short that there are. Where a part is still to come
about, as if all was on one rank at first, it matters more that it comes about at the right side of its
neighbours: if places are known, what lies furthest towards the other rank comes first, and edges decide
between equals.

Laws, in this order.
1. What goes is never more than was asked, and nothing that is left on the border fits into what is not met.
   So vertices of one unit each meet all that is asked, as far as there are any.
2. No part falls to pieces by what it gives: a vertex without which others of its part were cut off takes them
   along, if they fit too, and otherwise waits until its neighbours have gone. Only where all that fits waits,
   law 1 breaks a part. What goes has an edge to what the other rank has by then. Where there is no border the
   first to go is the vertex furthest towards the other rank, or, without places, from what others have.
3. The same parts and requests give the same vertices.

A rank looks at its own vertices and at who has their neighbours, so it can decide by itself. A vertex that
goes costs the logarithm of the queue's length, and a look around it as far as the ways go that keep the part
together.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import count

import numpy as np

from papers.heirich.domain import Parts
from papers.heirich.mesh import Mesh
from papers.heirich.units import IntegerArray

__all__ = ["cut_off", "follow", "give"]


def give(
    parts: Parts, source: int, target: int, units: int, towards: tuple[float, ...] = ()
) -> tuple[int, ...]:
    """Move up to so many units of work from a rank to another; the vertices, in the order in which they went.

    ``towards`` is the direction in which the other rank is, among the places of vertices; nothing where that
    or they are unknown. ValueError for less than 0 units, and for a rank that gives to itself.
    """
    if units < 0 or source == target:
        raise ValueError(
            f"expected 0 units or more for another rank, found {units} from rank {source} to {target}"
        )
    border, went, left = _Border(parts, source, target, towards), list[int](), units
    while left and (chosen := border.next(left)):
        left -= parts.domain.weight(chosen)
        for vertex in chosen:
            border.go(vertex)
        went += chosen
    return tuple(went)


def follow(parts: Parts, mesh: Mesh, flows: Sequence[IntegerArray]) -> int:
    """Let ranks, numbered as the mesh numbers processors, give what flows over links; the units not met.

    ``flows`` are by axis, as `UnitDiffusion.advance` tells them; links take turns in their order. Along an
    axis of the mesh ranks are taken to lie as along that coordinate of places.
    """
    numbers = np.arange(mesh.processors).reshape(mesh.sides)
    owed = 0
    for axis, flow in enumerate(flows):
        ends = np.roll(numbers, -1, axis)
        for place in map(tuple, np.argwhere(flow).tolist()):
            units, one, other = (int(array[place]) for array in (flow, numbers, ends))
            ahead = tuple(float(axis == each) for each in range(mesh.dimensions))
            if units > 0:
                went = give(parts, one, other, units, ahead)
            else:
                went = give(parts, other, one, -units, tuple(-each for each in ahead))
            owed += abs(units) - parts.domain.weight(went)
    return owed


def cut_off(parts: Parts, vertex: int) -> set[int]:
    """What of its part a vertex alone holds to the rest: all pieces that there were without it but one.

    One piece is looked for from each neighbour, in turns, until those that have met, or have come to their
    end, leave one. So what is seen is about as much as what is found, or as the ways around the vertex.
    """
    searches = [({start}, deque([start])) for start in parts.inside(vertex)]
    found: set[int] = set()
    while len(searches) > 1:
        seen, ahead = searches.pop(0)
        if not ahead:
            found |= seen
            continue
        near = set(parts.inside(ahead.popleft())) - seen - {vertex}
        for other in [each for each in searches if not near.isdisjoint(each[0])]:
            searches.remove(other)
            near -= other[0]
            seen, ahead = seen | other[0], ahead + other[1]
        ahead.extend(sorted(near))
        searches.append((seen | near, ahead))
    return found


#: How far back a vertex lies, the edges that its move cuts, when it came to the border, and itself.
_Entry = tuple[float, int, int, int]


class _Border:
    """The queue of what a rank can give to another; an entry counts if it is the vertex's latest."""

    def __init__(self, parts: Parts, source: int, target: int, towards: tuple[float, ...]) -> None:
        self._parts, self._source, self._target = parts, source, target
        self._towards = towards if parts.domain.places else ()
        self._queue: list[_Entry] = []
        self._waiting: list[_Entry] = []
        self._latest: dict[int, _Entry] = {}
        self._arrivals = count()
        for vertex in parts.border(source, target):
            self._put(vertex)

    def next(self, most: int) -> list[int]:
        """What goes next, of so many units at most; empty where nothing does."""
        weight = self._parts.domain.weight
        while self._queue:
            entry = heappop(self._queue)
            if self._fits(entry, most):
                if weight(chosen := self._whole(entry[-1])) <= most:
                    return chosen
                heappush(self._waiting, entry)
        while self._waiting:
            entry = heappop(self._waiting)
            if self._fits(entry, most):
                return [entry[-1]]
        return self._first(most)

    def go(self, vertex: int) -> None:
        """Let a vertex go; what is beside it comes to the border, or cuts fewer edges."""
        beside = self._parts.inside(vertex)
        self._parts.move(vertex, self._target)
        self._latest.pop(vertex, None)
        for other in beside:
            self._put(other)

    def _first(self, most: int) -> list[int]:
        """What a border begins with, where there is none."""
        members = self._parts.members(self._source)
        if not members or self._parts.border(self._source, self._target):
            return []
        vertex = min(members, key=self._back) if self._towards else self._parts.furthest(self._source)
        weight = self._parts.domain.weight
        return next((each for each in (self._whole(vertex), [vertex]) if weight(each) <= most), [])

    def _fits(self, entry: _Entry, most: int) -> bool:
        vertex = entry[-1]
        return self._latest.get(vertex) == entry and self._parts.domain.work[vertex] <= most

    def _whole(self, vertex: int) -> list[int]:
        return [vertex, *sorted(cut_off(self._parts, vertex))]

    def _back(self, vertex: int) -> float:
        """How far a vertex lies from where the other rank is; 0 for all where that is unknown."""
        if not self._towards:
            return 0.0
        return -sum(a * b for a, b in zip(self._towards, self._parts.domain.places[vertex], strict=False))

    def _put(self, vertex: int) -> None:
        cuts = len(self._parts.inside(vertex)) - self._parts.edges(vertex, self._target)
        came = self._latest[vertex][2] if vertex in self._latest else next(self._arrivals)
        self._latest[vertex] = entry = (self._back(vertex), cuts, came, vertex)
        heappush(self._queue, entry)
