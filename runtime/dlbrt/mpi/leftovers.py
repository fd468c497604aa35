"""What MPI would leave in the file system if the job were killed.

MPICH keeps the name of its shared memory segment until the ranks end. Only their beginning needs the name:
once all have the memory, it can go. The memory then goes with the last process that has it, however that
ends.
"""

from __future__ import annotations

import os
from contextlib import suppress

_SEGMENTS = "/dev/shm/mpich_shm_"


def forget_segments() -> None:
    """Remove the names of MPI's segments in this process; all ranks have begun."""
    with suppress(OSError), open("/proc/self/maps", encoding="utf-8") as maps:
        found = {line[line.index(_SEGMENTS) :].rstrip() for line in maps if _SEGMENTS in line}
        for name in found:
            if not name.endswith(" (deleted)"):
                with suppress(FileNotFoundError):  # another rank was quicker
                    os.unlink(name)
