"""A domain that is a graph, and who has which of its vertices: parts, and the borders between them.

Vertices are numbers, edges say who is next to whom in the domain, as cells of an unstructured grid are. What
`giving` chooses from is kept up to date as vertices move: for each two ranks the vertices of the one that
have neighbours at the other. A move costs the degree of the vertex.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isfinite

from dlbrt.records import dataclass

__all__ = ["GraphDomain", "Parts"]


@dataclass(frozen=True, slots=True)
class GraphDomain:
    """The neighbours of each vertex, its units of work, and where it is, if that is known: coordinates.

    ValueError for other than one number of units for each vertex, units below 1, neighbours that are given
    twice, by one of the two alone, or to a vertex itself, and places that are not one for each vertex, of
    as many finite coordinates all.
    """

    neighbours: tuple[tuple[int, ...], ...]
    work: tuple[int, ...]
    places: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        count = len(self.neighbours)
        if len(self.work) != count:
            raise ValueError(f"expected units for {count} vertices, found them for {len(self.work)}")
        if low := [units for units in self.work if units < 1]:
            raise ValueError(f"expected vertices of 1 unit or more, found one of {low[0]}")
        self._check_edges()
        if self.places and (len(self.places) != count or len({len(place) for place in self.places}) != 1):
            raise ValueError(f"expected {count} places or none, of as many coordinates all")
        if not all(isfinite(each) for place in self.places for each in place):
            raise ValueError("expected places of finite coordinates")

    def _check_edges(self) -> None:
        edges = {(vertex, other) for vertex, near in enumerate(self.neighbours) for other in near}
        if sum(map(len, self.neighbours)) != len(edges):
            raise ValueError("expected each neighbour of a vertex once, found one twice")
        if wrong := [edge for edge in edges if edge[::-1] not in edges or edge[0] == edge[1]]:
            raise ValueError(f"expected edges between two vertices, given by both, found {min(wrong)}")

    @classmethod
    def of_edges(
        cls, edges: Iterable[tuple[int, int]], work: Sequence[int], places: Iterable[tuple[float, ...]] = ()
    ) -> GraphDomain:
        """By edges in any order and direction, also twice; IndexError for an end that is no vertex."""
        near: list[set[int]] = [set() for _ in work]
        for one, other in edges:
            near[one].add(other)
            near[other].add(one)
        return cls(tuple(tuple(sorted(each)) for each in near), tuple(work), tuple(places))

    def weight(self, vertices: Iterable[int]) -> int:
        """The units of work of some vertices."""
        return sum(self.work[vertex] for vertex in vertices)


class Parts:
    """Which rank has which vertices of a domain; ``owners`` are the ranks at first, by vertex.

    ValueError for other than one owner for each vertex.
    """

    def __init__(self, domain: GraphDomain, owners: Sequence[int]) -> None:
        if len(owners) != len(domain.work):
            raise ValueError(f"expected owners of {len(domain.work)} vertices, found {len(owners)}")
        self.domain = domain
        self._owners = list(owners)
        self._members: dict[int, set[int]] = {}
        self._units: dict[int, int] = {}
        self._borders: dict[tuple[int, int], dict[int, int]] = {}
        for vertex, owner in enumerate(self._owners):
            self._enter(vertex, owner)
            for other in domain.neighbours[vertex]:
                self._expose(vertex, owner, self._owners[other], 1)

    @property
    def owners(self) -> tuple[int, ...]:
        """The ranks of the vertices."""
        return tuple(self._owners)

    @property
    def cut(self) -> int:
        """How many edges are between vertices of two ranks."""
        return sum(sum(border.values()) for border in self._borders.values()) // 2

    def units(self, rank: int) -> int:
        """The work of a rank."""
        return self._units.get(rank, 0)

    def members(self, rank: int) -> tuple[int, ...]:
        """The vertices of a rank, ascending."""
        return tuple(sorted(self._members.get(rank, ())))

    def border(self, rank: int, other: int) -> tuple[int, ...]:
        """The vertices of a rank with neighbours at another one, in the order in which they came to be so."""
        return tuple(self._borders.get((rank, other), ()))

    def inside(self, vertex: int) -> list[int]:
        """The neighbours of a vertex that its own rank has."""
        owners, rank = self._owners, self._owners[vertex]
        return [other for other in self.domain.neighbours[vertex] if owners[other] == rank]

    def edges(self, vertex: int, rank: int) -> int:
        """How many neighbours of a vertex a rank has."""
        return sum(self._owners[other] == rank for other in self.domain.neighbours[vertex])

    def move(self, vertex: int, target: int) -> None:
        """Let a vertex go to a rank."""
        source = self._owners[vertex]
        self._members[source].remove(vertex)
        self._units[source] -= self.domain.work[vertex]
        self._enter(vertex, target)
        self._owners[vertex] = target
        for other in self.domain.neighbours[vertex]:
            owner = self._owners[other]
            self._expose(vertex, source, owner, -1)
            self._expose(vertex, target, owner, 1)
            self._expose(other, owner, source, -1)
            self._expose(other, owner, target, 1)

    def pieces(self, rank: int) -> int:
        """Into how many pieces, each connected, the vertices of a rank fall."""
        left, found = set(self._members.get(rank, ())), 0
        while left:
            found += 1
            ahead = [left.pop()]
            while ahead:
                near = left.intersection(self.domain.neighbours[ahead.pop()])
                left -= near
                ahead += near
        return found

    def furthest(self, rank: int) -> int:
        """The vertex of a rank that is most edges within its part away from where others have neighbours.

        In a piece where nobody else has one, from its first vertex. Of vertices as far away the one with the
        fewest neighbours, then the first. ValueError where the rank has no vertex.
        """
        neighbours, unseen = self.domain.neighbours, set(self._members.get(rank, ()))
        layer = {vertex for vertex in unseen if len(self.inside(vertex)) < len(neighbours[vertex])}
        last: set[int] = set()
        while unseen:
            last = layer or {min(unseen)}
            unseen -= last
            layer = {other for vertex in last for other in neighbours[vertex] if other in unseen}
        if not last:
            raise ValueError(f"expected a rank with vertices, found rank {rank} without")
        return min(last, key=lambda vertex: (len(neighbours[vertex]), vertex))

    def _enter(self, vertex: int, rank: int) -> None:
        self._members.setdefault(rank, set()).add(vertex)
        self._units[rank] = self.units(rank) + self.domain.work[vertex]

    def _expose(self, vertex: int, rank: int, other: int, edges: int) -> None:
        """A vertex of a rank has so many neighbours more at another."""
        if rank != other:
            border = self._borders.setdefault((rank, other), {})
            border[vertex] = border.get(vertex, 0) + edges
            if not border[vertex]:
                del border[vertex]
