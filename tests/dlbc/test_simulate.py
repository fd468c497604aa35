"""`dlbc simulate`: what it prints of the samples, what it asks for and refuses; the page that explains it."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dlbrt.balance.strategies import AUTO, names

from dlbc.cli import main

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "simulate.md"
MXM = ("samples/mxm.py", "--set", "n=400", "--bytes", "2432")
ADJOINT = ("samples/adjoint_convolution.py", "--set", "n=48")
TRFD = ("samples/trfd.py", "--loop", "2", "--set", "pairs=300", "--set", "len(A)=300", "--set", "len(V)=24",
        "--set", "V.shape[1]=24")  # fmt: skip
RANDOM = "random:max=5,duration=0.5,seed=7"


@pytest.fixture(autouse=True)
def _in_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def run(*words: object) -> int:
    try:
        return main(["simulate", *map(str, words)])
    except SystemExit as ending:
        return int(ending.code or 0)


@pytest.fixture
def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    def text(*words: object) -> str:
        assert run(*words) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return text


@pytest.fixture
def told(printed: Any) -> Any:
    return lambda *words: json.loads(printed(*words, "--format", "json"))


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Any:
    def text(*words: object) -> str:
        assert run(*words) == 2
        ending = capsys.readouterr()
        assert not ending.out
        assert all(line.startswith("dlbc: ") for line in ending.err.splitlines())
        return ending.err

    return text


def strategies(case: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["strategy"]: each for each in case["strategies"]}


def test_uniform_iterations_on_processors_alike_need_no_balancing(told: Any) -> None:
    found = told(*MXM, "--ranks", "4,8", "--strategy", "none,GDDLB")
    assert [case["ranks"] for case in found["cases"]] == [4, 8]
    for case in found["cases"]:
        assert (case["iterations"], case["iteration_bytes"], case["folded"]) == (400, 2432.0, False)
        assert case["optima_s"] == [pytest.approx(0.4 / case["ranks"])]
        for each in case["strategies"]:
            assert each["moved"] == 0
            assert each["makespan_s"] == pytest.approx(0.4 / case["ranks"], rel=0.01)
            assert each["efficiency"] == pytest.approx(1 / each["over_optimum"])


def test_the_table_has_what_the_json_has(printed: Any, told: Any) -> None:
    words = (*MXM, "--ranks", "4", "--strategy", "none,GDDLB,GCDLB", "--load", "fixed:0,0,0,3")
    lines = printed(*words).splitlines()
    assert lines[0] == "mxm.py:31, loop 1"
    assert "    load: fixed:0,0,0,3" in lines
    [case] = told(*words)["cases"]
    rows = [line.split() for line in lines[-3:]]
    assert [row[0] for row in rows] == [each["strategy"] for each in case["strategies"]]
    assert rows[-1][0] == "none"
    assert rows[-1][1:3] == ["400.0", "ms"]
    for row, each in zip(rows, case["strategies"], strict=True):
        assert float(row[1]) == pytest.approx(1e3 * each["makespan_s"], rel=1e-3)
        assert float(row[3]) == pytest.approx(each["over_optimum"], abs=1e-3)
        assert row[5:] == [f"{each[key]:g}" for key in ("synchronizations", "redistributions", "moved")]


def test_a_triangle_is_folded_and_costs_what_the_compiler_says(told: Any) -> None:
    [case] = told(*ADJOINT, "--ranks", "4", "--strategy", "none")["cases"]
    assert (case["iterations"], case["folded"]) == (48 * 48, True)
    assert case["strategies"][0]["over_optimum"] == pytest.approx(1, rel=0.01)
    [unfolded] = told(*ADJOINT, "--ranks", "1000", "--strategy", "none")["cases"]
    assert not unfolded["folded"]


def test_work_that_calls_functions_of_the_program_is_evaluated(told: Any) -> None:
    [case] = told(*TRFD, "--ranks", "4", "--strategy", "none")["cases"]
    assert case["iteration_bytes"] == 300 * 8
    assert case["work_s"] == pytest.approx(0.3)
    assert 1 < case["strategies"][0]["over_optimum"] < 1.05


def test_a_cumulative_clause(printed: Any, told: Any) -> None:
    words = ("samples/primes.py", "--set", "n=20000", "--ranks", "4", "--strategy", "none")
    assert "`x ** 1.43 / (log(x) - 1.08366)`, by the clause" in printed(*words)
    assert told(*words)["cases"][0]["strategies"][0]["over_optimum"] == pytest.approx(1, abs=0.01)


def test_the_same_input_gives_the_same_bytes(printed: Any) -> None:
    words = (*ADJOINT, "--ranks", "4", "--strategy", "GDDLB,LCDLB,auto", "--load", RANDOM, "--seeds", "3")
    assert printed(*words) == printed(*words)
    assert printed(*words, "--format", "json") == printed(*words, "--format", "json")


def test_all_is_every_strategy_and_the_choice_among_them(told: Any) -> None:
    found = strategies(told(*MXM, "--ranks", "3")["cases"][0])
    assert found.keys() == {*names(), AUTO}
    assert all(each["over_optimum"] >= 1 - 1e-9 for each in found.values())
    times = [each["makespan_s"] for each in found.values()]
    assert times == sorted(times)


def test_seeds_give_medians_and_a_range(printed: Any, told: Any) -> None:
    words = (*MXM, "--ranks", "4", "--strategy", "none", "--load", RANDOM)
    seeds = [told(*words[:-1], RANDOM.replace("seed=7", f"seed={seed}")) for seed in (7, 11, 15)]
    alone = [case["cases"][0]["strategies"][0]["makespan_s"] for case in seeds]
    [three] = told(*words, "--seeds", "3")["cases"][0]["strategies"]
    assert three["makespans_s"] == alone
    assert three["makespan_s"] == sorted(alone)[1]
    assert len(set(alone)) > 1
    assert re.search(r"medians over 3 loads.*\n.*range of makespans\n.* to ", printed(*words, "--seeds", "3"))


def test_slow_ranks_and_speeds(told: Any) -> None:
    words = (*MXM, "--ranks", "4", "--strategy", "none,GDDLB")
    slow = strategies(told(*words, "--slow", "2:0.5", "--slow", "2:0.5")["cases"][0])
    assert slow["none"]["makespan_s"] == pytest.approx(0.4, rel=0.01)
    speeds = told(*words, "--speeds", "4,4,1,4")
    assert strategies(speeds["cases"][0]) == slow
    assert speeds["cases"][0]["optima_s"] == [pytest.approx(0.4 / 3.25)]
    repeated = told(*words, "--speeds", "1,2", "--load", "fixed:1")["cases"][0]
    assert repeated["optima_s"] == [pytest.approx(2 * 0.4 / 3)]


def test_ranks_that_die(told: Any, printed: Any) -> None:
    words = (*MXM, "--ranks", "4", "--strategy", "GDDLB,none", "--iteration-s", "0.01")
    deaths = ("--kill", "2@0.5", "--kill", "1@0.5")
    (alone,), (killed,) = (told(*words, *more)["cases"] for more in ((), deaths))
    for name, before in strategies(alone).items():
        after = strategies(killed)[name]
        assert (before["lost"], after["lost"] >= 3 * 50) == (0, True)
        assert after["makespan_s"] > 1.5 * before["makespan_s"]
    text = printed(*words, "--kill", "2@0.5")
    assert "killed: 2@0.5" in text
    assert "moved  lost" in text
    assert "lost" not in printed(*words, "--kill", "2@500")


def test_iteration_time_and_group(told: Any) -> None:
    words = (*MXM, "--ranks", "6", "--strategy", "none", "--iteration-s", "2", "--group", "2")
    [case] = told(*words)["cases"]
    assert case["work_s"] == 800
    assert case["groups"] == [2, 2, 2]


def test_a_machine(told: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text("load = 'fixed:1'\n[[hosts]]\ncount = 2\nprocessors = [1, 0.5]\n[[hosts]]\nspeed = 2\n")
    [case] = told(*MXM, "--machine", path, "--strategy", "none")["cases"]
    assert case["groups"] == [2, 2, 1]
    assert case["optima_s"] == [pytest.approx(0.4 / 2.5)]
    [first] = told(*MXM, "--machine", path, "--strategy", "none", "--ranks", "1")["cases"]
    assert first["optima_s"] == [pytest.approx(0.8)]


def test_the_load_of_a_machine_is_told(printed: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text(f"processors = 2\nload = '{RANDOM}'\n")
    words = (*MXM, "--machine", path, "--strategy", "none")
    assert "    load: random, 0 to 5, each for 0.5 s\n" in printed(*words)
    assert "    load: fixed:1\n" in printed(*words, "--load", "fixed:1")


def test_a_cliff_slows_who_begins_with_more(told: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text("processors = 4\ncliff = { units = 50, factor = 4 }\n")
    words = (*MXM, "--strategy", "none")
    [case] = told(*words, "--machine", path)["cases"]
    assert case["strategies"][0]["makespan_s"] == pytest.approx(0.4, rel=0.01)
    assert case["optima_s"] == [pytest.approx(0.1)]
    assert told(*words, "--ranks", "4", "--speeds", "1@50:4")["cases"] == [case]


def test_a_recorded_run_is_played_again_and_elsewhere(told: Any, tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    words = (*ADJOINT, "--ranks", "4", "--load", RANDOM, "--strategy", "GDDLB")
    [case] = told(*words, "--trace-out", path)["cases"]
    [again] = told("--trace", path, "--strategy", "GDDLB,none")["cases"]
    found = strategies(again)
    assert found["GDDLB"]["makespan_s"] == pytest.approx(case["strategies"][0]["makespan_s"], rel=0.02)
    [other] = told("--trace", path, "--hosts", "8", "--slow", "2:0.5", "--strategy", "none")["cases"]
    assert other["optima_s"] == [pytest.approx(case["work_s"] / 7.5, rel=0.01)]


def test_a_trace_out_of_a_recorded_run(tmp_path: Path, told: Any) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    told(*MXM, "--ranks", "2", "--strategy", "none", "--trace-out", first)
    told("--trace", first, "--strategy", "none", "--trace-out", second)
    assert told("--trace", second, "--strategy", "none")["loop"] == "mxm.py:31, loop 1"


MISSING = """\
dlbc: mxm.py:31: expected numbers that only a run of the program has; give your own in place of 1000:
dlbc:     --set n=1000             the loop runs over range(n)
dlbc:     --set m=1000             the length of a row of Z, or give --bytes
dlbc:     --set 'X.shape[1]=1000'  the length of a row of X, or give --bytes
"""


def test_all_numbers_that_are_missing_are_asked_for_at_once(refused: Any) -> None:
    assert refused("samples/mxm.py", "--ranks", "4") == MISSING
    found = refused(*TRFD[:3], "--ranks", "4")
    assert re.findall(r"--set '?([^= ]+)=1000", found) == ["pairs", "V.shape[1]", "len(V)", "len(A)"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--set", "N=4"), "--set: expected names of the program; found N=4; did you mean n?"),
        (("--set", "n"), "--set: expected NAME=NUMBER, such as n=1000 or 'len(A)=1000'; found 'n'"),
        (("--set", "n=x"), "found 'n=x'"),
        (("--set", "n=1.5"), "the loop runs over range(n): expected a whole number, found n = 1.5"),
        (("--set", "n=4", "--set", "n=5"), "--set: expected each name once; found n=4 and 'n=5'"),
        (("--loop", "2"), "--loop: expected one of the loops 1 (line 31); found 2"),
        (("--ranks", "0"), "--ranks: expected a whole number from 1 to 4194304; found '0'"),
        (("--ranks", "4,x"), "found 'x'"),
        (("--strategy", "GDDLP"), "found 'GDDLP'; did you mean GDDLB?"),
        (("--strategy", "gdlb"), "found 'gdlb'; did you mean GDDLB?"),
        (("--iteration-s", "0"), "--iteration-s: expected a number from 1e-15 to 1e+15; found '0'"),
        (("--bytes", "-1"), "--bytes: expected a number from 0 to 1e+15; found '-1'"),
        (("--load", "fixed:0,1,2"), "expected 4 values, one per rank; found 3 values"),
        (("--load", "much"), "found 'much'"),
        (("--speeds", "1,0"), "expected speeds above 0"),
        (("--slow", "4:0.5"), "expected RANK:FACTOR, such as 0:0.5, of a rank below 4; found '4:0.5'"),
        (("--slow", "1:-1"), "--slow: expected a number from 1e-15 to 1e+15; found '-1'"),
        (("--slow", "1:1e-9", "--slow", "1:1e-9"), "--slow: expected speeds of 1e-15 or more; found 1e-18"),
        (("--kill", "4@1"), "expected RANK@SECONDS, such as 1@0.5, of a rank from 1 to 3; found '4@1'"),
        (("--kill", "0@1"), "of a rank from 1 to 3; found '0@1'"),
        (("--kill", "1@-1"), "--kill: expected a number from 0 to 1e+15; found '-1'"),
        (("--strategy", "none", "--kill", "1@1", "--trace-out", "x"), "expected no --kill with it"),
        (("--group", "9"), "expected an integer from 1 to 4, the number of ranks"),
        (("--seeds", "0"), "--seeds: expected a whole number from 1 to 10000; found '0'"),
        (("--seeds", "2"), "--seeds: expected a random load to go with it"),
        (("--machine", "none.toml"), "none.toml: No such file or directory"),
        (
            ("--machine", "samples/mxm.py"),
            "samples/mxm.py: expected a machine as TOML, such as `processors = 4` (docs/simulate.md has all "
            "keys); found no TOML: ",
        ),
        (("--trace", "t.json"), "expected a program or --trace, a recorded run; found both"),
        (("--trace-out", "t.json"), "--trace-out: expected one number of ranks, one strategy and one load"),
        (("--strategy", "none", "--trace-out", "no/t.json"), "--trace-out: no/t.json: "),
    ],
)  # fmt: skip
def test_what_cannot_be_is_said(words: tuple[str, ...], message: str, refused: Any) -> None:
    given = ["samples/mxm.py"]
    given += ["--set", "n=400"] if "--set" not in words else []
    given += ["--bytes", "8"] if "--bytes" not in words else []
    given += ["--ranks", "4"] if "--ranks" not in words else []
    assert message in refused(*given, *words)


def test_all_that_is_wrong_is_said_the_machine_first(refused: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_text("procesors = 4\n")
    wrong = ("--strategy", "GDDLP", "--seeds", "0", "--iteration-s", "0", "--bytes", "-1", "--set", "n")
    lines = refused("samples/mxm.py", "--machine", path, *wrong).splitlines()
    assert lines[0].startswith(f"dlbc: {path}: ")
    wanted = ["--strategy", "--seeds", "--set", "--iteration-s", "--bytes"]
    assert re.findall(r"^dlbc: (--[a-z-]+):", "\n".join(lines), re.MULTILINE) == wanted
    missing = refused("samples/mxm.py", "--machine", path)
    assert missing.startswith(f"dlbc: {path}: ")
    assert missing.endswith(MISSING)


def test_a_machine_that_is_no_text(refused: Any, tmp_path: Path) -> None:
    path = tmp_path / "machine.toml"
    path.write_bytes(b"\xff\xfe\0")
    [line] = refused(*MXM, "--machine", path).splitlines()
    assert line.startswith(f"dlbc: {path}: expected a machine as TOML, such as `processors = 4` (docs/")
    assert line.endswith("found a file that is no text in UTF-8")


def test_options_of_the_machine_are_looked_at_where_numbers_are_missing(refused: Any) -> None:
    found = refused("samples/mxm.py", "--ranks", "4", "--load", "much")
    assert found.startswith(MISSING)
    assert "found 'much'" in found


def test_a_machine_is_not_hidden_by_errors_of_the_program(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "prog.py"
    path.write_text("A = [0] * 9\n# dlb: parallel\nfor i in range(1, 9):\n    A[i] = A[i - 1]\n")
    assert run(path, "--machine", tmp_path / "none.toml") == 2
    said = capsys.readouterr().err
    assert said.index("none.toml: No such file or directory") < said.index("DLB301")


def test_lengths_are_not_negative(refused: Any) -> None:
    words = ("samples/mxm.py", "--set", "n=9", "--set", "m=-4", "--set", "X.shape[1]=3", "--ranks", "4")
    said = "the length of a row of Z: expected 0 or more, found m = -4; give another number by --set, or give"
    assert f"{said} --bytes\n" in refused(*words)


def test_without_program_ranks_or_the_right_loop(refused: Any, tmp_path: Path) -> None:
    assert "found neither" in refused("--ranks", "4")
    assert "expected --ranks, such as 4,16,256, or a --machine; found neither" in refused(*MXM)
    assert "--loop: expected one of the loops 1 (line 63), 2 (line 67)" in refused("samples/trfd.py")
    assert "--set: expected it with a program" in refused("--trace", "t.json", "--set", "n=1")
    assert "cannot be read" in refused("--trace", tmp_path / "none.json")
    (tmp_path / "plain.py").write_text("print(1)\n")
    assert "expected a parallel loop; found none" in refused(tmp_path / "plain.py")


def test_a_program_with_errors(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prog.py"
    path.write_text("A = [0] * 9\n# dlb: parallel\nfor i in range(1, 9):\n    A[i] = A[i - 1]\n")
    assert run(path, "--ranks", "2") == 1
    assert "DLB301" in capsys.readouterr().err
    assert run(tmp_path / "none.py", "--ranks", "2") == 2


@pytest.mark.parametrize("n", [0, 1, 3])
def test_few_iterations(n: int, told: Any) -> None:
    words = ("samples/mxm.py", "--set", f"n={n}", "--bytes", "8", "--ranks", "4")
    [case] = told(*words, "--strategy", "none,GDDLB")["cases"]
    assert case["iterations"] == n
    assert all((each["over_optimum"] is None) == (n == 0) for each in case["strategies"])


def simulated(tmp_path: Path, printed: Any, text: str, *words: str) -> str:
    path = tmp_path / "prog.py"
    path.write_text(text)
    return str(printed(path, "--ranks", "2", "--strategy", "none", *words))


@pytest.mark.parametrize(
    ("head", "before", "words", "iterations"),
    [
        ("i in range(2, n, 3)", "n = 40", (), 13),
        ("i in range(N)", "N = -(-7)", ("--set", "N=7"), 7),
        ("i in reversed(range(n))", "n = 40", (), 40),
        ("i, x in enumerate(xs)", "xs = list(open(0))", ("--set", "len(xs)=12"), 12),
        ("i, x in enumerate(range(5), 3)", "", (), 5),
        ("x, y in zip(xs, ys)", "xs, ys = open(0), open(1)", ("--set", "len(xs)=9", "--set", "len(ys)=4"), 4),
        ("i in range(len(xs))", "xs = list(open(0))", ("--set", "len(xs)=12"), 12),
        ("i in range(xs.shape[0])", "xs = load()", ("--set", "len(xs)=12"), 12),
        ("i in range(isqrt(n))", "from math import isqrt\nn = 100", (), 10),
        ("i in range(-3)", "", (), 0),
        ("i in range(int(sys.argv[1]))", "import sys", ("--set", "sys.argv[1]=6"), 6),
        ("i in range(int(input()))", "", ("--set", "input()=6"), 6),
        ("i in range(len(np.load(0)))", "import numpy as np", ("--set", "len(np.load(0))=6"), 6),
        ("i in range(f(3))", "def f(x):\n    raise SystemExit", ("--set", "f(3)=6"), 6),
        ("i in range(N)", "N = 3\ndef f():\n    global N\n    N = 4\n", ("--set", "N=6"), 6),
    ],
)
def test_what_a_loop_runs_over(
    head: str, before: str, words: tuple[str, ...], iterations: int, tmp_path: Path, printed: Any
) -> None:
    text = f"{before}\nout = []\n# dlb: parallel\nfor {head}:\n    out.append(1)\n"
    assert f"iterations: {iterations}," in simulated(tmp_path, printed, text, *words)


@pytest.mark.parametrize(
    ("made", "store", "words", "size"),
    [
        ("np.zeros((50, 6))", "A[i, 0]", (), 48),
        ("np.zeros((50, 6), dtype=np.float32)", "A[i, 0]", (), 24),
        ("np.zeros((6, 50), 'int8')", "A[0, i]", (), 6),
        ("np.ones(50)", "A[i]", (), 8),
        ("[0] * 50", "A[i]", (), 64),
        ("[[0] * 3 for _ in range(50)]", "A[i][0]", (), 64),
        ("load()", "A[i, 0]", ("--set", "A.shape[1]=10"), 80),
        ("load()", "A[i]", (), 8),
    ],
)
def test_bytes_that_move(
    made: str, store: str, words: tuple[str, ...], size: int, tmp_path: Path, printed: Any
) -> None:
    text = f"import numpy as np\nA = {made}\n# dlb: parallel\nfor i in range(50):\n    {store} += 1\n"
    assert f"movement: {size} bytes" in simulated(tmp_path, printed, text, *words)


ONE_AXIS = "A = load()\n# dlb: parallel\nfor i in range(50):\n    A[i] += 1\n"


def test_the_length_of_a_row_that_is_assumed_is_told(tmp_path: Path, printed: Any) -> None:
    assumption = "assuming a row of A to be an element of 8 bytes; --bytes says otherwise"
    assert f"movement: 8 bytes with an iteration, {assumption}\n" in simulated(tmp_path, printed, ONE_AXIS)
    given = simulated(tmp_path, printed, ONE_AXIS, "--bytes", "9")
    assert "movement: 9 bytes with an iteration\n" in given


@pytest.mark.parametrize(
    ("text", "words", "assumed"),
    [
        (ONE_AXIS, (), True),
        (ONE_AXIS, ("--bytes", "8"), False),
        (ONE_AXIS.replace("load()", "[0] * 50"), (), False),
        (ONE_AXIS.replace("A[i]", "A[i, 0]"), ("--set", "A.shape[1]=1"), False),
        (ONE_AXIS.replace("A = load()", "import numpy as np\nA = np.zeros(50)"), (), False),
    ],
)
def test_whether_bytes_are_assumed(
    text: str, words: tuple[str, ...], assumed: bool, tmp_path: Path, printed: Any
) -> None:
    [case] = json.loads(simulated(tmp_path, printed, text, *words, "--format", "json"))["cases"]
    assert case["iteration_bytes"] > 0
    assert case["bytes_assumed"] is assumed


def test_what_is_only_overwritten_or_whole_does_not_move(tmp_path: Path, printed: Any) -> None:
    text = "A = [0] * 9\nB = [1] * 9\n# dlb: parallel\nfor i in range(9):\n    A[i] = sum(B)\n"
    assert "movement: 0 bytes" in simulated(tmp_path, printed, text)


@pytest.mark.parametrize(
    ("before", "clause", "words", "said"),
    [
        ("", "cost(i + 1)", (), "cost: `i + 1`, by the clause"),
        ("", "cost(k * i + 1)", ("--set", "k=2.5"), "cost: `k * i + 1`, by the clause"),
        ("def w(i):\n    return i + 1\n", "cost(w(i))", (), "cost: `w(i)`, by the clause"),
        (
            "p = load()",
            "cost(p[i + 1] - p[i])",
            (),
            "cost: it depends on data, all iterations are assumed to cost the same",
        ),
        (
            "from helper import w",
            "cost(w(i))",
            (),
            "cost: it depends on data, all iterations are assumed to cost the same",
        ),
        ("", "cost(5 - i)", (), "cost: cost is negative"),
        ("", "cost(1 // (i - 4) + 9)", (), "all iterations are assumed to cost the same"),
    ],
)
def test_clauses(
    before: str, clause: str, words: tuple[str, ...], said: str, tmp_path: Path, printed: Any
) -> None:
    text = f"k = load()\n{before}\nA = [0] * 9\n# dlb: parallel, {clause}\nfor i in range(9):\n    A[i] = i\n"
    assert said in simulated(tmp_path, printed, text, *words)


UNSAID = """\
def f(A, flag):
    if flag:
        k = 3
    # dlb: parallel, nofold
    for i in range(40):
        if A[i] > 0:
            for j in range(i * k):
                A[i] += j
