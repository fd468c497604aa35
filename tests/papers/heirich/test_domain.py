"""Graphs, who has which vertices, and the books of borders, as counted anew."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import GraphDomain, Parts

from tests.papers.heirich.domains import domains, grid

RANKS = range(4)


@settings(deadline=None)
@given(domains(), st.data())
def test_books_are_what_is_counted_anew_after_any_moves(domain: GraphDomain, data: st.DataObject) -> None:
    n = len(domain.work)
    owners = data.draw(st.lists(st.sampled_from(RANKS), min_size=n, max_size=n))
    parts = Parts(domain, owners)
    for vertex, target in data.draw(
        st.lists(st.tuples(st.integers(0, n - 1), st.sampled_from(RANKS)), max_size=20)
    ):
        parts.move(vertex, target)
        owners[vertex] = target
    assert parts.owners == tuple(owners)
    edges = [(v, w) for v, near in enumerate(domain.neighbours) for w in near]
    assert parts.cut == sum(owners[v] != owners[w] for v, w in edges) // 2
    for rank in RANKS:
        members = {v for v in range(n) if owners[v] == rank}
        assert parts.members(rank) == tuple(sorted(members))
        assert parts.units(rank) == domain.weight(members)
        for other in set(RANKS) - {rank}:
            border = {v for v, w in edges if owners[v] == rank and owners[w] == other}
            assert set(parts.border(rank, other)) == border


@settings(deadline=None)
@given(domains(), st.data())
def test_pieces_are_counted(domain: GraphDomain, data: st.DataObject) -> None:
    n = len(domain.work)
    parts = Parts(domain, data.draw(st.lists(st.sampled_from((0, 1)), min_size=n, max_size=n)))
    reached: dict[int, int] = {v: v for v in parts.members(0)}
    for _ in range(n):
        for v in reached:
            reached[v] = min([reached[v], *(reached[w] for w in parts.inside(v))])
    assert parts.pieces(0) == len(set(reached.values()))


def test_the_furthest_vertex_is_as_many_edges_away_as_any() -> None:
    """A strip of ten by three, its left end at another rank: a corner at the right end."""
    parts = Parts(grid(3, 10), [1 if v % 10 < 2 else 0 for v in range(30)])
    assert parts.furthest(0) == 9
    assert parts.furthest(1) == 0
    with pytest.raises(ValueError, match="expected a rank with vertices, found rank 2 without"):
        parts.furthest(2)


def test_without_borders_it_is_the_far_end_of_the_part() -> None:
    assert Parts(grid(1, 7), [0] * 7).furthest(0) == 6


def test_a_part_in_pieces_has_a_furthest_vertex_too() -> None:
    domain = GraphDomain.of_edges([(0, 1), (2, 3), (3, 4)], [1] * 5)
    assert Parts(domain, [0] * 5).furthest(0) == 4


@pytest.mark.parametrize(
    ("neighbours", "work", "words"),
    [
        (((1,), (0,)), (1,), "expected units for 2 vertices, found them for 1"),
        (((1,), (0,)), (1, 0), "expected vertices of 1 unit or more, found one of 0"),
        (((1, 1), (0,)), (1, 1), "expected each neighbour of a vertex once, found one twice"),
        (((1,), ()), (1, 1), r"given by both, found \(0, 1\)"),
        (((0,),), (1,), r"edges between two vertices, .* found \(0, 0\)"),
        (((7,),), (1,), r"given by both, found \(0, 7\)"),
    ],
)
def test_what_is_no_graph_is_refused(
    neighbours: tuple[tuple[int, ...], ...], work: tuple[int, ...], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        GraphDomain(neighbours, work)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        (((0.0,),), "expected 2 places or none, of as many coordinates all"),
        (((0.0,), (1.0, 2.0)), "expected 2 places or none, of as many coordinates all"),
        (((0.0,), (inf,)), "expected places of finite coordinates"),
    ],
)
def test_places_are_one_for_each_vertex(places: tuple[tuple[float, ...], ...], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        GraphDomain.of_edges([(0, 1)], [1, 1], places)


def test_each_vertex_has_an_owner() -> None:
    with pytest.raises(ValueError, match="expected owners of 6 vertices, found 5"):
        Parts(grid(2, 3), [0] * 5)
