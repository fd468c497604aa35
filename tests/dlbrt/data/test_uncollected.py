"""Garbage is collected afterwards as it was before."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from dlbrt.data.uncollected import uncollected


@pytest.fixture(autouse=True)
def collection() -> Iterator[None]:
    yield
    gc.enable()


@pytest.mark.parametrize("was", [True, False])
def test_collection_goes_on_as_before(was: bool) -> None:
    (gc.enable if was else gc.disable)()
    with uncollected(), uncollected():
        assert not gc.isenabled()
    assert gc.isenabled() == was


def test_collection_goes_on_after_an_error() -> None:
    with pytest.raises(KeyError), uncollected():
        raise KeyError
    assert gc.isenabled()
