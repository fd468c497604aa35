"""Measure the network that programs run on: the runtime's own measurement, under the MPI launcher.

Zaki, Li, Parthasarathy, section 1.5.1. The ranks measure, show and store; here they are started, and what
they found is drawn where that is asked for.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from dlbrt.observe.networks import from_json

from dlbc.network_plot import check_plot, draw
from dlbc.run import CannotStartError, launch, launcher, shared_directory

__all__ = ["CannotMeasureError", "calibrate_network"]

#: With safe paths: a file of the current directory that is named as a module must not stand in its place.
_MODULE = ("-P", "-m", "dlbrt.mpi.calibration")


class CannotMeasureError(Exception):
    """The network cannot be measured, or not be drawn; the message says why, and what to try."""


def calibrate_network(ranks: int | None, plot: str | None) -> int:
    """Measure among so many ranks, by default those of the allocation, else one for each processor here.

    The exit status: 0, or that of the ranks. Raises CannotMeasureError, before the measurement where it can.
    """
    ranks = ranks or _default_ranks()
    if ranks < 2:
        raise CannotMeasureError("one rank alone uses no network: expected -n P with 2 ranks or more")
    if plot is not None and (reason := check_plot(plot)):
        raise CannotMeasureError(reason)
    try:
        start = launcher(ranks)
        with tempfile.TemporaryDirectory(prefix=".dlbc-", dir=shared_directory(Path("network"))) as directory:
            result = Path(directory) / "network.json"
            words = [str(ranks), *([str(result)] if plot is not None else [])]
            status = launch(start, [*_MODULE, *words], {})
            if plot is not None and result.exists():
                draw(from_json(result.read_text(encoding="utf-8")), plot)
    except CannotStartError as error:
        hint = "install one with `pip install 'dlbc[mpich]'`"
        raise CannotMeasureError(f"{error.diagnostic.message}: {hint}") from error
    except OSError as error:
        raise CannotMeasureError(f"{error.filename or 'the network'}: {error.strerror or error}") from error
    return status


def _default_ranks() -> int:
    allocated = os.environ.get("SLURM_NTASKS", "")
    return int(allocated) if allocated.isdecimal() else max(2, len(os.sched_getaffinity(0)))
