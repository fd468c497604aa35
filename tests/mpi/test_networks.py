"""MPICH's two network modules, without memory in common: each rank is taken for a host of its own."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import pairs

pytestmark = pytest.mark.mpi

#: Rows that are received in place, and elements of lists, and elements stored at any place, whose messages
#: are found by a probe; work moves, with both kinds.
PROGRAM = """\
import numpy as np

A, names, seen = np.zeros((40, 3)), [[] for _ in range(40)], np.zeros(80)
place = np.random.default_rng(3).permutation(80)
for r in range(6):
    # dlb: parallel, BLOCK
    for i in range(40):
        t = 0.0
        for k in range(3000):
            t += (i * k) % 7 * 0.5
        A[i, :] = A[i, :] * 1.5 + t
        names[i].append(r * i)
        seen[place[i]] = t + i
print(A.tobytes().hex(), names, seen.tobytes().hex())
"""


@pytest.mark.parametrize(("module", "strategy"), pairs(["ofi", "ucx"], ["GDDLB", "steal", "GSS"]))
def test_each_module_brings_every_message_to_its_place(tmp_path: Path, module: str, strategy: str) -> None:
    source = tmp_path / "program.py"
    source.write_text(PROGRAM)
    expected = run_sequential([sys.executable, source.name], cwd=tmp_path)
    apart = {"MPIR_CVAR_NOLOCAL": "1", "MPIR_CVAR_CH4_NETMOD": module}
    env = apart | {"DLB_STRATEGY": strategy, "DLB_LOAD": "fixed:3,0,1"}
    generated = transform(source, tmp_path)
    done = run_mpi(3, [sys.executable, generated.name], env=env, cwd=tmp_path)
    assert (done.status, done.stdout) == (0, expected.stdout), done.stderr
