"""Chunks of compiled iterations: what they refuse, and what is put back where Python fails afterwards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from dlbrt.native.arguments import NotCompiled
from dlbrt.native.chunks import ChunkSpec, CompiledChunks, check_index

pytestmark = pytest.mark.filterwarnings("default")


def _chunk(first, last, step, results, A, x):
    for i in range(first, last, step):
        A[i] = i * x
    return last


def _columns(first, last, step, results, A, x):
    for i in range(first, last, step):
        A[:, i] = i * x
    return last


@pytest.mark.parametrize("values", [range(2, 9), range(8, -1, -2), range(-9, -1, 3)])
def test_what_iterations_after_a_failure_have_stored_is_put_back(values: range) -> None:
    A = np.full(10, -1.0)
    chunks = CompiledChunks(ChunkSpec([_chunk], rows={"A": 0}), [A, 2.0])
    assert chunks.run(values) == len(values)
    chunks.undo(2)
    expected = np.full(10, -1.0)
    expected[list(values[:2])] = [2.0 * i for i in values[:2]]
    assert A.tolist() == expected.tolist()


def test_columns_are_put_back() -> None:
    A: Any = np.arange(12.0).reshape(3, 4)
    chunks = CompiledChunks(ChunkSpec([_columns], rows={"A": 1}), [A, 2.0])
    chunks.run(range(1, 4))
    chunks.undo(1)
    assert A.tolist() == [[0, 2, 2, 3], [4, 2, 6, 7], [8, 2, 10, 11]]


def test_indices_of_more_bits_than_integers_may_have_are_refused() -> None:
    check_index(2**40, 62)
    with pytest.raises(NotCompiled, match="index is so large"):
        check_index(2**40, 40)
