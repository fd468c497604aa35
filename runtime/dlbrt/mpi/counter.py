"""A counter at rank 0 that all ranks add to without rank 0's doing anything: one-sided fetch-and-add.

Where ranks share memory that is an atomic addition; over a network the library at rank 0 carries it out when
it next makes progress, at the latest when rank 0 looks around.
"""

from __future__ import annotations

import numpy as np
from mpi4py import MPI

__all__ = ["FetchAndAdd", "SharedCounter"]


class FetchAndAdd:
    """A fetch-and-add under way."""

    def __init__(self, window: MPI.Win, count: int) -> None:
        self._added = np.array([count], dtype=np.int64)
        self._found = np.zeros(1, dtype=np.int64)
        self._request = window.Rget_accumulate(self._added, self._found, 0, op=MPI.SUM)

    def complete(self) -> bool:
        """Whether it is done."""
        return self._request.Test()

    @property
    def number(self) -> int:
        """What the counter said before, once it is done."""
        return int(self._found[0])


class SharedCounter:
    """Made, and freed, by all ranks of a communicator together."""

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._rank = comm.Get_rank()
        size = MPI.INT64_T.Get_size()
        self._window = MPI.Win.Allocate(size if self._rank == 0 else 0, size, comm=comm)
        self._window.Lock_all(MPI.MODE_NOCHECK)
        if self._rank == 0:
            self.reset()
        comm.Barrier()

    def reset(self) -> None:
        """At rank 0, while nobody claims: begin anew at 0."""
        zero = np.zeros(1, dtype=np.int64)
        self._window.Accumulate(zero, 0, op=MPI.REPLACE)
        self._window.Flush(0)

    def fetch_and_add(self, count: int) -> FetchAndAdd:
        """Start adding ``count``."""
        return FetchAndAdd(self._window, count)

    def free(self) -> None:
        """Give the memory back."""
        self._window.Unlock_all()
        self._window.Free()
