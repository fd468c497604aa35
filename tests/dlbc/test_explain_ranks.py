"""`dlbc explain -n P`: what the distributions of a loop will cost, where its iterations are known."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from dlbrt.contract import OptionError

from dlbc.algebra.integer_form import Comparison, IntegerForm, Variable, VariableKind
from dlbc.cli import main
from dlbc.commands.explain.loop_numbers import NumberError, known_values
from dlbc.commands.explain.ranks import RankSpec, read_ranks
from dlbc.commands.explain.show import as_object, as_text
from dlbc.pipeline import explain
from dlbc.source import Source

N, M = Variable(VariableKind.PARAMETER, "n"), Variable(VariableKind.PARAMETER, "m")
TRIANGLE = "for j in range(i, 1000): A[i] = j"
QUADRATIC = "for j in range(i):\n        for k in range(j): A[i] = k"
CUBIC = "for j in range(i):\n        for k in range(j):\n            for l in range(k): A[i] = l"


def told(
    body: str,
    ranks: RankSpec,
    head: str = "i in range(1000)",
    clauses: str = "",
    before: str = "A = [0] * 1000",
) -> dict[str, Any]:
    text = f"{before}\n# dlb: parallel{', ' * bool(clauses)}{clauses}\nfor {head}:\n    {body}\n"
    source = Source("case.py", text.encode(), text)
    result = explain(source)
    [loop] = json.loads(json.dumps(as_object(source, result, ranks=ranks)))["loops"]
    assert as_text(source, result, ranks=ranks)
    found: dict[str, Any] = loop["on_ranks"]
    return found


def largest(found: dict[str, Any]) -> dict[str, float]:
    return {e["distribution"]: e["largest_over_ideal"] for e in found["estimates"]}


def test_folded_and_cut_loops_at_16_ranks() -> None:
    linear = largest(told(TRIANGLE, RankSpec(16)))
    assert linear["pairs"] <= 1.025
    assert linear["equal parts"] == pytest.approx(2 - 1 / 16, rel=0.01)  # Ciegis, section 3.1
    assert largest(told(QUADRATIC, RankSpec(16)))["parts of equal work"] <= 1.04
    assert largest(told(CUBIC, RankSpec(16)))["parts of equal work"] <= 1.07


def test_equal_tasks_and_remark_1() -> None:
    found = told("A[i] = 2", RankSpec(16), head="i in range(17)")
    assert found["iterations"] == 17
    assert found["fewest_ranks"] == 9
    assert largest(found)["equal parts"] == pytest.approx(16 * 2 / 17)
    assert "parts of equal work" not in largest(found)


def test_weights() -> None:
    found = told("A[i] = 2", RankSpec(3, (1.0, 2.0, 5.0)), head="i in range(800)")
    assert found["weights"] == [1.0, 2.0, 5.0]
    assert found["fewest_ranks"] is None
    times = largest(found)
    assert times["parts by weight"] == pytest.approx(1)
    assert times["equal parts"] == pytest.approx(800 / 3 * 8 / 800, rel=0.01)
    assert times["in turn"] < 1.02


@pytest.mark.parametrize(
    ("head", "before", "iterations"),
    [
        ("i in range(n)", "n = 40\nA = [0] * n", 40),
        ("i in range(m, n, 3)", "n = 40\nm = n // 2\nA = [0] * n", 7),
        ("i in range(m, n, 3)", "m = 4\nn = 10 * m\nA = [0] * n", 12),
        ("i in reversed(range(n - 1, -1, -1))", "n = 7\nA = [0] * n", 7),
        ("i in range(3, 3)", "A = [0]", 0),
        ("i in range(10**12)", "A = [0]", 10**12),
        ("i in range(n // 10**3)", "n = 10**6\nA = [0] * n", 1000),
        ("i in range(len(A))", "A = [0]", 1),
        ("i in range(len(A))", "A = list(open(0))", None),
        ("i in range(2.5)", "A = [0]", None),
        ("i, x in enumerate([1, 2])", "A = [0] * 2", 2),
        ("x in [1, 2]", "A = [0] * 2\ni = 0", 2),
    ],
)
def test_how_many_iterations_there_are(head: str, before: str, iterations: int | None) -> None:
    found = told("print(A)", RankSpec(4), head=head, before=before)
    assert found["iterations"] == iterations
    assert bool(found["why"]) == (not iterations)
    assert bool(found["estimates"]) == bool(iterations)


NOT_KNOWN = "the cost of an iteration is not known before the program runs"
MORE = "the cost of an iteration depends on more than the index and known numbers; --set n=NUMBER gives it"
GIVEN = "the given cost is evaluated when the program runs"
UNUSABLE = "; iterations are assumed to cost the same until measured"


@pytest.mark.parametrize(
    ("body", "clauses", "why"),
    [
        ("while A[i] > 1: A[i] /= 2", "", NOT_KNOWN),
        ("for j in range(n - i): A[i] = 2", "", MORE),
        ("A[i] = 2", "cost(cumulative=i**2)", GIVEN),
        ("A[i] = 2", "cost(w[i])", GIVEN),
        ("A[i] = 2", "cost(n - i)", GIVEN),
        ("A[i] = 2", "cost(i - 5)", f"cost is negative at i = 0: -5{UNUSABLE}"),
        (
            "A[i] = 2",
            "cost(100 // i)",
            f"cost raises ZeroDivisionError at i = 0: integer division or modulo by zero{UNUSABLE}",
        ),
        ("A[i] = 2", "cost(1000 - i)", ""),
    ],
)
def test_work_that_is_not_known(body: str, clauses: str, why: str) -> None:
    assert (
        told(body, RankSpec(4), clauses=clauses, before="w = list(open(0))\nn = len(w)\nA = [0]")["why"]
        == why
    )


def test_long_loops_have_an_answer() -> None:
    assert largest(told("A[i] = 2", RankSpec(3), head="i in range(1000000000000)"))[
        "equal parts"
    ] == pytest.approx(1)
    found = told(TRIANGLE.replace("1000", "1000000000000"), RankSpec(3), head="i in range(1000000000000)")
    assert "more than" in found["why"]


def test_so_many_ranks_are_told_of_by_formula() -> None:
    found = told("A[i] = 2", RankSpec(1_000_000), head="i in range(1500000)")
    assert largest(found) == {"equal parts": pytest.approx(4 / 3)}
    assert found["fewest_ranks"] == 750_000
    assert "not dealt" in told(TRIANGLE, RankSpec(1_000_000))["why"]
    assert "not dealt" in told("A[i] = 2", RankSpec(5000, (1.0,) * 5000))["why"]
    assert "at most 2**53 iterations" in told("A[i] = 2", RankSpec(2), head=f"i in range({10**30})")["why"]


def test_an_index_that_is_called_as_numpy_is() -> None:
    found = told(TRIANGLE.replace("i", "np").replace("npn", "in"), RankSpec(16), head="np in range(1000)")
    assert largest(found)["pairs"] <= 1.025


def test_values_follow_from_one_another() -> None:
    n, m = IntegerForm.of(N), IntegerForm.of(M)
    facts = (
        Comparison.equal(m, n + n),
        Comparison.equal(n, IntegerForm.literal(5)),
        Comparison.at_least(m, n),
    )
    assert known_values(facts) == {N: 5, M: 10}
    assert known_values((Comparison.equal(n + n, IntegerForm.literal(5)),)) == {}


def test_numbers_that_are_given() -> None:
    function = "def f(A, n):\n    m = n - 1\n"
    loop = "    # dlb: parallel\n    for i in range({}):\n        for j in range({}): A[i] = j\n"

    def of(numbers: dict[str, float], stop: str = "m", inner: str = "i") -> dict[str, Any]:
        text = function + loop.format(stop, inner)
        source = Source("case.py", text.encode(), text)
        [found] = as_object(source, explain(source), ranks=RankSpec(16, numbers=numbers))["loops"]
        on_ranks: dict[str, Any] = found["on_ranks"]
        return on_ranks

    given = of({"n": 1001})
    literal = told(TRIANGLE.replace("range(i, 1000)", "range(i)"), RankSpec(16))
    assert largest(given) == pytest.approx(largest(literal))
    assert (
        of({})["why"]
        == "the number of iterations is not known before the program runs; --set m=NUMBER gives it"
    )
    assert (
        of({}, inner="len(str(i))")["why"] == "the cost of an iteration is not known before the program runs"
    )
    assert of({"len(A)": 32}, stop="len(A)", inner="3")["iterations"] == 32
    assert "--set k=NUMBER" in of({"n": 1001}, inner="k - i")["why"]
    assert largest(of({"n": 1001, "k": 1000}, inner="k - i"))["parts of equal work"] <= 1.025
    with pytest.raises(NumberError, match=r"expected a whole number, found m = 10\.5"):
        of({"m": 10.5})


LOOP = "the loop runs over range(n)"


LOOP = "the loop runs over range(n)"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-n 4 --set nn=3", "--set: expected names of the program; found nn=3; did you mean n?"),
        ("-n 4 --set n", "--set: expected NAME=NUMBER, such as n=1000 or 'len(A)=1000'; found 'n'"),
        ("-n 4 --set n=3 --set n=4", "--set: expected each name once; found n=3 and 'n=4'"),
        ("--set n=3", "--set: expected it with a number of ranks, as in -n 4; found none"),
        ("-n 4 --set n=2.5", f"{LOOP}: expected a whole number, found n = 2.5; give another number by --set"),
    ],
)
def test_numbers_that_cannot_be_used(
    words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prog.py"
    path.write_text("def f(A, n):\n    # dlb: parallel\n    for i in range(n):\n        A[i] = 2\n")
    assert main(["explain", str(path), *words.split()]) == 2
    assert capsys.readouterr() == ("", f"dlbc: {message}\n")


def cells(words: str, inner: str = "range(m)", clauses: str = "nofold") -> dict[str, Any]:
    text = f"def f(A, n, m):\n    # dlb: parallel, {clauses}\n    for i in range(n):\n"
    text += f"        for j in {inner}:\n            for k in range(i + j): A[i, j] += k\n"
    source, given = Source("case.py", text.encode(), text), read_ranks(4, None, words.split())
    [loop] = as_object(source, explain(source), ranks=given)["loops"]
    found: dict[str, Any] = loop["on_ranks"]
    return found


def test_a_nest_over_cells_is_better_cut_within_rows() -> None:
    """Swartz, section 5: the work x + y on 20 x 20; cut at whole rows, even best, a tenth is lost."""
    found = cells("n=20 m=20")
    assert largest(found)["parts of equal work"] > 1.09
    assert found["within_rows"] > 0.99
    assert cells("n=20000 m=20")["within_rows"] is None  # whole rows lose next to nothing
    assert cells("n=20 m=20", inner="range(i, m)")["within_rows"] is None  # rows of several lengths
    assert cells("n=20")["within_rows"] is None


def test_ranks_of_the_command_line() -> None:
    assert read_ranks(None, None) is None
    assert read_ranks(3, None) == RankSpec(3)
    assert read_ranks(None, "1,2.5") == RankSpec(2, (1.0, 2.5))
    assert read_ranks(None, "1*7,3*4") == RankSpec(11, (1.0,) * 7 + (3.0,) * 4)
    for count, weights in ((3, "1,2"), (None, "1,x"), (None, "0,0"), (None, "last"), (2, "")):
        with pytest.raises(OptionError):
            read_ranks(count, weights)
    with pytest.raises(OptionError, match="found `last`, which is for `dlbc run`"):
        read_ranks(2, " last")


def test_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prog.py"
    path.write_text(
        f"A = [0] * 1000\n# dlb: parallel\nfor i in range(1000):\n    {TRIANGLE}\n"
        "def f(n):\n    # dlb: parallel\n    for i in range(n):\n        A[i] = 2\n"
    )
    assert main(["explain", "-n", "16", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "  on 16 ranks\n    equal parts          efficiency 51." in shown
    assert "by W at 30 ns an operation (an order of magnitude); it is shortest on about" in shown
    assert "efficiency n/(16*ceil(n/16)) for n iterations, at least 53.1% for more than 16" in shown
    path.write_text("A = [0]\n# dlb: parallel\nfor i in range(2, 2):\n    A[i] = 2\n")
    assert main(["explain", "-n", "16", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "there are no iterations" in shown
    assert "ceil" not in shown
    assert main(["explain", "--ranks", "2", "--weights", "1,2,3", str(path)]) == 2
    assert "one per rank" in capsys.readouterr().err
    assert main(["explain", str(path)]) == 0
    assert "on 16 ranks" not in capsys.readouterr().out


def test_without_ranks_nothing_of_the_runtime_is_loaded() -> None:
    text = (
        "import sys\nfrom dlbc.commands.explain.show import as_text\nfrom dlbc.pipeline import explain\n"
        "from dlbc.source import Source\n"
        "s = Source('p', b'', '# dlb: parallel\\nfor i in range(9): print(i)\\n')\n"
        "rooms = 'dlbrt.balance', 'dlbrt.partition', 'dlbrt.data'\n"
        "print(as_text(s, explain(s)), [m for m in sys.modules if m.startswith(rooms)])\n"
    )
    command = [sys.executable, "-c", text]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.endswith("[]\n"), done.stderr
