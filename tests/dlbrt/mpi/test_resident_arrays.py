"""Rows of arrays on the ranks, as they come to rank 0."""

from __future__ import annotations

import itertools
import signal
from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import numpy as np
import pytest
from dlbrt.data.field import Field
from dlbrt.mpi.routines.loop_residents import ArrayTransfer
from dlbrt.mpi.routines.resident_arrays import ResidentArrays


@pytest.mark.parametrize("leading", [False, True])
def test_an_interrupt_waits_until_all_rows_have_come(leading: bool) -> None:
    def fetch(_: Sequence[ArrayTransfer], fields: Mapping[int, Field]) -> None:
        if not leading:  # where a loop runs, whoever leads it holds interrupts
            signal.raise_signal(signal.SIGINT)
        for field in fields.values():
            field.data[2:5] = 7.0

    publisher = SimpleNamespace(tokens=itertools.count(1), drop=lambda _: None)
    runtime = SimpleNamespace(
        communicator=SimpleNamespace(ranks=2), publisher=publisher, leading=leading, fetch=fetch
    )
    residents = ResidentArrays(runtime)  # type: ignore[arg-type]
    array = np.zeros(5)
    residents._resident(array, 0).directory.stored_by(1, (range(2, 5),))
    if leading:
        residents.ensure_valid(array)
    else:
        with pytest.raises(KeyboardInterrupt):
            residents.ensure_valid(array)
    assert array.tolist() == [0.0, 0.0, 7.0, 7.0, 7.0]
    assert not residents.is_stale(array)
