"""Which segments of MPICH are left over from a job; in a directory of the test's."""

from __future__ import annotations

import errno
import fcntl
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dlbc.commands import segments as module
from dlbc.commands.segments import remove_leftovers, segments

#: Opens and maps a file, closes it, and waits for the end of its input.
HOLDER = """\
import mmap, os, sys
handle = os.open(sys.argv[1], os.O_RDWR)
memory = mmap.mmap(handle, 4096)
os.close(handle)
print("has it", flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_DIRECTORY", tmp_path)


def made(home: Path, name: str) -> Path:
    path = home / f"mpich_shm_{name}_0"
    path.write_bytes(bytes(4096))
    return path


def test_what_is_new_and_unused_is_removed(tmp_path: Path) -> None:
    earlier = made(tmp_path, "earlier")
    before = segments()
    left, other = made(tmp_path, "left"), tmp_path / "sem.other"
    other.touch()
    assert remove_leftovers(before) == set()
    assert earlier.exists()
    assert other.exists()
    assert not left.exists()


@pytest.mark.parametrize("how", ["open", "mapped"])
def test_what_a_process_has_stays(tmp_path: Path, how: str) -> None:
    held, left = made(tmp_path, "held"), made(tmp_path, "left")
    handle = os.open(held, os.O_RDWR)
    memory = mmap.mmap(handle, 4096) if how == "mapped" else None
    if memory is not None:
        os.close(handle)
    assert remove_leftovers(set()) == set()
    assert held.exists()
    assert not left.exists()
    if memory is None:
        os.close(handle)


def test_what_another_process_has_is_left_over_once_that_has_ended(tmp_path: Path) -> None:
    held = made(tmp_path, "held")
    command = [sys.executable, "-c", HOLDER, str(held)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"has it\n"
        assert remove_leftovers(set()) == set()
        assert held.exists()
    assert remove_leftovers(set()) == set()
    assert not held.exists()


def test_nothing_is_removed_where_the_system_does_not_tell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left = made(tmp_path, "left")

    def refuse(_: int, command: int, __: int) -> int:
        if command == fcntl.F_SETLEASE:
            raise OSError(errno.EINVAL, "no leases here")
        return 0

    monkeypatch.setattr(fcntl, "fcntl", refuse)
    assert remove_leftovers(set()) == {left}
    assert left.exists()
