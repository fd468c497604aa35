"""Lengths of lists and arrays that the text shows are not asked for."""

from __future__ import annotations

import pytest

from dlbc.commands.explain.iterations import find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers
from dlbc.pipeline import explain
from dlbc.source import Source

HEAD = "import sys\nimport numpy as np\nrng = np.random.default_rng(3)\nn = 70\nm = int(sys.argv[1])\n"


def iterations(text: str, **given: int) -> int | list[str]:
    """The number of iterations of the only loop, or the numbers that are asked for."""
    result = explain(Source("x.py", text.encode(), text, "utf-8"))
    assert not result.diagnostics
    [report] = result.reports
    numbers = LoopNumbers(report.loop, report.space, given)
    found = find_iterations(report.loop.node.iter, numbers)
    return list(numbers.missing) if found is None else len(found.values)


def over(made: str) -> str:
    """A program with a loop over the length of `x`."""
    return f"{HEAD}{made}\ny = np.zeros(9999)\n# dlb: parallel\nfor i in range(len(x)):\n    y[i] = x[i]\n"


SHOWN = {
    "x = [1.5, 2.5, 3.5]": 3,
    "x = [0.0] * n": 70,
    "x = [0.0, 1.0] * n": 140,
    "x = [float(k) for k in range(n)]": 70,
    "x = list(range(5, n))": 65,
    "x = np.zeros(n)": 70,
    "x = np.full((n, 3), 1.0)": 70,
    "x = np.arange(n) * 0.5": 70,
    "x = np.linspace(0.0, 1.0)": 50,
    "x = np.linspace(0.0, 1.0, n + 1)": 71,
    "x = np.array([float(k) for k in range(n)])": 70,
    "x = 100 + np.cumsum(rng.normal(size=n))": 70,
    "x = rng.random((n, 3))": 70,
    "x = np.random.rand(n, 3)": 70,
    "w = np.zeros(n)\nx = w.copy()": 70,
    "x = np.zeros(n)\nx[2:5] = 1.0": 70,
}


@pytest.mark.parametrize(("made", "expected"), SHOWN.items(), ids=SHOWN)
def test_a_length_in_the_text_is_known(made: str, expected: int) -> None:
    assert iterations(over(made)) == expected


NOT_SHOWN = [
    "x = [0.0] * n\nx.append(1.0)",
    "x = [0.0] * n\nx[2:5] = [1.0]",
    "x = [0.0] * n\ndel x[0]",
    "x = [0.0] * n\nif m:\n    x = [1.0]",
    "if m:\n    x = [0.0] * n",
    "x = [float(k) for k in range(n) if k % 3]",
    "x = [*range(n), 1.0]",
    "x = np.loadtxt('x.txt')",
    "x = [0.0] * int(sys.argv[2])",
    "k = 5\nx = [0.0] * k\nk = 7",
]


@pytest.mark.parametrize("made", NOT_SHOWN)
def test_a_length_that_may_be_another_is_asked_for(made: str) -> None:
    assert iterations(over(made)) == ["len(x)"]


def test_the_number_that_decides_a_length_is_asked_for_in_its_place() -> None:
    text = over("x = [0.0] * m")
    assert iterations(text) == ["m"]
    assert iterations(text, m=12) == 12
    assert iterations(text, **{"len(x)": 12}) == 12


def test_a_name_that_is_bound_to_a_length_has_it() -> None:
    text = over("x = np.zeros((n, 3))\nrows, columns = x.shape").replace("range(len(x))", "range(rows)")
    assert iterations(text) == 70
