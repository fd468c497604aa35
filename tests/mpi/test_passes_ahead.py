"""Passes that can be foreseen: ranks go through them by themselves, and do what the program does."""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import pytest

from tests.support.mpi import run_mpi, run_sequential, transform
from tests.support.tier import pairs, part

pytestmark = pytest.mark.mpi

#: Two fields that are swapped: halos travel in each pass.
HEAT = """
def heat(u, v, steps):
    n, m = u.shape
    # dlb: iterate
    for _ in range(steps):
        # dlb: parallel, jit
        for i in range(1, n - 1):
            for j in range(1, m - 1):
                around = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]
                v[i, j] = u[i, j] + 0.2 * (around - 4.0 * u[i, j])
        u, v = v, u
    return u
"""

#: A row that all ranks need, which is another rank's in half of the passes.
PATHS = """
def paths(d):
    n = len(d)
    # dlb: iterate
    for k in range(n):
        row = d[k].copy()
        # dlb: parallel, jit
        for i in range(n):
            for j in range(n):
                d[i, j] = min(d[i, j], d[i, k] + row[j])
    return d
"""

#: Two loops in a pass, one of them for each of two halves, and a number that changes.
PHASES = """
def phases(u, v, steps):
    n, m = u.shape
    t = 0.0
    # dlb: iterate
    for s in range(steps):
        for half in range(2):
            # dlb: parallel, jit
            for i in range(n):
                for j in range(half, m, 2):
                    u[i, j] = 0.5 * u[i, j] + 0.25 * v[i, j] + t
        # dlb: parallel, jit
        for i in range(n):
            for j in range(m):
                v[i, j] = u[i, j] * 0.75 + s
        t += 0.125
    return v
"""

HEAD = "import numpy as np\n\nrng = np.random.default_rng(5)\n"
CALLS = {
    "heat": (HEAT, "print(heat(rng.random((40, 30)), np.ones((40, 30)), 150).tobytes().hex())"),
    "paths": (PATHS, "print(paths(rng.random((90, 90))).tobytes().hex())"),
    "phases": (PHASES, "print(phases(rng.random((30, 20)), rng.random((30, 20)), 60).tobytes().hex())"),
}


def written(directory: Path, *parts: str) -> Path:
    """The file of a program with these parts."""
    source = directory / "program.py"
    source.write_text(HEAD + "".join(parts) + "\n", encoding="utf-8")
    return source


def foreseen_runs(stats: Path) -> int:
    """How many runs were foreseen in the program's only routine."""
    (routine,) = json.loads(stats.read_text())["routines"]
    return int(routine["foreseen_runs"])


@pytest.mark.parametrize(("name", "ranks"), part(pairs(CALLS, (2, 3, 5)), 2))
def test_ranks_go_through_passes_by_themselves(name: str, ranks: int, tmp_path: Path) -> None:
    text, call = CALLS[name]
    source, stats = written(tmp_path, text, call), tmp_path / "stats.json"
    expected = run_sequential([sys.executable, str(source)])
    env = {"DLB_STRATEGY": "none", "DLB_STATS": str(stats)}
    done = run_mpi(ranks, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert (done.stdout, done.status) == (expected.stdout, 0), done.stderr
    assert foreseen_runs(stats) > 30


@pytest.mark.parametrize(
    ("store", "error"),
    [
        ("u[i, t] = u[i, t] * 0.5 + 1.0", "IndexError"),
        ("u[i, 0] = u[i, 0] * 0.5 + 1.0 / (t - 40)", "ZeroDivisionError"),
    ],
)
def test_a_pass_that_fails_is_left_to_the_program(store: str, error: str, tmp_path: Path) -> None:
    text = f"""
u, v, t = rng.random((30, 50)), rng.random((30, 50)), -1
try:
    # dlb: iterate
    for t in range(100):
        # dlb: parallel, jit
        for i in range(1, len(u) - 1):
            for j in range(50):
                v[i, j] = (u[i - 1, j] + u[i + 1, j]) * 0.5
        # dlb: parallel, jit
        for i in range(len(u)):
            {store}
        u, v = v, u
except {error} as e:
    print(t, e)
print(u.tobytes().hex(), v.tobytes().hex())
"""
    source, stats = written(tmp_path, text), tmp_path / "stats.json"
    expected = run_sequential([sys.executable, str(source)])
    assert expected.stdout.startswith((b"50 ", b"40 ")), expected.stderr
    env = {"DLB_STRATEGY": "none", "DLB_STATS": str(stats)}
    done = run_mpi(3, [sys.executable, str(transform(source, tmp_path))], env=env)
    assert (done.stdout, done.status) == (expected.stdout, 0), done.stderr


def test_an_interrupt_waits_until_passes_are_over(tmp_path: Path) -> None:
    text = f"""
import subprocess

def grow(u, passes):
    t = -1
    try:
        # dlb: iterate
        for t in range(passes):
            # dlb: parallel, jit
            for i in range(len(u)):
                for j in range(50):
                    u[i, j] = u[i, j] + 1.0
    except KeyboardInterrupt:
        print(t > 0, u.min() == u.max(), u[0, 0] in (t + 1.0, t + 2.0))

grow(np.ones((30, 50)), 50)
killer = subprocess.Popen(["sh", "-c", "sleep 0.5; kill -{signal.SIGINT:d} $PPID"])
grow(np.ones((30, 50)), 10**7)
killer.wait()
"""
    generated = transform(written(tmp_path, text), tmp_path)
    assert "routine.ahead(" in generated.read_text(encoding="utf-8")
    done = run_mpi(3, [sys.executable, str(generated)], env={"DLB_STRATEGY": "none"})
    assert (done.stdout, done.status) == (b"True True True\n", 0), done.stderr
