"""The dependence test against enumeration: what it takes is independent, whatever it refuses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dlbc.passes.planning import results_of

SHIFT = 40  # keeps every subscript at 0 or above, so that none wraps

subscripts = st.tuples(st.integers(-3, 3), st.integers(-6, 6))
statements = st.tuples(st.sampled_from("PQ"), subscripts, st.sampled_from("PQ"), subscripts)
ranges = st.tuples(st.integers(0, 4), st.integers(0, 11), st.sampled_from([-3, -2, -1, 1, 2, 3]))


def text_of(subscript: tuple[int, int]) -> str:
    return f"{subscript[0]} * i + {subscript[1] + SHIFT}"


def touched(
    array: str, one: tuple[str, tuple[int, int], str, tuple[int, int]], i: int
) -> tuple[set[int], set[int]]:
    target, (a, b), origin, (c, d) = one
    writes = {a * i + b + SHIFT} if target == array else set()
    return writes, writes | ({c * i + d + SHIFT} if origin == array else set())


def independent(program: list[tuple[str, tuple[int, int], str, tuple[int, int]]], space: range) -> bool:
    for array in "PQ":
        per = [[touched(array, s, i) for s in program] for i in space]
        for one in range(len(per)):
            for other in range(len(per)):
                if one != other and any(w & t for w, _ in per[one] for _, t in per[other]):
                    return False
    return True


@settings(max_examples=400, deadline=None)
@given(st.lists(statements, min_size=1, max_size=3), ranges)
def test_taken_loops_are_independent(
    program: list[tuple[str, tuple[int, int], str, tuple[int, int]]], bounds: tuple[int, int, int]
) -> None:
    lines = [f"    {t}[{text_of(w)}] = {o}[{text_of(r)}]" for t, w, o, r in program]
    text = "\n".join(["# dlb: parallel", f"for i in range{bounds}:", *lines]) + "\n"
    [(plan, findings)] = results_of(text)
    really = independent(program, range(*bounds))
    if plan is not None:
        assert really
    if any("(proved)" in f.message for f in findings):
        assert not really


def test_the_oracle_knows_a_dependence() -> None:
    assert not independent([("P", (1, 0), "P", (1, -1))], range(3))
    assert independent([("P", (2, 0), "P", (2, 1))], range(3))


def test_a_proved_dependence_names_the_last_element_as_the_program_does() -> None:
    [(_, [finding])] = results_of(
        "def f(a, n):\n    # dlb: parallel\n    for i in range(n):\n        a[-1] = i\n"
    )
    assert "both store to a[-1]" in finding.message
