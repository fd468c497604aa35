"""Expressions of a file are evaluated as Python does, within limits, and nothing of the file ever runs."""

from __future__ import annotations

import ast
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dlbc.cli import main
from dlbc.cost.evaluate import evaluate, function_of
from dlbc.cost.evaluate_expressions import Names
from dlbc.cost.functions import BUILTINS
from dlbc.cost.limits import MAX_BITS, Budget, EvaluationError, TooLargeError

ROOT = Path(__file__).resolve().parents[2]
MODULES = {"math": "math", "np": "numpy"}


def functions(text: str) -> dict[str, ast.FunctionDef]:
    return {each.name: each for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}


def value(text: str, program: str = "", steps: int = 3_000_000, **values: Any) -> Any:
    names = Names(values, MODULES, {"log": ("math", "log")}, functions(program))
    return evaluate(ast.parse(text, mode="eval").body, names, Budget(steps))


AS_IN_PYTHON = [
    "1 + 2 * 3 - 4 / 5",
    "-7 // 2, -7 % 3, divmod(7, -3), 2 ** 10, 2 ** -1, 7 & 3 | 8 ^ 1, ~5, 1 << 70 >> 3",
    "1 < 2 < 3, 1 < 3 < 2, 1 == 1.0, 3 != 3, 2 in (1, 2), 2 not in [1, 2], 1 in {1: 2}",
    "0 or 5, 0 and 5, 3 and 4, not 3, 1 if 0 else 2",
    "min(3, 1, 2), max([3, 1]), sum([1, 2.5]), sum(range(5), 3), abs(-3), len((1, 2)), round(2.567, 2)",
    "sorted([3, 1, 2])[0], list(zip([1, 2], [3, 4]))[1], tuple(reversed([1, 2]))",
    "[x * y for x in range(4) if x % 2 for y in (1, 2)], sum(x for x in range(9))",
    "math.sqrt(2), math.isqrt(17), math.factorial(20), math.comb(20, 3), math.perm(5, 2), math.lcm(4, 6)",
    "math.pi, math.inf, log(3), math.prod([2, 3]), math.fsum([0.1, 0.2]), math.hypot(3, 4)",
    "pow(3, 100, 7), pow(2, 5), int(3.9), float(3), bool(0), {1: 2, 3: 4}[3], (1, 2, 3)[-1]",
    "any([0, 1]), all([0, 1]), range(3, 9)[2], len(range(10)), list(enumerate([5, 6], 1))[1]",
]


@pytest.mark.parametrize("text", AS_IN_PYTHON)
def test_values_are_those_of_python(text: str) -> None:
    parts = ast.parse(f"({text},)", mode="eval").body
    assert isinstance(parts, ast.Tuple)
    for part in parts.elts:
        shown = ast.unparse(part)
        expected = eval(shown, {"math": math, "log": math.log})
        found = value(shown)
        assert (found, type(found)) == (expected, type(expected)), shown


NUMBERS = st.integers(-9, 9) | st.floats(-9, 9, allow_nan=False) | st.booleans()


def expressions(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    operators = st.sampled_from(["+", "-", "*", "/", "//", "%", "<", "==", "and", "or", "&", "|"])
    pairs = st.tuples(inner, operators, inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})")
    choices = st.tuples(inner, inner, inner).map(lambda p: f"({p[0]} if {p[1]} else {p[2]})")
    ones = st.tuples(st.sampled_from(["abs", "round", "int", "float"]), inner).map(
        lambda p: f"{p[0]}({p[1]})"
    )
    twos = st.tuples(st.sampled_from(["min", "max"]), inner, inner).map(lambda p: f"{p[0]}({p[1]}, {p[2]})")
    return pairs | choices | ones | twos


@given(st.recursive(NUMBERS.map(lambda n: f"({n!r})") | st.just("i"), expressions, max_leaves=12), NUMBERS)
def test_random_arithmetic_is_that_of_python(text: str, i: float) -> None:
    try:
        expected = eval(text, {"i": i})
    except Exception as error:
        with pytest.raises(type(error)):
            value(text, i=i)
        return
    assert repr(value(text, i=i)) == repr(expected)


