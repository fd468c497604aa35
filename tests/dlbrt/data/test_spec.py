"""The rows of the array table as generated programs write them."""

from __future__ import annotations

import pickle

import pytest
from dlbrt.contract import Distribution, Mode
from dlbrt.data.array_table import BLOCK, CYCLIC, WHOLE, ArraySpec, DistributionSpec, index_name


def test_a_row_of_the_table_says_distribution_axis_and_use() -> None:
    assert BLOCK(1, "rw") == ArraySpec(Distribution.BLOCK, 1, Mode.UPDATE)
    assert CYCLIC(0, "w") == ArraySpec(Distribution.CYCLIC, 0, Mode.WRITE)
    assert WHOLE("r") == ArraySpec(Distribution.WHOLE, None, Mode.READ)


@pytest.mark.parametrize(
    ("mode", "reads", "stores"), [("r", True, False), ("w", False, True), ("rw", True, True)]
)
def test_the_use_says_what_travels(mode: str, reads: bool, stores: bool) -> None:
    spec = BLOCK(0, mode)
    assert (spec.reads, spec.stores) == (reads, stores)


def test_what_is_stored_is_what_is_touched_unless_said() -> None:
    def touched(i: int) -> tuple[int, ...]:
        return i - 1, i

    def written(i: int) -> int:
        return i

    assert BLOCK(0, "rw", rows=touched).stored is touched
    assert BLOCK(0, "rw", rows=touched, writes=written).stored is written


def test_subscripts_may_be_looked_at_one_by_one() -> None:
    assert BLOCK(0, "rw", inspect=True).inspect
    assert not BLOCK(0, "rw").inspect


def test_the_index_is_called_as_the_subscripts_call_it() -> None:
    assert index_name(BLOCK(0, "rw", rows=lambda row: row)) == "row"
    assert index_name(BLOCK(0, "rw")) == "i"


def test_an_unknown_use_is_refused() -> None:
    with pytest.raises(ValueError, match="wr"):
        BLOCK(0, "wr")


@pytest.mark.parametrize("dealing", [BLOCK, CYCLIC, WHOLE])
def test_a_distribution_travels_as_its_name(dealing: DistributionSpec) -> None:
    assert pickle.loads(pickle.dumps(dealing)) is dealing
