"""Checking takes no more than n log n for shapes of `tests/fuzz/hostile_text.py`, and ends for all of them.

The work is counted: calls of functions, which are the same on every machine.
"""

from __future__ import annotations

import cProfile
import threading
from types import FrameType

import pytest

from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import prove, transform
from tests.fuzz.hostile_text import SHAPES

#: Four times the size may take this many times the calls. A quadratic cost takes up to sixteen.
GROWTH = 5.5
SIZE = 20

#: Shapes whose cost grows with their size alone.
EVEN = (
    "annotated loops", "annotated loops with arrays", "annotated loops in functions",
    "annotated loops that call", "loops of a routine", "refused loops", "loops with costs", "plain loops",
    "statements of a routine",
    "annotations of no loop", "names in a clause", "unknown clauses", "statements", "shifted reads",
    "a long cost", "elif chain",
)  # fmt: skip

#: Shapes whose cost doubled with each step, with a size at which checking did not end or took minutes.
DOUBLING = {
    "nested lambdas": 64, "squared temporaries": 32, "divisions in a subscript": 32,
    "sum of divisions in a subscript": 16, "products of sums in a subscript": 32,
    "product of names in a subscript": 32, "sum of products in a subscript": 32, "minima in a subscript": 16,
    "products of sums in a cost": 32, "power of a sum in a cost": 32,
    "products of sums in an inner bound": 32,
    "nested triangles": 19,
}  # fmt: skip
#: No program of a few hundred characters needs more calls.
MOST_CALLS = 2_000_000


def calls_for(name: str, size: int) -> int:
    """Calls of functions that checking a shape takes, without those of `compile` and of first imports."""
    source, problems = decode_source("hostile.py", SHAPES[name].write(size).encode())
    assert not problems
    profile = cProfile.Profile()

    def begin(_frame: FrameType, _event: str, _argument: object) -> None:
        profile.enable()

    threading.setprofile(begin)
    try:
        prove(source)
    finally:
        threading.setprofile(None)
        profile.disable()
    return sum(entry.callcount for entry in profile.getstats())


@pytest.mark.parametrize("name", EVEN)
def test_calls_grow_with_the_size(name: str) -> None:
    calls_for(name, 2)  # first imports
    assert calls_for(name, 4 * SIZE) < GROWTH * calls_for(name, SIZE)


@pytest.mark.parametrize("name", DOUBLING)
def test_short_texts_need_few_calls(name: str) -> None:
    calls_for(name, 2)  # first imports
    assert calls_for(name, DOUBLING[name]) < MOST_CALLS


@pytest.mark.full
def test_calls_that_double_are_followed_up_to_a_bound() -> None:
    calls_for("calls doubling", 2)  # first imports
    assert calls_for("calls doubling", 40) < 1.5 * calls_for("calls doubling", 20)


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if len(shape.write(2)) < 1000])
def test_every_shape_has_a_verdict(name: str) -> None:
    shape = SHAPES[name]
    for size in shape.sizes[:3] if shape.sizes[1] <= 4 else shape.sizes[:1]:
        source, problems = decode_source("hostile.py", shape.write(size).encode())
        found: tuple[Diagnostic, ...] = problems or transform(source).diagnostics
        assert all(d.code != "DLB008" for d in found)


@pytest.mark.parametrize(
    "name", [name for name in SHAPES if name.startswith("hexadecimal") or name == "decimal digits in a cost"]
)
def test_an_integer_of_5000_digits_is_refused_where_it_stands(name: str) -> None:
    source, _ = decode_source("hostile.py", SHAPES[name].write(5000).encode())
    [found] = prove(source).diagnostics
    assert found.code in ("DLB024", "DLB101")
    assert found.place.line > 0


def test_a_loop_of_many_stores_says_that_its_pairs_are_too_many() -> None:
    text = SHAPES["strided stores"].write(70).replace("70 * i", "i * (i + 1)")
    source, _ = decode_source("hostile.py", text.encode())
    [found] = prove(source).diagnostics
    assert found.code == "DLB302"
    assert "more than the 4000 pairs" in found.help
