"""Meshes of any number of processors, and their links."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.heirich import Boundary, Mesh, factored

from tests.papers.heirich.dense import links

MESHES = st.builds(
    Mesh, st.lists(st.integers(1, 5), min_size=1, max_size=3).map(tuple), st.sampled_from(Boundary)
)


def fits(processors: int, dimensions: int, longest: int) -> bool:
    """Whether so many processors make a mesh without a side above the longest."""
    if dimensions == 1 or processors <= longest:
        return processors <= longest
    sides = (side for side in range(2, longest + 1) if processors % side == 0)
    return any(fits(processors // side, dimensions - 1, longest) for side in sides)


@pytest.mark.parametrize(
    ("processors", "dimensions", "sides"),
    [
        (1, 3, (1,)),
        (7, 3, (7,)),
        (12, 3, (3, 2, 2)),
        (12, 2, (4, 3)),
        (14, 3, (7, 2)),
        (512, 3, (8, 8, 8)),
        (512, 2, (32, 16)),
        (512, 1, (512,)),
        (10**6, 3, (100, 100, 100)),
        (999983, 3, (999983,)),
    ],
)
def test_a_mesh_of_any_number(processors: int, dimensions: int, sides: tuple[int, ...]) -> None:
    assert factored(processors, dimensions).sides == sides


@settings(deadline=None)
@given(st.integers(1, 1000), st.integers(1, 3))
def test_no_mesh_of_as_many_has_a_shorter_longest_side(processors: int, dimensions: int) -> None:
    mesh = factored(processors, dimensions, Boundary.PERIODIC)
    assert mesh.processors == prod(mesh.sides) == processors
    assert mesh.dimensions <= dimensions
    assert list(mesh.sides) == sorted(mesh.sides, reverse=True)
    assert not any(fits(processors, dimensions, longest) for longest in range(1, max(mesh.sides)))


@given(MESHES)
def test_links_are_counted(mesh: Mesh) -> None:
    assert mesh.links == len(links(mesh))


def test_small_rings() -> None:
    """A side of 2 has its link twice, a side of 1 none."""
    assert links(Mesh((2,), Boundary.PERIODIC)) == [(0, 1), (1, 0)]
    assert Mesh((2, 1), Boundary.PERIODIC).links == 2
    assert Mesh((1, 1, 1), Boundary.PERIODIC).links == 0
    assert Mesh((2, 1)).links == 1


@pytest.mark.parametrize("sides", [(), (0,), (3, -1), (2, 2, 2, 2)])
def test_bad_sides_are_refused(sides: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 1, 2 or 3 sides of 1 or more"):
        Mesh(sides)


@pytest.mark.parametrize(("processors", "dimensions"), [(0, 3), (-4, 2), (8, 4), (8, 0)])
def test_no_mesh_of_these(processors: int, dimensions: int) -> None:
    with pytest.raises(ValueError, match="expected 1 processor or more in 1, 2 or 3 dimensions"):
        factored(processors, dimensions)
