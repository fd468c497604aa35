"""What a run finds on a host: its versions, processors, shared memory and directories, for `dlbc doctor`.

The text of this file is run there by `python -P -c`, so it needs neither dlbc nor another package. It prints
two lines, the version text of the MPI library that mpi4py loads by itself: loading it may end the process.
"""

from __future__ import annotations

import json
import os
import platform
import socket
import stat
import time
from glob import glob
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

#: As in `dlbrt.contract`, which may be missing: start-up files of shells may print other lines.
FACTS = "dlbc-facts "

_PACKAGES = ("numpy", "mpi4py", "cloudpickle", "numba")
#: Segments of shared memory by MPICH, and by Open MPI 5 and 4.
_SEGMENTS = ("mpich_shm_*", "sm_segment.*", "vader_segment.*")
_SHARED = "/dev/shm"
#: Numbers of threads, as dlbc and numerical libraries read them.
_THREADS = ("DLB_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
#: A segment is left behind if no process has it; for so many seconds a rank may be about to open it.
_YOUNG_S = 60.0


def describe() -> dict[str, object]:
    """What this host has; a version is empty where the package is missing, sizes are in bytes."""
    place, problem = _kernels()
    leftovers = _leftovers()
    return {
        "name": socket.gethostname(),
        "versions": {"Python": f"{platform.python_implementation()} {platform.python_version()}"}
        | {"dlbrt": _dlbrt()}
        | {package: _version(package) for package in _PACKAGES},
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "shared_free": _free_bytes(),
        "leftovers": leftovers,
        "leftover_bytes": sum(map(_size, leftovers)),
        "kernels": place,
        "kernels_problem": problem,
        "threads": {name: os.environ[name] for name in _THREADS if os.environ.get(name)},
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _dlbrt() -> str:
    """That of the module which a rank imports: an installation may lead to a directory of sources."""
    try:
        from dlbrt.contract import VERSION
    except ImportError:
        return ""
    return VERSION


def _free_bytes() -> int | None:
    try:
        found = os.statvfs(_SHARED)
    except OSError:
        return None
    return found.f_bavail * found.f_frsize


def _leftovers() -> list[str]:
    """Segments that no process has, in order; those of other users only where all processes can be seen."""
    ours = os.geteuid()
    old = time.time() - _YOUNG_S
    found = []
    for pattern in _SEGMENTS:
        for name in glob(f"{_SHARED}/{pattern}"):
            try:
                status = os.stat(name)
            except OSError:
                continue
            if ours in (0, status.st_uid) and status.st_mtime < old:
                found.append(name)
    return sorted(set(found) - _mapped()) if found else []


def _mapped() -> set[str]:
    """The files of shared memory that processes have."""
    names = set()
    for path in glob("/proc/[0-9]*/maps"):
        try:
            lines = Path(path).read_text(errors="replace").splitlines()
        except OSError:
            continue  # it has ended, or is another user's
        names |= {line[line.index(_SHARED) :] for line in lines if _SHARED in line}
    return names


def _size(path: str) -> int:
    try:
        return os.stat(path).st_blocks * 512
    except OSError:
        return 0


def _kernels() -> tuple[str, str]:
    """The directory in which compiled loops are kept, and why it cannot be used, empty if it can."""
    try:
        from dlbrt.native.cache import kernel_directory
    except ImportError:
        return "", ""
    directory = kernel_directory(os.environ)
    if directory is None:
        return "", "DLB_KEEP=0 is set" if os.environ.get("DLB_KEEP") == "0" else "there is no home directory"
    nearest = next(path for path in (directory, *directory.parents) if path.exists())
    status = nearest.stat()
    if not nearest.is_dir():
        return str(directory), f"{nearest} is no directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return str(directory), f"{nearest} cannot be written"
    if nearest == directory and (
        status.st_uid != os.geteuid() or status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    ):
        return str(directory), "it belongs to another user, or others may write there"
    return str(directory), ""


def library() -> dict[str, str]:
    """The version text of the MPI library that mpi4py loads, and why it loads none; one of them is empty."""
    try:
        import mpi4py

        mpi4py.rc.initialize = False
        from mpi4py import MPI

        return {"library": MPI.Get_library_version().strip("\0 \n"), "problem": ""}
    except (ImportError, RuntimeError, OSError) as error:
        return {"library": "", "problem": str(error) or type(error).__name__}


if __name__ == "__main__":
    print(FACTS + json.dumps({"host": describe()}), flush=True)
    print(FACTS + json.dumps({"mpi": library()}), flush=True)
