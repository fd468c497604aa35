"""Shared memory that MPICH leaves in the file system when a job is killed while its ranks begin.

The first rank of a host to begin makes a file, whose name says nothing of the job, and has it open or mapped
from then on. Once all ranks have begun they remove the name (`dlbrt.mpi.leftovers`).

Law. The system gives a lease for writing to a file only if no other process has it open or mapped, whoever
and wherever that process is. A segment of this user's that can be leased and was not there before a job began
is that job's, or one of another that was killed meanwhile: nobody can use it any more.
"""

from __future__ import annotations

import fcntl
import os
import signal
import time
from collections.abc import Set as AbstractSet
from contextlib import suppress
from pathlib import Path

__all__ = ["remove_leftovers", "segments", "unused"]

_DIRECTORY, _NAMES = Path("/dev/shm"), "mpich_shm_*"
#: How long processes that have been killed may take to end, in seconds.
_GRACE_S, _LOOK_S = 1.0, 0.05


def segments() -> set[Path]:
    """The segments of MPICH that have a name and are this user's."""
    found = set()
    for path in _DIRECTORY.glob(_NAMES):
        with suppress(FileNotFoundError):
            if path.lstat().st_uid == os.getuid():
                found.add(path)
    return found


def remove_leftovers(before: AbstractSet[Path]) -> set[Path]:
    """Remove what a job has left that has ended; ``before`` are the segments from before it began.

    Returns the new ones of which the system does not tell whether a process has them: they are not removed.
    """
    until = time.monotonic() + _GRACE_S
    while new := segments() - before:
        left = unused(new)
        for path in left:
            path.unlink(missing_ok=True)
        used = new - left
        if not used or time.monotonic() >= until:
            return {path for path in used if _is_used(path) is None}
        time.sleep(_LOOK_S)
    return set()


def unused(paths: AbstractSet[Path]) -> set[Path]:
    """Those that surely no process has open or mapped."""
    return {path for path in paths if _is_used(path) is False}


def _is_used(path: Path) -> bool | None:
    """Whether a process has a file open or mapped; None where the system does not tell."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return True  # another process was quicker
    except OSError:
        return None
    try:
        # If the file is opened meanwhile, the holder of the lease gets a signal, which is to do nothing.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(handle)
    return False
