"""Domains that tests share: grids, triangulations of points drawn at random, and any graph."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from papers.heirich import GraphDomain
from scipy.spatial import Delaunay


def grid(rows: int, columns: int) -> GraphDomain:
    """Vertex i * columns + j is at (i, j) and has up to four neighbours; 1 unit each."""
    number = np.arange(rows * columns).reshape(rows, columns)
    down = zip(number[:-1].ravel().tolist(), number[1:].ravel().tolist(), strict=True)
    right = zip(number[:, :-1].ravel().tolist(), number[:, 1:].ravel().tolist(), strict=True)
    return GraphDomain.of_edges([*down, *right], [1] * (rows * columns), list(np.ndindex(rows, columns)))


def triangulated(vertices: int, seed: int) -> GraphDomain:
    """Points in a square of side 1, joined by Delaunay; 1 unit each."""
    points = np.random.default_rng(seed).random((vertices, 2))
    corners = Delaunay(points).simplices
    edges = [
        (int(a), int(b)) for k in range(3) for a, b in zip(corners[:, k], corners[:, k - 1], strict=True)
    ]
    return GraphDomain.of_edges(edges, [1] * vertices, [(x, y) for x, y in points.tolist()])


def without_places(domain: GraphDomain) -> GraphDomain:
    return GraphDomain(domain.neighbours, domain.work)


def blocks(domain: GraphDomain, across: int) -> list[int]:
    """The owners by straight cuts into across x across blocks of as many vertices each, about."""
    ranks = [np.argsort(np.argsort(each, kind="stable")) for each in np.array(domain.places).T]
    i, j = (each * across // len(domain.work) for each in ranks)
    return [int(block) for block in i * across + j]


@st.composite
def domains(draw: st.DrawFn) -> GraphDomain:
    work = draw(st.lists(st.integers(1, 5), min_size=1, max_size=14))
    ends = st.integers(0, len(work) - 1)
    edges = draw(st.lists(st.tuples(ends, ends).filter(lambda edge: edge[0] != edge[1]), max_size=30))
    return GraphDomain.of_edges(edges, work)
