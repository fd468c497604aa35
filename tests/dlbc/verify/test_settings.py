"""The settings that `dlbc verify` draws, and what it reads off generated text."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlbrt.contract import AVAILABLE
from dlbrt.options import Options

from dlbc.commands.verify.kernels import Kernels, read_kernels
from dlbc.commands.verify.settings import draw, most_load
from dlbc.pipeline import transform
from dlbc.source import Source


@pytest.mark.parametrize("load", [0, 5, 200])
def test_what_is_drawn_is_accepted_and_repeats(load: int) -> None:
    for seed in range(300):
        found = draw(seed, (2, 3, 5), load)
        options = Options.read(found.variables, found.ranks)
        assert found == draw(seed, (2, 3, 5), load)
        assert found.ranks == (2, 3, 5)[seed % 3]
        slowest = max(options.speeds or (1,)) / min(options.speeds or (1,))
        levels = (*options.load.levels, options.load.random.maximum if options.load.random else 0)
        assert (max(levels) + 1) * slowest <= (load + 1) * 1.02


def test_every_strategy_is_drawn_some_time() -> None:
    drawn = {draw(seed, (2, 3, 5), 20).options["strategy"] for seed in range(500)}
    assert drawn == set(AVAILABLE)


def test_the_load_is_bounded_by_how_long_the_program_takes() -> None:
    assert [most_load(seconds) for seconds in (0.01, 0.5, 4, 100)] == [200, 19, 1, 0]


def generated(text: str) -> str:
    """What is generated of a program."""
    found = transform(Source("p.py", text.encode(), text)).text
    assert found is not None
    return found.decode()


def kernels(text: str) -> Kernels:
    """Of a program, as it is generated."""
    return read_kernels(generated(text))


def test_temporaries_that_nothing_reads_may_be_missing() -> None:
    text = """import numpy as np
A, t, total, last = np.zeros(9), None, 0.0, 0
# dlb: parallel
for i in range(9):
    t = i * i
    last = t + 1
    total += t
    A[i] = t
print(last)
"""
    assert kernels(text).unbound == {"i", "t"}


def test_a_sum_that_nothing_reads_is_no_temporary_even_where_the_plan_leaves_it_out() -> None:
    text = """total = 0
# dlb: parallel
for i in range(9):
    total += i
"""
    without = generated(text).replace("total = dlb.run", "dlb.run")
    assert without != generated(text)
    assert read_kernels(without).unbound == {"i"}


def test_which_iteration_stores_an_element() -> None:
    text = """import numpy as np
A, B, C = np.zeros((9, 9)), np.zeros((9, 9)), np.zeros(9)
# dlb: parallel
for i in range(9):
    A[i, 0] = B[:, i] = i
    C[8 - i] = i
"""
    found = kernels(text)
    assert found.iteration("A", (4, 0)) == "iteration i = 4 of the loop on line 4"
    assert found.iteration("B", (4, 5)) == "iteration i = 5 of the loop on line 4"
    assert found.iteration("C", (4,)) == ""


def test_text_without_loops() -> None:
    assert read_kernels(Path(__file__).read_text()) == Kernels()
