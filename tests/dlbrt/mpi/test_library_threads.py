"""Threads of libraries that crowd the cores are told of."""

from __future__ import annotations

import hashlib
import sys
import threading
import time
from pathlib import Path

import pytest
from dlbrt.mpi.root import library_threads
from dlbrt.mpi.root.library_threads import LibraryThreads

from tests.support.mpi import run_mpi, transform

PROGRAM = """\
import hashlib, threading
import numpy as np

data, seconds = bytes(40_000_000), np.zeros(40)

def beside():
    thread = threading.Thread(target=hashlib.sha256, args=(data,))
    thread.start()
    thread.join()

# dlb: parallel
for i in range(40):
    beside()
    seconds[i] = i
print(seconds.sum())
"""


def work(least_s: float) -> None:
    """Keep a processor busy without the interpreter's lock."""
    data = bytes(1 << 20)
    began = time.thread_time()
    while time.thread_time() - began < least_s:
        hashlib.sha256(data)


def test_they_are_counted_beside_the_rank_s_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library_threads, "_LEAST_S", 0.05)
    threads = LibraryThreads()
    threads.begin()
    work(0.1)
    assert threads.end(0.1, ranks=2, cores=2) == ""
    thread = threading.Thread(target=work, args=(0.3,))
    threads.begin()
    thread.start()
    thread.join()
    said = threads.end(0.4, ranks=2, cores=5)
    assert said.endswith("while 2 ranks share 5 cores: write `OMP_NUM_THREADS=2` before the command")
    threads.begin()
    assert threads.end(0.0, ranks=1, cores=1) == ""
    assert threads.end(0.0, ranks=2, cores=64) == ""


@pytest.mark.mpi
def test_a_program_says_so_once(tmp_path: Path) -> None:
    (tmp_path / "p.py").write_text(PROGRAM)
    done = run_mpi(
        2, [sys.executable, str(transform(tmp_path / "p.py", tmp_path))], env={"DLB_STRATEGY": "none"}
    )
    assert done.stdout == b"780.0\n"
    assert done.stderr.count("dlb: p.py:12: threads of libraries take ") == 1
