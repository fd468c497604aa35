"""Vertices that go to a neighbour: as many as are asked for, borders short, parts whole."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import GraphDomain, Mesh, Parts, Schedule, UnitDiffusion, discrepancy, follow, give
from papers.heirich.giving import cut_off

from tests.papers.heirich.domains import blocks, domains, grid, triangulated, without_places


def owners_of(data: st.DataObject, domain: GraphDomain) -> list[int]:
    n = len(domain.work)
    return data.draw(st.lists(st.sampled_from((0, 1, 2)), min_size=n, max_size=n))


def balanced(domain: GraphDomain, mesh: Mesh, owners: list[int], cycles: int) -> Parts:
    """Parts after so many cycles on a mesh of ranks; checks that all that flows is given."""
    parts = Parts(domain, owners)
    units = np.array([parts.units(rank) for rank in range(mesh.processors)]).reshape(mesh.sides)
    diffusion = UnitDiffusion(mesh, units, Schedule.every(0.15, mesh.dimensions))
    for _ in range(cycles):
        assert follow(parts, mesh, diffusion.advance()) == 0
        assert [parts.units(r) for r in range(mesh.processors)] == diffusion.units.ravel().tolist()
    return parts


@settings(deadline=None)
@given(domains(), st.data(), st.integers(0, 40))
def test_never_more_goes_than_is_asked_and_nothing_on_the_border_that_would_fit_stays(
    domain: GraphDomain, data: st.DataObject, units: int
) -> None:
    parts = Parts(domain, owners_of(data, domain))
    before = parts.owners
    went = give(parts, 0, 1, units)
    met = domain.weight(went)
    assert met <= units
    assert len(set(went)) == len(went)
    assert all(before[v] == 0 for v in went)
    assert parts.owners == tuple(1 if v in went else owner for v, owner in enumerate(before))
    assert all(domain.work[v] > units - met for v in parts.border(0, 1))


@settings(deadline=None)
@given(domains(), st.data(), st.integers(0, 40))
def test_with_vertices_of_one_unit_exactly_what_is_asked_goes(
    domain: GraphDomain, data: st.DataObject, units: int
) -> None:
    parts = Parts(GraphDomain(domain.neighbours, (1,) * len(domain.work)), owners_of(data, domain))
    held = parts.units(0)
    assert len(give(parts, 0, 1, units)) == min(held, units)


@settings(deadline=None)
@given(domains(), st.data(), st.integers(0, 40))
def test_what_goes_joins_what_the_other_rank_has(
    domain: GraphDomain, data: st.DataObject, units: int
) -> None:
    """As long as there is a border; one piece of the giver has one until it has gone wholly."""
    n = len(domain.work)
    path = GraphDomain.of_edges(
        [*pairwise(range(n)), *((v, w) for v in range(n) for w in domain.neighbours[v])], domain.work
    )
    first = data.draw(st.integers(0, n))
    parts = Parts(path, [0] * first + [1] * (n - first))
    give(parts, 0, 1, units)
    assert parts.pieces(1) <= 1


@settings(deadline=None)
@given(domains(), st.data())
def test_what_is_cut_off_is_all_but_one_piece_of_what_a_vertex_held_together(
    domain: GraphDomain, data: st.DataObject
) -> None:
    owners = owners_of(data, domain)
    vertex = data.draw(st.integers(0, len(owners) - 1))
    rank = owners[vertex]
    parts, without = Parts(domain, owners), Parts(domain, owners)
    found = cut_off(parts, vertex)
    without.move(vertex, 9)
    apart = without.pieces(rank)
    for each in found:
        assert owners[each] == rank
        without.move(each, 9)
    held_together = min(1, len(parts.inside(vertex)))
    assert without.pieces(rank) == parts.pieces(rank) - 1 + held_together
    assert (apart == without.pieces(rank)) is (not found)


@settings(deadline=None)
@given(st.integers(2, 7), st.integers(2, 7), st.data())
def test_on_grids_no_part_falls_to_pieces(rows: int, columns: int, data: st.DataObject) -> None:
    """Of two ranks with a straight border between them, whatever goes to and fro."""
    border = data.draw(st.integers(1, columns - 1))
    parts = Parts(grid(rows, columns), [int(v % columns >= border) for v in range(rows * columns)])
    for source, units in data.draw(
        st.lists(st.tuples(st.sampled_from((0, 1)), st.integers(0, 12)), max_size=6)
    ):
        give(parts, source, 1 - source, units)
        assert max(parts.pieces(0), parts.pieces(1)) <= 1


def test_a_border_is_peeled_off_in_layers() -> None:
    parts = Parts(grid(4, 6), [int(v % 6 >= 4) for v in range(24)])
    assert {v % 6 for v in give(parts, 0, 1, 4)} == {3}
    assert {v % 6 for v in give(parts, 0, 1, 4)} == {2}
    assert parts.cut == 4


def test_what_would_be_cut_off_goes_along() -> None:
    """A path: its end at the border holds all the others, but from the other side of a ring it does not."""
    path = Parts(grid(1, 6), [0, 0, 0, 1, 1, 1])
    assert give(path, 0, 1, 2) == (2, 1)
    tail = GraphDomain.of_edges([(0, 1), (1, 2), (2, 3), (3, 0), (1, 4), (1, 5)], [1] * 6)
    parts = Parts(tail, [0, 0, 0, 0, 1, 0])
    assert give(parts, 0, 1, 2) == (1, 5)
    assert parts.pieces(0) == 1


def test_what_would_be_cut_off_and_does_not_fit_waits() -> None:
    """A comb: vertex 2 holds a tooth of three, vertex 0 none; both are on the border."""
    edges = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (2, 6), (6, 7), (0, 8), (2, 8)]
    parts = Parts(GraphDomain.of_edges(edges, [1] * 9), [0] * 8 + [1])
    assert give(parts, 0, 1, 1) == (0,)
    assert parts.pieces(0) == 1


def test_units_are_met_where_a_part_cannot_stay_whole() -> None:
    """A star by its middle."""
    star = GraphDomain.of_edges([(0, v) for v in range(1, 6)] + [(0, 6)], [1] * 7)
    parts = Parts(star, [0] * 6 + [1])
    assert give(parts, 0, 1, 1) == (0,)
    assert parts.pieces(0) == 5


def test_where_there_is_no_border_what_is_furthest_from_others_goes_first() -> None:
    """Rank 1 has the left end; what rank 2 gets is at the right."""
    parts = Parts(grid(3, 9), [int(v % 9 == 0) for v in range(27)])
    assert {v % 9 for v in give(parts, 0, 2, 3)} <= {7, 8}
    assert parts.pieces(0) == parts.pieces(2) == 1


def test_a_vertex_of_more_units_than_are_asked_stays() -> None:
    domain = GraphDomain.of_edges([(0, 1), (1, 2), (0, 3)], [5, 2, 1, 1])
    parts = Parts(domain, [0, 0, 0, 1])
    assert give(parts, 0, 1, 4) == ()
    assert give(parts, 0, 2, 4) == (2, 1)
    assert give(parts, 0, 1, 5) == (0,)


@pytest.mark.parametrize("domain", [grid(32, 32), triangulated(900, 1), triangulated(900, 2)])
@pytest.mark.parametrize("across", [2, 3, 4])
def test_what_was_all_on_one_rank_is_divided_nearly_as_by_straight_cuts(
    domain: GraphDomain, across: int
) -> None:
    """Where places are known: no more than 1.2 times the edges of blocks, and each part in one piece."""
    parts = balanced(domain, Mesh((across, across)), [0] * len(domain.work), 300)
    assert discrepancy([parts.units(rank) for rank in range(across**2)]) <= 4
    assert parts.cut <= 1.2 * Parts(domain, blocks(domain, across)).cut
    assert {parts.pieces(rank) for rank in range(across**2)} == {1}


@pytest.mark.parametrize("domain", [grid(32, 32), triangulated(900, 1), triangulated(900, 2)])
@pytest.mark.parametrize("across", [2, 3, 4])
def test_without_places_parts_come_about_with_borders_about_twice_as_long(
    domain: GraphDomain, across: int
) -> None:
    """No more than 2.5 times, and not many pieces more than parts."""
    parts = balanced(without_places(domain), Mesh((across, across)), [0] * len(domain.work), 300)
    assert discrepancy([parts.units(rank) for rank in range(across**2)]) <= 4
    assert parts.cut <= 2.5 * Parts(domain, blocks(domain, across)).cut
    assert sum(parts.pieces(rank) for rank in range(across**2)) <= 2 * across**2


@pytest.mark.parametrize("domain", [grid(32, 32), without_places(grid(32, 32))])
def test_blocks_whose_borders_were_elsewhere_become_equal_blocks(domain: GraphDomain) -> None:
    columns = np.searchsorted([3, 8, 16], np.arange(32), side="right")
    parts = balanced(
        domain, Mesh((4, 4)), [int(4 * (i // 8) + columns[j]) for i, j in np.ndindex(32, 32)], 200
    )
    assert parts.owners == tuple(blocks(grid(32, 32), 4))


def test_what_lies_furthest_towards_the_other_rank_goes_first() -> None:
    """Rank 1 is above, rank 2 to the right; neither has anything yet."""
    parts = Parts(grid(4, 6), [0] * 24)
    assert {v // 6 for v in give(parts, 0, 1, 6, (-1.0, 0.0))} == {0}
    assert {v % 6 for v in give(parts, 0, 2, 3, (0.0, 1.0))} == {5}
    assert [parts.pieces(rank) for rank in range(3)] == [1, 1, 1]


def test_the_same_parts_and_requests_give_the_same_vertices() -> None:
    found = [balanced(triangulated(200, 5), Mesh((2, 2)), [0] * 200, 60).owners for _ in range(2)]
    assert found[0] == found[1]


@pytest.mark.parametrize(("target", "units"), [(0, 3), (1, -1)])
def test_bad_requests_are_refused(target: int, units: int) -> None:
    with pytest.raises(ValueError, match="expected 0 units or more for another rank, found"):
        give(Parts(grid(2, 2), [0] * 4), 0, target, units)
