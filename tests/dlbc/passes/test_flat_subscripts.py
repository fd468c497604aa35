"""Flat subscripts against enumeration: what is proved is independent for all values of the names."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dlbc.ir.loop import IndependenceProof, ProofMethod
from tests.dlbc.passes.planning import plan_of, results_of

NAMES = ("W", "H", "s")
VALUES = (-1, 0, 1, 2, 3, 4)
#: Values that hold for the names in every combination, and a few larger ones.
SETTINGS = [*itertools.product(VALUES, repeat=3), (5, 7, 6), (7, 5, 8), (8, 8, 16)]

bounds = st.sampled_from(["W", "H", "s", "W - 1", "W + 1", "H * W", "3", "s // 2", "1, W - 1", "0, H, 2"])
inner_bounds = st.one_of(bounds, st.sampled_from(["i", "i * W, (i + 1) * W", "i, H, W", "s * i, s * i + W"]))
strides = st.sampled_from(["W", "H", "s", "(W + 2)", "2 * s", "(W - 1)", "3", "H * W"])
parts = st.sampled_from(
    ["i", "j", "(H - 1 - i)", "(i + 1)", "(i * H + j)", "2 * i", "(W - 1 - j)", "j + 1", "0"]
)
quotients = st.tuples(st.sampled_from(["i", "(i + j)", "(i * s + j)"]), st.sampled_from(["//", "%"]), strides)
single = st.one_of(
    st.tuples(parts, strides, parts).map(lambda t: f"{t[0]} * {t[1]} + {t[2]}"),
    st.tuples(parts, strides, parts, st.integers(-2, 2)).map(lambda t: f"{t[0]} * {t[1]} + {t[2]} + {t[3]}"),
    quotients.map(" ".join),
    st.tuples(quotients, strides, quotients).map(lambda t: f"({' '.join(t[0])}) * {t[1]} + {' '.join(t[2])}"),
    st.tuples(parts, strides, parts, strides).map(lambda t: f"({t[0]} * {t[1]} + {t[2]}) * {t[3]} + j"),
    st.tuples(parts, st.sampled_from(["<< 1", "<< 1 | 1", ">> 1", "& 1", "^ 1", "& 3"])).map(" ".join),
    parts,
)
subscripts = st.one_of(single, st.tuples(single, single).map(", ".join))
#: Stores that look like those of programs, so that many are independent.
likely = st.sampled_from([
    ("i * W + j", "W"), ("j * W + i", "H"), ("i * s + j", "W"), ("i * (W + 2) + j + 1", "W"),
    ("i // W, i % W", "1"), ("(i % W) * H + i // W", "1"), ("(i * H + j) * W + 1", "H"), ("i, j * W", "s"),
    ("i * W + W - 1 - j", "W"), ("j", "i * W, (i + 1) * W"), ("2 * i * s + j", "s"), ("j", "i, H, W"),
])  # fmt: skip


#: The bounds of the loop and of its inner loop, the subscripts of a store, and those of a read.
Program = tuple[str, str, str, str]


@st.composite
def programs(draw: st.DrawFn) -> Program:
    """Programs, half of them likely to be independent."""
    outer = draw(bounds)
    if draw(st.booleans()):
        store, inner = draw(likely)
    else:
        store, inner = draw(subscripts), draw(inner_bounds)
    axes = store.count(",") + 1
    read = draw(
        st.one_of(st.just(store), st.just(store), subscripts.filter(lambda t: t.count(",") + 1 == axes))
    )
    return outer, inner, store, read


def text_of(outer: str, inner: str, store: str, read: str) -> str:
    head = f"def f(a, {', '.join(NAMES)}):\n    # dlb: parallel\n"
    loops = f"    for i in range({outer}):\n        for j in range({inner}):\n"
    return f"{head}{loops}            a[{store}] = a[{read}] + 1\n"


Elements = set[tuple[int, ...]]


def touched(program: Program, values: tuple[int, ...]) -> list[tuple[Elements, Elements]] | None:
    """What each iteration stores to and touches; None if Python raises."""
    code = [compile(f"({part},)", "part", "eval") for part in program]
    names = dict(zip(NAMES, values, strict=True))
    found = []
    try:
        for i in range(*eval(code[0], names)):
            stores: Elements = set()
            reads: Elements = set()
            for j in range(*eval(code[1], names | {"i": i})):
                here = names | {"i": i, "j": j}
                stores.add(eval(code[2], here))
                reads.add(eval(code[3], here))
            found.append((stores, stores | reads))
    except (ValueError, ZeroDivisionError):
        return None
    return found


def apart(iterations: list[tuple[Elements, Elements]]) -> bool:
    return not any(
        one[0] & other[1] for one, other in itertools.permutations(iterations, 2) if one is not other
    )


def wrapped(iterations: list[tuple[Elements, Elements]]) -> Iterator[list[tuple[Elements, Elements]]]:
    """What is touched in arrays of the least lengths and of slightly larger ones; negative places wrap."""
    flat = [e for _, all_of_one in iterations for e in all_of_one]
    if not flat:
        return
    least = [max(max(e[k] + 1, -e[k]) for e in flat) for k in range(len(flat[0]))]
    for more in (0, 1, 2):

        def place(element: tuple[int, ...], more: int = more) -> tuple[int, ...]:
            return tuple(x % (length + more) for x, length in zip(element, least, strict=True))

        yield [({place(e) for e in s}, {place(e) for e in t}) for s, t in iterations]


def holds(proof: IndependenceProof, values: tuple[int, ...]) -> bool:
    return all(eval(guard, dict(zip(NAMES, values, strict=True))) for guard in proof.guards)


def check(program: Program, proof: IndependenceProof, settings: Iterable[tuple[int, ...]]) -> None:
    """Compare a proof with enumeration."""
    for values in settings:
        iterations = touched(program, values)
        if iterations is not None and holds(proof, values):
            assert apart(iterations), (program, values, proof)
            if proof.axis is None:
                assert all(map(apart, wrapped(iterations))), (program, values, proof)


@pytest.fixture(autouse=True)
def without_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dlbc.algebra.smt_solver.available", lambda: False)


@settings(max_examples=300, deadline=None)
@given(programs())
def test_what_is_proved_is_independent(program: Program) -> None:
    [(plan, _)] = results_of(text_of(*program))
    for proof in plan.proofs if plan is not None else ():
        if proof.method is not ProofMethod.INSPECTOR:
            check(program, proof, SETTINGS)


@settings(max_examples=200, deadline=None)
@given(programs(), st.sampled_from(SETTINGS))
def test_names_of_the_module_are_their_numbers(program: Program, values: tuple[int, ...]) -> None:
    lines = text_of(*program).splitlines()[1:]
    head = ["import numpy as np", f"{', '.join(NAMES)} = {values}", "a = np.zeros((99, 99))"]
    [(plan, findings)] = results_of("\n".join([*head, *(line[4:] for line in lines), ""]))
    for proof in plan.proofs if plan is not None else ():
        if proof.method is not ProofMethod.INSPECTOR:
            check(program, proof, [values])
    iterations = touched(program, values)
    if iterations is not None and any("(proved)" in f.message for f in findings):
        assert not apart(iterations)


def proof_of(text: str) -> IndependenceProof:
    [proof] = plan_of(text).proofs
    return proof


@pytest.mark.parametrize(
    ("bounds", "store", "expected"),
    [
        (("H", "W"), "y * W + x", (0, "")),
        (("H", "w"), "y * W + x", (0, "W >= w")),
        (("H", "W"), "y * (W + 2) + x + 1", (0, "")),
        (("H", "W"), "(H - 1 - y) * W + W - 1 - x", (0, "")),
        (("W", "H"), "x * W + y", (None, "")),
        (("H * W", "1"), "y // W, y % W", (None, "H >= 0")),
        (("H * W", "1"), "(y % W) * H + y // W", (0, "H >= 0")),
        (("n", "y * W, (y + 1) * W"), "x", (0, "")),
        (("W", "y, n, W"), "x", (None, "")),
        (("0, n, 2 * W", "W"), "y + x + W", (0, "")),
        (("P", "y * n // P, (y + 1) * n // P"), "x", (0, "")),
    ],
)  # fmt: skip
def test_proofs_without_a_solver(
    bounds: tuple[str, str], store: str, expected: tuple[int | None, str]
) -> None:
    loops = f"    for y in range({bounds[0]}):\n        for x in range({bounds[1]}):\n"
    text = f"def f(a, n, H, W, w, P):\n    # dlb: parallel\n{loops}            a[{store}] = 2 * a[{store}]\n"
    proof = proof_of(text)
    assert (proof.axis, " and ".join(proof.guards)) == expected


def test_a_number_of_the_module_is_looked_at_where_a_function_reads_it() -> None:
    body = "for k in range(W * H):\n    a[(k % W) * H + k // W] = 2 * a[(k % W) * H + k // W]\n"
    head = "import numpy as np\nW = 2 ** 4\nH = 3\na = np.zeros(48)\n"
    assert proof_of(f"{head}# dlb: parallel\n{body}").guards == ()
    inner = "def f():\n    # dlb: parallel\n" + "".join(f"    {line}\n" for line in body.splitlines())
    proof = proof_of(head + inner)
    assert (proof.guards, dict(proof.numbers)) == (("H == 3", "W == 16"), {"W": 16, "H": 3})


@pytest.mark.parametrize(
    "other",
    ["W = 5", "for W in range(3): pass", "def f():\n    global W", "W += 1", "del W"],
)
def test_a_name_bound_again_is_no_number(other: str) -> None:
    loops = "for y in range(99):\n    for x in range(4):\n        a[y * W + x] = 2 * a[y * W + x]\n"
    head = f"import numpy as np\nW = 4\n{other}\na = np.zeros(999)\n# dlb: parallel\n"
    proof = proof_of(head + loops)
    assert (proof.numbers, proof.guards) == ((), ("W >= 4",))


def test_the_help_names_the_solver_where_it_might_decide() -> None:
    head = "def f(a, n, m):\n    # dlb: parallel\n    for i in range(n):\n"
    [(_, [finding])] = results_of(f"{head}        a[i * i * m] = a[i * m] + a[i]\n")
    assert "pip install 'dlbc[solver]'" in finding.help