def test_vectors_give_what_their_elements_give() -> None:
    text = "np.where(i > 3, i ** 2 + 1, np.minimum(i, 2)) + np.floor(i / 2)"
    found = function_of(("i",), ast.parse(text, mode="eval").body, Names(modules=MODULES))
    vector = np.arange(9.0)
    assert found(vector).tolist() == [float(found(x)) for x in vector]
    assert found.parameter == "i"


PROGRAM = """
def steps(n, most=100):
    count = 0
    while n != 1 and count < most:
        if n % 2:
            n = 3 * n + 1
        else:
            n //= 2
        count += 1
    return count

def squares(n):
    total, last = 0, 0
    for k in range(n):
        if k == 2:
            continue
        if k > 6:
            break
        total += k * k
        last = k
    return total + last

def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

def forever():
    while True:
        pass

def double():
    x = 3
    while x:
        x = x * x
    return x
"""


@pytest.mark.parametrize("text", ["steps(27)", "steps(27, 9)", "squares(5)", "squares(50)", "fib(12)"])
def test_functions_of_the_program_are_interpreted(text: str) -> None:
    names: dict[str, Any] = {}
    exec(PROGRAM, names)
    assert value(text, PROGRAM) == eval(text, names)


HOSTILE = [
    "9**9**9",
    "1 << 10**12",
    "(2**2000) * (2**2000)",
    "sum(range(10**12))",
    "max(range(10**12))",
    "0.5 in range(10**15)",
    "[x for x in range(10**9)]",
    "sum(a * b for a in range(10**4) for b in range(10**6))",
    "math.factorial(10**9)",
    "math.factorial(2000)",
    "math.comb(10**9, 10**8)",
    "math.perm(10**9, 10**8)",
    "math.lcm(2**2000, 2**2001 - 1)",
    "math.prod(range(1, 10**4))",
    "pow(9, 9**9)",
    "list(range(10**7))",
    "fib(60)",
    "forever()",
    "double()",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_what_would_take_for_ever_ends_with_an_error(text: str) -> None:
    with pytest.raises(TooLargeError, match="at most"):
        value(text, PROGRAM, steps=100_000)


REFUSED = [
    "__import__('os').system('exit 1')",
    "().__class__.__base__.__subclasses__()",
    "(lambda: 1)()",
    "print(1)",
    "open('x')",
    "eval('1')",
    "getattr(math, 'pi')",
    "math.__loader__",
    "math.nothing(1)",
    "np.load('x')",
    "np.arange(10**9)",
    "f'{1}'",
    "'a' * 10**9",
    "[0] * 10**9",
    "[[[1]]]",
    "(x := 1)",
    "max(*[1], 2)",
    "sorted([1], key=abs)",
    "[1, 2][0:1]",
    "unknown + 1",
    "round(5, -10**9)",
    "1 is 1",
    "None",
    "1 @ 2",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_more_than_arithmetic_is_refused_by_name(text: str) -> None:
    with pytest.raises(EvaluationError, match=r"^expected .*, found "):
        value(text)


def test_deep_nesting_and_recursion_end_with_an_error() -> None:
    node: ast.expr = ast.Constant(1)
    for _ in range(20_000):
        node = ast.UnaryOp(ast.USub(), node)
    with pytest.raises(EvaluationError, match="deeply nested"):
        evaluate(node, Names())
    with pytest.raises(EvaluationError, match="deep"):
        value("f(1)", "def f(n):\n    return f(n + 1)\n")


def test_names_of_the_program_hide_builtins() -> None:
    node = ast.parse("max(1, 2)", mode="eval").body
    assert evaluate(node, Names()) == 2
    with pytest.raises(EvaluationError, match="found `max`"):
        evaluate(node, Names(unknown=frozenset({"max"})))
    assert evaluate(node, Names(functions=functions("def max(a, b):\n    return a - b\n"))) == -1


def test_limits_hold_at_their_edge() -> None:
    assert value(f"2 ** {MAX_BITS - 1}") == 2 ** (MAX_BITS - 1)
    with pytest.raises(TooLargeError):
        value(f"2 ** {MAX_BITS}")
    assert {"open", "eval", "exec", "print", "getattr", "type", "input"}.isdisjoint(BUILTINS)


# No command but those that run programs executes anything of a file

#: What runs text, or loads what may run.
_RUNNERS = frozenset({"eval", "exec", "__import__", "run_path", "run_module"})
_MODULES = frozenset({"pickle", "cloudpickle", "marshal", "shelve", "runpy", "subprocess", "code", "ctypes"})
_STARTS = frozenset({"system", "popen", "execv", "spawnv", "fork"})

#: The modules of commands that run programs.
_MAY_RUN = {
    "commands/annotate/measure.py",
    "commands/annotate/profile.py",
    "commands/doctor/bounded.py",
    "commands/launchers.py",
    "commands/supervise.py",
    "commands/verify/execute.py",
    "commands/verify/observe.py",
    "commands/witness/execute.py",
    "notebook/cell_program.py",
    "notebook/magic.py",
}


def runners(path: Path) -> list[str]:
    """What a module has that runs text, or imports what does."""
    found: list[str] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in _RUNNERS:
                found.append(name)
            case ast.Import(names=names):
                found += [a.name for a in names if a.name.split(".")[0] in _MODULES]
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] in _MODULES:
                found.append(module)
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name in _STARTS:
                found.append(name)
    return found


def test_no_module_of_the_compiler_runs_text_but_those_of_commands_that_run_programs() -> None:
    package = ROOT / "dlbc"
    found = {path.relative_to(package).as_posix(): runners(path) for path in package.rglob("*.py")}
    assert len(found) > 150
    assert {name for name, places in found.items() if places} == _MAY_RUN


def test_the_parts_of_the_runtime_that_commands_use_run_no_text() -> None:
    rooms = ("partition", "predict", "balance", "chunks", "diffusion", "speed", "sim", "observe")
    package = ROOT / "runtime" / "dlbrt"
    paths = [path for room in rooms for path in (package / room).rglob("*.py")]
    assert len(paths) > 70
    assert [path for path in paths if runners(path)] == []


CLAUSES = [
    'cost(__import__("os").system("touch RAN") + i)',
    'cost(open("RAN", "w").write("x") + i)',
    "cost(hostile(i))",
    "cost(9**9**(9 + i) + i)",
    "cost(math.factorial(10**9) + i)",
    'cost(().__class__.__base__.__subclasses__()[9]("touch RAN") and i)',
    "cost(sum(9**9**9 for _ in range(10**9)) + i)",
    "cost(cumulative=i * 9**9**i)",
    "cost(fit=[(k, 9**9**k) for k in range(9)])",
]
COMMANDS = [
    ("check",),
    ("explain", "-n", "4"),
    ("simulate", "--ranks", "2", "--strategy", "none"),
    ("transform",),
]


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("words", COMMANDS, ids=[words[0] for words in COMMANDS])
def test_a_hostile_cost_runs_nothing_and_ends(
    clause: str, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("prog.py").write_text(
        "import math\nimport os\n\ndef hostile(i):\n    os.system('touch RAN')\n    while 1:\n        i = 1\n"
        f"A = [0] * 9\n# dlb: parallel, {clause}\nfor i in range(9):\n    A[i] = i\n"
    )
    status = main([*words[:1], "prog.py", *words[1:]])
    text = capsys.readouterr()
    assert status in (0, 1, 2)
    assert not Path("RAN").exists()
    assert "Traceback" not in text.err + text.out
    assert "DLB008" not in text.err + text.out


@pytest.mark.parametrize(
    ("bound", "said"),
    [
        ("9**9**9", "9 ** 9 ** 9 cannot be computed, expected integers of at most"),
        ("10**30", "expected at most 2**53 iterations, found more"),
        ("1 << 10**12", "cannot be computed, expected integers of at most"),
    ],
)
def test_a_hostile_bound_is_refused_in_one_line(bound: str, said: str, tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "prog.py"
    path.write_text(f"A = [0] * 9\n# dlb: parallel\nfor i in range({bound}):\n    A[i] = i\n")
    assert main(["simulate", str(path), "--ranks", "2"]) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("dlbc: the loop runs over range(")
    assert said in line
