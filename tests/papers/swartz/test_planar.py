"""Planes by rows, parts of rows and blocks: the paper's example, tilings, surface against volume."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from dlbrt.data.footprint import IndexMap
from dlbrt.partition.cost_spec import CostSpec
from dlbrt.partition.costs import evaluate_cost
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from numpy.typing import NDArray
from papers.swartz.planar import PlanarBlock, blocks, partial_rows, whole_rows

PLANES = arrays(
    np.int64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=st.integers(0, 20)
).filter(np.any)

#: rho = x + y on 20 x 20, each cell its exact integral.
PAPER = np.add.outer(np.arange(20) + 0.5, np.arange(20) + 0.5)


def test_whole_rows_cost_12_percent_in_the_papers_example() -> None:
    assert PAPER.sum() == 8000
    found = whole_rows(PAPER, 4)
    assert found.bounds == (0, 7, 12, 16, 20)
    assert found.work == pytest.approx([1890, 1950, 1920, 2240])
    assert found.loss == pytest.approx(0.12)


def test_partial_rows_cost_next_to_nothing() -> None:
    found = partial_rows(PAPER, 4)
    assert found.loss < 0.012
    assert [divmod(bound, 20) for bound in found.bounds] == [(0, 0), (7, 9), (12, 9), (16, 11), (20, 0)]


def test_a_run_of_a_loop_over_cells_cuts_as_by_partial_rows() -> None:
    spec = CostSpec(density=lambda k: k // 20 + k % 20 + 1)
    work = evaluate_cost(spec, 400, IndexMap(0, 1), lambda: iter(range(400)))
    assert work is not None
    assert work.cut([1.0] * 4, 0) == partial_rows(PAPER, 4).bounds


@given(PLANES, st.integers(1, 5))
def test_finer_cuts_lose_less(plane: NDArray[np.int64], count: int) -> None:
    rows, cells = whole_rows(plane, count), partial_rows(plane, count)
    assert cells.loss <= rows.loss + 1e-12
    assert rows.work.sum() == cells.work.sum() == plane.sum()
    assert rows.loss >= -1e-12


@given(
    PLANES, st.lists(st.sampled_from([1.0, 2.0, 3.5]), min_size=1, max_size=7), st.sampled_from([0, 1, 50])
)
def test_blocks_tile_the_plane(plane: NDArray[np.int64], speeds: list[float], border: float) -> None:
    found = blocks(plane, speeds, border)
    covered = np.zeros(plane.shape, dtype=int)
    for block in found.parts:
        cells = (slice(block.top, block.bottom), slice(block.left, block.right))
        covered[cells] += 1
        assert block.work == plane[cells].sum()
    assert (covered == 1).all()
    assert len(found.parts) == len(speeds)
    charged = [(b.work + border * b.border) / s for b, s in zip(found.parts, speeds, strict=True)]
    assert found.time == max(charged)


@given(PLANES, st.integers(1, 6))
def test_blocks_are_never_worse_than_whole_rows(plane: NDArray[np.int64], count: int) -> None:
    assert blocks(plane, count).time <= whole_rows(plane, count).work.max() + 1e-9


def test_a_border_that_costs_makes_blocks_square() -> None:
    """16 parts of a uniform 64 x 64: strips of 4 rows have 128 border cells, squares of 16 at most 64."""
    squares = blocks(np.ones((64, 64)), 16, border_cost=1.0)
    assert {(b.bottom - b.top, b.right - b.left) for b in squares.parts} == {(16, 16)}
    assert squares.time == 256 + 64
    assert max(b.ratio for b in squares.parts) == 0.25


def test_where_borders_cost_much_and_the_plane_is_long_strips_are_taken() -> None:
    strips = blocks(np.ones((1000, 4)), 4, border_cost=5.0)
    assert [(b.top, b.bottom, b.left, b.right) for b in strips.parts] == [
        (250 * k, 250 * (k + 1), 0, 4) for k in range(4)
    ]
    assert [b.border for b in strips.parts] == [4, 8, 8, 4]


def test_a_prime_number_of_parts_has_blocks_too() -> None:
    found = blocks(np.ones((60, 60)), 7, border_cost=1.0)
    assert max(b.ratio for b in found.parts) < 2 * 60 / (60 * 60 / 7)
    assert found.time < 9 * 60 + 2 * 60  # what a strip of 9 rows takes


def test_an_empty_block_has_no_border() -> None:
    assert PlanarBlock(2, 2, 0, 5, 0.0, 0).ratio == 0
    assert {b.border for b in blocks([[1]], 3, 1.0).parts} == {0}


@pytest.mark.parametrize(
    "bad",
    [
        lambda: whole_rows([1, 2], 2),
        lambda: partial_rows([[1.0]], 0),
        lambda: blocks([[1.0]], 2, -1.0),
        lambda: blocks([[1.0]], 2, np.nan),
        lambda: blocks([[1.0, -1.0]], 2),
        lambda: whole_rows([[0.0, 0.0]], 2),
    ],
)
def test_bad_requests_are_refused(bad: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match="expected"):
        bad()
