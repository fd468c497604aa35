"""Threads that libraries start on rank 0 within a loop, as BLAS does, while ranks share the cores.

Left alone they are as many as the host has cores, on every rank. Their number is the user's to set, since
sums of BLAS depend on it; that they slow the loop down is said.
"""

from __future__ import annotations

import time

#: Nothing is said of loops that take less, in seconds, nor of threads that work less, in parts of what the
#: rank's own does.
_LEAST_S, _LEAST = 1.0, 0.3


class LibraryThreads:
    """The processor time of rank 0's own thread, and of its others, in the shared runs of a loop."""

    def __init__(self) -> None:
        self._began = 0.0, 0.0
        self._own_s = self._others_s = self._elapsed_s = 0.0

    def begin(self) -> None:
        """A run begins."""
        self._began = time.thread_time(), time.process_time()

    def end(self, elapsed_s: float, ranks: int, cores: int) -> str:
        """A run has ended: what to say if these threads and the ``ranks`` of this host crowd its cores."""
        own_s, all_s = time.thread_time() - self._began[0], time.process_time() - self._began[1]
        self._own_s += own_s
        self._others_s += all_s - own_s
        self._elapsed_s += elapsed_s
        others = self._others_s / self._own_s if self._own_s > 0 else 0.0
        if ranks == 1 or self._elapsed_s < _LEAST_S or others < _LEAST or ranks * (1 + others) <= cores:
            return ""
        shared = f"{ranks} ranks share {cores} core{'s' * (cores != 1)}"
        return (
            f"threads of libraries take {others:.0%} of the time of rank 0's own, while {shared}: write "
            f"`OMP_NUM_THREADS={max(1, cores // ranks)}` before the command"
        )