"""

PRINTING = """\
def row(k):
    print(k)
    return k // 2
A = [0] * 9
# dlb: parallel
for i in range(9):
    for j in range(row(i)):
        A[i] = j
"""


def test_a_function_that_may_do_more_than_compute_is_not_called(tmp_path: Path, printed: Any) -> None:
    found = simulated(tmp_path, printed, PRINTING)
    assert (
        "cost: it calls `row`, which may do more than compute, all iterations are assumed to cost the same"
        in found
    )
    assert found.startswith("prog.py:6, loop 1\n")


def test_work_that_balancing_does_not_know_is_told(tmp_path: Path, told: Any) -> None:
    path = tmp_path / "prog.py"
    path.write_text(UNSAID)
    found = told(path, "--set", "k=3", "--ranks", "2", "--strategy", "none", "--bytes", "8")
    assert "which balancing does not know: `k` may have no value" in found["notes"][1]
    assert found["cases"][0]["strategies"][0]["over_optimum"] == pytest.approx(1.5, rel=0.02)


def test_the_names_of_functions_around_hide_those_of_the_module(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "prog.py"
    path.write_text(
        "n = 5\ndef f(n, A):\n    # dlb: parallel\n    for i in range(n):\n        A[i] = i\nf(3, [0] * 3)\n"
    )
    assert run(path, "--ranks", "2") == 2
    assert "--set n=1000" in capsys.readouterr().err
    assert run(path, "--ranks", "2", "--set", "n=3", "--strategy", "none") == 0


TEXT = PAGE.read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)[^\n]*\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)


def test_the_example_of_the_page(tmp_path: Path, printed: Any, monkeypatch: Any, request: Any) -> None:
    assert [kind for kind, _ in BLOCKS] == ["toml", "sh", "text", "sh"]
    (tmp_path / "samples").symlink_to(ROOT / "samples")
    (tmp_path / "cluster.toml").write_text(BLOCKS[0][1])
    monkeypatch.chdir(tmp_path)
    name, command, *words = shlex.split(BLOCKS[1][1])
    assert (name, command) == ("dlbc", "simulate")
    found = printed(*words)
    if request.config.getoption("--update-golden"):
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(page.replace(f"```text\n{BLOCKS[2][1]}```", f"```text\n{found}```"), encoding="utf-8")
    else:
        assert found == BLOCKS[2][1], "run pytest tests/dlbc/test_simulate.py --update-golden"


def test_the_page_names_every_option_and_key() -> None:
    from dlbrt.sim import description as read_machine

    page = PAGE.read_text(encoding="utf-8")
    source = Path(read_machine.__file__).read_text(encoding="utf-8")
    keys = {key for call in re.findall(r"knows\((.*?)\)", source) for key in re.findall(r'"(\w+)"', call)}
    assert keys >= {"processors", "hosts", "latency_s", "units"}
    options = re.findall(
        r'"(--[a-z-]+)"', (ROOT / "dlbc/commands/simulate/__init__.py").read_text(encoding="utf-8")
    )
    assert len(options) > 10
    assert [word for word in (*keys, *options) if word not in page] == []


def test_numbers_of_the_model_add_up(told: Any) -> None:
    [case] = told(*ADJOINT, "--ranks", "3", "--strategy", "none", "--iteration-s", "0.5")["cases"]
    assert case["work_s"] == pytest.approx(0.5 * 48 * 48)
    assert np.isclose(case["optima_s"][0], case["work_s"] / 3)
