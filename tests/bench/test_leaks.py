"""A long program holds no more at its end than in its middle, and ranks of a crowded host wait asleep.

Ten times as long, and on more ranks, by command.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.bench.crowded import crowd
from tests.bench.leaks import MOST_HANDLES, Record, soak


@pytest.mark.mpi
def test_nothing_grows_in_a_thousand_calls(tmp_path: Path) -> None:
    record = soak(3, 1000, tmp_path, timeout_s=1500.0)
    assert len(record.notes[0]["ranks"]) == 3
    assert record.complaints() == []


def noted(calls: int, kib: int, files: int, handle: int) -> dict[str, object]:
    held = {"kib": kib, "files": files, "mappings": 9, "threads": 1}
    return {"calls": calls, "ranks": [held, held], "handles": {"17": [handle, 2]}}


def test_what_grows_is_named() -> None:
    flat = Record(tuple(noted(2000 * k, 5000, 20, 5) for k in range(5)), same=True)
    assert flat.complaints() == []
    assert replace(flat, same=False).complaints() == [
        "the output differs from that of the sequential program"
    ]
    memory = Record(tuple(noted(2000 * k, 5000 + 2000 * k, 20, 5) for k in range(5)), same=True)
    assert memory.complaints() == ["memory grows by 1024 bytes a call"]
    once = Record(tuple(noted(2000 * k, 5000 + 2000 * (k > 2), 20, 5) for k in range(5)), same=True)
    assert once.complaints() == []
    files = Record(tuple(noted(2000 * k, 5000, 20 + k, 5) for k in range(5)), same=True)
    assert len(files.complaints()) == 1
    assert "files grow" in files.complaints()[0]
    handles = Record(tuple(noted(2000 * k, 5000, 20, MOST_HANDLES * k) for k in range(5)), same=True)
    assert handles.complaints() == [f"handles of MPI go up to {4 * MOST_HANDLES}"]


@pytest.mark.mpi
def test_sixteen_ranks_on_few_processors_give_the_output_and_leave_the_processors_to_the_one_that_computes(
    tmp_path: Path,
) -> None:
    found = crowd(16, tmp_path)
    assert found.ranks == len(found.alone) == 16
    assert found.same
    assert max(found.waiting) < 0.5  # a rank that spins uses as much as rank 0
