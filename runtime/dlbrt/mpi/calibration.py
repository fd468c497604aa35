"""``python -m dlbrt.mpi.calibration RANKS [RESULT]``, under mpiexec: measure the network, show and store it.

The table goes to standard output. RESULT is a file for what was measured, as one JSON object. All ranks end
with the same status: 0 done; 2 where the network cannot be stored, or there are other ranks than expected.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from mpi4py import MPI

from dlbrt.contract import OptionError
from dlbrt.mpi.measuring import measure
from dlbrt.mpi.wire import Communicator
from dlbrt.observe.networks import Calibration, default_path, read, table, to_json, update

__all__ = ["main"]

_USAGE = 2


def main() -> None:
    """Run on each rank; ends the process."""
    communicator = Communicator(MPI.COMM_WORLD)
    try:
        status = _calibrate(communicator, int(sys.argv[1]), sys.argv[2:])
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        communicator.fail(error)
    sys.exit(status)


def _calibrate(communicator: Communicator, expected: int, results: list[str]) -> int:
    place = None
    if communicator.rank == 0:
        try:
            place = _store(communicator.ranks, expected)
        except OptionError as error:
            _complain(str(error))
    place = communicator.comm.bcast(place, root=0)
    if place is None:
        return _USAGE
    found = measure(communicator, communicator.comm.allgather(MPI.Get_processor_name()))
    status: int = communicator.comm.bcast(
        _kept(found, place, results) if communicator.rank == 0 else 0, root=0
    )
    return status


def _store(ranks: int, expected: int) -> Path:
    """Where the network is to be stored; OptionError where it cannot be measured or stored."""
    if expected < 2:
        raise OptionError(f"expected 2 ranks or more, found {expected}: one alone uses no network")
    if ranks != expected:
        hint = "is the launcher that of the MPI library which mpi4py loads?"
        raise OptionError(f"expected {expected} ranks, found {ranks}: {hint}")
    place = default_path(os.environ)
    if place is None:
        raise OptionError(
            "expected a home directory, to store the network in; found none: set XDG_CACHE_HOME"
        )
    read(place)
    return place


def _kept(found: Calibration, place: Path, results: list[str]) -> int:
    """Show and store what was measured; the exit status."""
    print("\n".join(table(found)), flush=True)
    try:
        for result in results:
            Path(result).write_text(to_json(found), encoding="utf-8")
        update(place, found)
    except OSError as error:
        what = error.filename or place
        _complain(f"the network is not stored: {what} cannot be written: {error.strerror or error}")
        return _USAGE
    print(f"\nstored in {place}: runs on these hosts go by it", flush=True)
    return 0


def _complain(message: str) -> None:
    print(f"dlbc: {message}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
