"""The process that watches the ranks of a host: what it says of deaths, and which of them end the job."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from dlbrt import watchdog
from dlbrt.watchdog import ABORTING, APART, LEAVING, RUNNING, SLOT_BYTES, Activity

#: A process whose first thread has ended, so it is as one that is killed until all its threads have noticed.
ENDS_SLOWLY = """
import ctypes, threading, time
threading.Thread(target=time.sleep, args=(600,)).start()
ctypes.CDLL(None).pthread_exit(None)
"""


@pytest.fixture
def ranks() -> Iterator[list[subprocess.Popen[bytes]]]:
    made = [subprocess.Popen(["sleep", "600"]) for _ in range(3)]
    yield made
    for each in made:
        each.kill()
        each.wait()


def watching(
    page: Path, outlived: bool, phases: list[int], ranks: list[subprocess.Popen[bytes]]
) -> subprocess.Popen[str]:
    memory = memoryview(bytearray(SLOT_BYTES * len(ranks)))
    for number, phase in enumerate(phases):
        Activity(phase, 0.0, "a.py:3").write(memory, number)
    page.write_bytes(memory)
    watched = [f"{rank}:{each.pid}" for rank, each in enumerate(ranks)]
    command = [sys.executable, "-I", "-S", str(watchdog.__file__), str(page), "host", "0.0"]
    marked = [watchdog.OUTLIVED] if outlived else []
    return subprocess.Popen([*command, *marked, *watched], stderr=subprocess.PIPE, text=True)


def end(rank: subprocess.Popen[bytes]) -> None:
    rank.kill()
    rank.wait()


def test_deaths_that_are_outlived_are_named_and_that_of_rank_0_ends_the_job(
    tmp_path: Path, ranks: list[subprocess.Popen[bytes]]
) -> None:
    with watching(tmp_path / "page", True, [RUNNING] * 3, ranks) as process:
        assert process.stderr is not None
        for rank in (2, 0):
            end(ranks[rank])
            line = process.stderr.readline()
            assert f"rank {rank} (pid {ranks[rank].pid}) on host has died in the loop at a.py:3" in line
            assert ("the others go on" in line) == (rank > 0)
            assert ("the job ends" in line) == (rank == 0)
        assert ranks[1].wait() == -9  # what is left of a job that ends


def test_a_death_that_is_not_outlived_ends_the_job(
    tmp_path: Path, ranks: list[subprocess.Popen[bytes]]
) -> None:
    with watching(tmp_path / "page", False, [APART] * 3, ranks) as process:
        assert process.stderr is not None
        end(ranks[2])
        assert "rank 2" in (line := process.stderr.readline())
        assert "the job ends" in line
        assert [ranks[0].wait(), ranks[1].wait()] == [-9, -9]


def test_ranks_that_are_about_to_be_gone_are_named_too(
    tmp_path: Path, ranks: list[subprocess.Popen[bytes]]
) -> None:
    # A launcher may have killed rank 2 since rank 1, which began to end before it, ends more slowly.
    with (
        subprocess.Popen([sys.executable, "-c", ENDS_SLOWLY]) as slow,
        watching(tmp_path / "page", False, [RUNNING] * 3, [ranks[0], slow, ranks[2]]) as process,
    ):
        assert process.stderr is not None
        while ") Z " not in Path(f"/proc/{slow.pid}/stat").read_text():
            time.sleep(0.01)
        end(ranks[2])
        expected = f"dlb: rank 1 (pid {slow.pid}) or rank 2 (pid {ranks[2].pid}) on host has died"
        assert process.stderr.readline() == f"{expected} in the loop at a.py:3; the job ends\n"
        assert [ranks[0].wait(), slow.wait()] == [-9, -9]


def test_ranks_that_leave_have_not_died(tmp_path: Path, ranks: list[subprocess.Popen[bytes]]) -> None:
    with watching(tmp_path / "page", True, [LEAVING] * 3, ranks) as process:
        assert process.stderr is not None
        for rank in (1, 0, 2):
            end(ranks[rank])
        assert process.stderr.read() == ""


@pytest.mark.full
@pytest.mark.parametrize("outlived", [False, True])
def test_ranks_that_end_since_another_one_aborts_have_not_died(
    tmp_path: Path, ranks: list[subprocess.Popen[bytes]], outlived: bool
) -> None:
    with watching(tmp_path / "page", outlived, [ABORTING, APART, RUNNING], ranks) as process:
        assert process.stderr is not None
        end(ranks[1])
        assert [ranks[0].wait(), ranks[2].wait()] == [-9, -9]  # as the launcher does
        assert process.stderr.read() == ""
