"""Random programs do on ranks what they do sequentially; one that does not is made small."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.differential import Run, difference, keep, programs, runs, shrunk
from tests.fuzz.shrink import shrink
from tests.support.tier import is_full

SEED = 20


@pytest.mark.mpi
def test_random_programs_do_on_ranks_what_they_do_sequentially(tmp_path: Path) -> None:
    count, strategies = (60, 2) if is_full() else (12, 1)
    texts = list(programs(count, SEED, 40, tmp_path))
    assert sum(inside for _, inside in texts) > count / 2
    for number, (text, _) in enumerate(texts):
        assert difference(text, runs(SEED + number, strategies), tmp_path) is None


@pytest.mark.full
def test_few_files_are_of_compiled_routines(tmp_path: Path) -> None:
    texts = list(programs(8 * 20, SEED, 40, tmp_path))
    routines = [(", jit" in text, inside) for text, inside in texts if "def routine_" in text]
    assert routines == [(False, 10), (True, 10)]


def test_runs_are_the_same_each_time() -> None:
    assert runs(3, 4) == runs(3, 4) != runs(4, 4)
    assert [run.ranks for run in runs(3, 4)] == [2] * 4 + [3] * 4 + [5] * 4
    assert len({run.strategy for number in range(20) for run in runs(number, 2)}) > 8


PROGRAM = """import numpy as np


def halves(n):
    return [k / 2 for k in range(n)]


def smooth(n):
    A, B = np.arange(n) ** 2.0, np.zeros(n)
    total = 0.0
    for k in range(3):
        total += k
    # dlb: parallel
    for i in range(1, n - 1):
        B[i] = A[i - 1] + A[i + 1]
    return B.tolist(), total


print(halves(5))
if halves(2):
    print(smooth(20))
else:
    print(2)
print(halves(7))
"""


def without_halo(generated: str) -> str:
    """A wrong plan: iterations get no rows of neighbours."""
    return generated.replace(", rows=lambda i: (i - 1, i + 1)", "")


@pytest.mark.full
@pytest.mark.mpi
def test_a_program_that_differs_is_shrunk_and_kept(tmp_path: Path) -> None:
    right, wrong = Run(3, "none", 1), Run(3, "none", 1, without_halo)
    assert difference(PROGRAM, [right], tmp_path) is None
    found = difference(PROGRAM, [right, wrong], tmp_path)
    assert found is not None
    assert found[0] is wrong
    small = shrunk(PROGRAM, wrong, tmp_path, 3600.0)
    assert "halves(n)" in small  # the condition needs it
    assert small.count("halves") == 2
    assert "total +=" not in small
    assert small.count("print") == 1
    kept = tmp_path / "kept.py"
    keep(small, f"{found[0]}, {found[1]}", kept)
    assert kept.read_text().startswith(
        "# Found by tests.fuzz.differential: 3 ranks, none, load 1, status 0: "
    )
    assert difference(kept.read_text(), [wrong], tmp_path) is not None


def test_shrinking_removes_all_that_the_failure_does_not_need() -> None:
    function = "def f(x):\n    # why\n    for i in x:\n        y = i\n        z = y\n    return 3\n"
    text = f"a = 1\nb = 2\n\n\n{function}\n\nc = a\n"
    assert shrink(text, lambda t: "z = y" in t) == (
        "\n\ndef f(x):\n    # why\n    for i in x:\n        z = y\n\n\n"
    )
    assert shrink(text, lambda t: "c = a" in t).strip() == "c = a"


def test_shrinking_asks_each_text_once_and_ends_in_time() -> None:
    text = "".join(f"a{k} = {k}\n" for k in range(16))
    asked: list[str] = []

    def fails(candidate: str) -> bool:
        asked.append(candidate)
        return "a3 =" in candidate and "a12 =" in candidate

    assert shrink(text, fails) == "a3 = 3\na12 = 12\n"
    assert len(asked) == len(set(asked)) < 120
    assert shrink(text, fails, lambda: False) == text
