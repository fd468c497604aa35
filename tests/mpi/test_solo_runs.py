"""Compiled loops that rank 0 runs alone again and again: which runs are repeated.

What they compute is compared in `test_programs`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.mpi.test_iterate import statistics

SMALL = """
import numpy as np

def work(a, out, passes):
    for step in range(passes):
        factor = 0.5 * step
        # dlb: parallel, jit
        for i in range({first}, len(a) - 1):
            out[i] = a[i - 1] + a[i + 1] * factor
        a, out = out, a
        {code}

a = np.linspace(0.0, 1.0, 50)
work(a, a.copy(), 40)
print(a.tobytes().hex())
"""


@pytest.mark.mpi
@pytest.mark.parametrize("ranks", [1, 2])
def test_a_small_loop_is_prepared_once(ranks: int, tmp_path: Path) -> None:
    text = SMALL.format(first=1, code="")
    document, _ = statistics(tmp_path, text, ranks, env={"DLB_STRATEGY": "auto"})
    (loop,) = document["loops"]
    assert (loop["runs"], loop["iterations"]) == (40, 40 * 48)
    assert loop["repeated_runs"] >= 30
    assert sum(each["iterations"] for each in loop["per_rank"]) == 40 * 48


@pytest.mark.mpi
def test_what_python_has_to_do_is_not_repeated(tmp_path: Path) -> None:
    """Each run has an iteration that reads from the end."""
    document, _ = statistics(tmp_path, SMALL.format(first=0, code=""), 1)
    assert document["loops"][0].get("repeated_runs", 0) <= 1


@pytest.mark.mpi
def test_other_arrays_of_the_same_kinds_are_a_repetition(tmp_path: Path) -> None:
    text = SMALL.format(first=1, code="a, out = a.copy(), out.copy()")
    document, _ = statistics(tmp_path, text, 1)
    assert document["loops"][0]["repeated_runs"] >= 30
