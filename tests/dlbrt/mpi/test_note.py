"""The note on an exception names the iteration as the program does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from dlbrt.data.space import enumerate_, space_of, zip_
from dlbrt.mpi.failure import Failure, note


def one(dlb: Any) -> None:
    for i in dlb.iterations():
        print(i)


def several(dlb: Any) -> None:
    for k, (_x, _y) in dlb.iterations(True):
        print(k)


def captured(dlb: Any) -> None:
    assert [k + 1 for k in range(3)]
    for i in dlb.iterations():
        print(lambda: i)  # noqa: B023


def strange(dlb: Any) -> None:
    print(dlb)


@pytest.mark.parametrize(
    ("kernel", "iterable", "iteration"),
    [
        (one, range(10, 90, 2), "i=24"),
        (one, range(90, 0, -3), "i=69"),
        (several, enumerate_([(1, 2)] * 9, 5), "k=12"),
        (captured, range(9), "i=7"),
        (strange, range(9), "index=7"),
        (one, list(range(9)), "7"),
        (several, zip_(range(9), range(9)), "7"),
    ],
)
def test_it_names_iteration_loop_and_rank(kernel: Callable[..., None], iterable: Any, iteration: str) -> None:
    found = note(kernel, space_of(iterable), Failure(7, 2, None), "prog.py:12", 4)
    assert found == f"in iteration {iteration} of the loop at prog.py:12, on rank 2 of 4"
