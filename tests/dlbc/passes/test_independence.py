"""The dependence test against enumeration: what it takes is independent, whatever it refuses."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.dlbc.passes.planning import codes_of, plan_of, results_of, table

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


CHOICES = ("c", "c + 1", "2 - c", "0", "d", "c * d", "d % 2")
VALUES = (-2, -1, 0, 1, 2, 3)
COUNTED = 10


@st.composite
def conditions(draw: st.DrawFn) -> str:
    left = draw(st.sampled_from(["i % 2", "(i + c) % 2", "i % 3", "i", "i % 4", "(i + 1) // 2"]))
    relation = draw(st.sampled_from(["==", "==", "==", "!=", "<", ">="]))
    one = f"{left} {relation} {draw(st.sampled_from(CHOICES))}"
    match draw(st.integers(0, 5)):
        case 0:
            return f"not ({one})"
        case 1:
            return f"{one} and i < d"
        case 2:
            return f"({one} or i > 7)"
        case 3:
            return f"{one} and b[i] > 0"
    return one


conditional = st.tuples(
    conditions(), st.booleans(), st.integers(-2, 2), st.lists(st.integers(-2, 2), max_size=2)
)


@settings(max_examples=400, deadline=None)
@given(conditional)
def test_conditions_on_names_that_may_hold_anything(program: tuple[str, bool, int, list[int]]) -> None:
    test, skips, store, reads = program
    read = " + ".join(["1", *(f"a[i + {SHIFT + r}]" for r in reads)])
    head = f"        if {'not ' if skips else ''}({test}):\n"
    body = f"            a[i + {SHIFT + store}] = {read}\n"
    if skips:
        body = f"            continue\n{body[4:]}"
    text = f"def f(a, b, c, d):\n    # dlb: parallel\n    for i in range({COUNTED}):\n{head}{body}"
    [(plan, findings)] = results_of(text)
    assert not any("(proved)" in f.message for f in findings) or not _always_apart(program)
    if plan is None:
        return
    for guard in plan.guards:
        assert not eval(guard, {"c": 0.5, "d": 0.5})
    assert all(_apart(program, c, d) for c in VALUES for d in VALUES if _holds(plan.guards, c, d)), text


def _holds(guards: tuple[str, ...], c: int, d: int) -> bool:
    return all(eval(guard, {"c": c, "d": d}) for guard in guards)


def _always_apart(program: tuple[str, bool, int, list[int]]) -> bool:
    return all(_apart(program, c, d) for c in VALUES for d in VALUES)


def _apart(program: tuple[str, bool, int, list[int]], c: int, d: int) -> bool:
    """Whether no iteration touches what another stores to, whatever ``b`` holds."""
    test, _, store, reads = program
    code = compile(test, "test", "eval")
    done = [i for i in range(COUNTED) if eval(code, {"i": i, "c": c, "d": d, "b": [1] * COUNTED})]
    return not any(
        i != other and i + store in {other + store, *(other + r for r in reads)}
        for i in done
        for other in done
    )


def test_the_oracle_knows_which_conditions_keep_iterations_apart() -> None:
    assert _apart(("i % 2 == c", False, 0, [-1, 1]), 1, 0)
    assert not _apart(("i % 2 == c", False, 0, [-2]), 1, 0)


def test_colours_of_a_grid_are_apart_where_the_colour_is_an_integer() -> None:
    text = (
        "def f(u, n, m, colour):\n"
        "    # dlb: parallel\n"
        "    for i in range(1, n - 1):\n"
        "        for j in range(1, m - 1):\n"
        "            if (i + j) % 2 == colour and u[i, j] < 4:\n"
        "                u[i, j] = u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]\n"
    )
    plan = plan_of(text)
    assert plan.guards == ("type(colour) in (int, bool)",)
    assert codes_of("type = len\n" + text) == ["DLB302"]
    assert plan_of(text.replace("# dlb: parallel", "# dlb: parallel, assume_independent")).guards == ()


def test_rows_move_whether_or_not_the_conditions_of_an_iteration_hold() -> None:
    text = (
        "def f(u, n):\n"
        "    # dlb: parallel\n"
        "    for i in range(1, n - 1):\n"
        "        if i % 2 == 1:\n"
        "            u[i] = u[i - 1] + u[i + 1]\n"
    )
    assert table(plan_of(text)) == ["u WHOLE 0 rw"]
