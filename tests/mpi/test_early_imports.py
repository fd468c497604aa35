"""Ranks above 0 import libraries of the program before its first loop."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, starting, transform

#: The parallel loop does not use ``wave``, so a worker has it from before that loop.
PROGRAM = """\
import wave
import sys

def parameters(path):
    with wave.open(path) as file:
        return file.getparams()

for path in sys.argv[1:]:
    print(parameters(path))
found = [False] * 8
# dlb: parallel, BLOCK, schedule(none)
for i in range(8):
    found[i] = "wave" in sys.modules
print(found)
"""


@pytest.mark.mpi
def test_libraries_are_there_before_the_first_loop(tmp_path: Path) -> None:
    source = tmp_path / "program.py"
    source.write_text(PROGRAM)
    with starting(forks=False):  # a fork has imported everything
        done = run_mpi(2, [sys.executable, str(transform(source, tmp_path))])
    assert done.status == 0, done.stderr
    assert done.stdout.decode() == f"{[True] * 8}\n"
