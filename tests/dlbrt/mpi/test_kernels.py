"""A kernel's pickle is used again only while nothing that it depends on can have changed."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import CodeType
from typing import Any

import numpy as np
import pytest
from dlbrt.data.space import space_of
from dlbrt.data.spans import Spans
from dlbrt.emulation import Load
from dlbrt.mpi.loop import LoopContext
from dlbrt.mpi.routines.routine import IterativeRoutine
from dlbrt.mpi.session import Session
from dlbrt.mpi.team import SingleRank
from dlbrt.mpi.values.kernels import pack_kernel, signature
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.packing import unpack

SOURCE = """
def helper(x):
    return x * SCALE
def kernel(dlb, a, by=2):
    return [helper(value) * math.pi for value in a]
"""


def program(**names: Any) -> dict[str, Any]:
    scope: dict[str, Any] = {"__name__": "__main__", "math": math, "SCALE": 2.0} | names
    exec(SOURCE, scope)
    return scope


def test_the_signature_stays_while_nothing_changes() -> None:
    scope = program()
    first = signature(scope["kernel"])
    assert first is not None
    assert signature(scope["kernel"]) == first


@pytest.mark.parametrize(
    "change",
    [
        lambda scope: scope.update(SCALE=3.0),
        lambda scope: scope.update(SCALE=2),
        lambda scope: scope.update(helper=lambda x: x),
        lambda scope: scope.update(math=np),
        lambda scope: scope["kernel"].__defaults__ and setattr(scope["kernel"], "__defaults__", (3,)),
        lambda scope: setattr(scope["helper"], "__code__", (lambda x: 1).__code__),
    ],
)
def test_the_signature_tells_a_change_of_what_it_reaches(change: Callable[[dict[str, Any]], Any]) -> None:
    scope = program()
    before = signature(scope["kernel"])
    change(scope)
    after = signature(scope["kernel"])
    assert after is None or after != before


def test_a_kernel_arrives_with_the_name_of_its_file() -> None:
    scope: dict[str, Any] = {"__name__": "__main__"}
    exec(compile("def kernel(dlb):\n    return [1 for _ in dlb]", "/of/the/program.py", "exec"), scope)
    found = signature(scope["kernel"])
    assert found is not None
    kernel: Any = unpack(pack_kernel(scope["kernel"], found).data, (), KnownObjects())[0]
    assert kernel.__code__.co_filename == "/of/the/program.py"
    [inner] = [each for each in kernel.__code__.co_consts if isinstance(each, CodeType)]
    assert inner.co_filename == "/of/the/program.py"


@pytest.mark.parametrize(("before", "after"), [(0.0, -0.0), (1, True), (1, 1.0)])
def test_an_equal_constant_is_not_the_same(before: object, after: object) -> None:
    scope = program(SCALE=before)
    first = signature(scope["kernel"])
    assert first is not None
    scope["SCALE"] = after
    assert signature(scope["kernel"]) != first


@pytest.mark.parametrize("value", [[1], {"a": 1}, np.zeros(2), object(), {1}])
def test_a_kernel_that_reaches_what_can_change_unseen_has_none(value: Any) -> None:
    assert signature(program(SCALE=value)["kernel"]) is None


def test_a_closure_has_none() -> None:
    captured = 3

    def kernel(dlb: Any) -> int:
        return captured

    assert signature(kernel) is None


@pytest.mark.parametrize(
    ("kind", "name", "old"),
    [(Session, "dlb", "attempt"), (IterativeRoutine, "routine", "attempt"), (LoopContext, "dlb", "partial")],
)
def test_a_program_of_another_version_is_told_so(kind: type, name: str, old: str) -> None:
    with pytest.raises(AttributeError, match=f"{name}.{old}: another version of dlbc .*transform"):
        getattr(kind.__new__(kind), old)


def test_kinds_of_another_version_are_told_so() -> None:
    loop = LoopContext(space_of(range(3)), lambda _: SingleRank(Spans(())), lambda _: None, Load.none())
    with pytest.raises(TypeError, match=r"dlb\.reductions: another version of dlbc"):
        loop.reductions(total="+")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("holds", "unmet"), [(lambda: 1, None), (lambda: 0, "n > m"), (lambda: 1 // 0, "n > m")]
)
def test_a_condition_that_is_false_or_fails_is_not_met(holds: Callable[[], int], unmet: str | None) -> None:
    dlb = LoopContext(space_of(range(3)), lambda _: SingleRank(Spans(())), lambda _: None, Load.none())
    dlb.require(holds, "n > m")
    assert dlb.unmet == unmet
