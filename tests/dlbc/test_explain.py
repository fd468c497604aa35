"""`dlbc explain`: every section of the text, the same facts as JSON, statuses of all kinds, strictness.

``pytest --update-golden`` writes the texts of tests/cases/explain anew, to be reviewed in the diff.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dlbc.cli import main
from dlbc.commands.explain.sentences import written_name
from dlbc.commands.explain.show import as_object, as_text
from dlbc.ir.loop import ProofStatus
from dlbc.parse.read_source import read_source
from dlbc.pipeline import check, explain, transform
from dlbc.source import Source
from tests.dlbc.conftest import CASES
from tests.dlbc.passes.planning import plan_of, results_of
from tests.support.tier import part

EXPLAINED = sorted((CASES / "explain").glob("*.py"))


def source_of(text: str) -> Source:
    return Source("case.py", text.encode(), text)


def text_of(source: Source, *, strict: bool = False, color: bool = False) -> str:
    result = explain(source, strict=strict)
    return as_text(source, result, color=color)


def json_of(text: str) -> dict[str, Any]:
    source = source_of(text)
    result = explain(source)
    text = json.dumps(as_object(source, result))
    found: dict[str, Any] = json.loads(text)
    return found


@pytest.mark.parametrize("path", EXPLAINED, ids=lambda path: path.stem)
def test_explained(path: Path, update_golden: bool) -> None:
    read, problems = read_source(str(path))
    text = text_of(Source(path.name, read.data, read.text, read.encoding)) + "\n"
    golden = path.with_suffix(".txt")
    if update_golden:
        golden.write_text(text, encoding="utf-8")
    assert not problems
    assert text == golden.read_text(encoding="utf-8"), f"{golden.name} differs; review with --update-golden"


def test_the_cases_show_every_section() -> None:
    titles = {line.strip() for path in EXPLAINED for line in path.with_suffix(".txt").read_text().split("\n")}
    sections = {"findings", "dependences", "rests on", "iterations", "arrays", "variables", "reductions",
                "ordered effects", "cost", "balanced", "stays on the ranks", "used at rank 0",
                "assumed to be scalars", "not analysed"}  # fmt: skip
    assert sections <= titles
    assert {*(status.value for status in ProofStatus), "refused"} <= titles


@pytest.mark.parametrize("path", sorted((CASES / "refuse").glob("*.py")), ids=lambda path: path.stem)
def test_whatever_is_refused_is_explained(path: Path) -> None:
    source, problems = read_source(str(path))
    result = explain(source)
    shown = text_of(source)
    assert not problems
    assert all(d.code in shown for d in result.diagnostics)
    assert as_object(source, result)["file"] == str(path)


@pytest.mark.parametrize("path", part(sorted((CASES / "accept").glob("*.py")), 3), ids=lambda path: path.stem)
def test_every_variable_of_an_accepted_loop_has_a_class(path: Path) -> None:
    source, _ = read_source(str(path))
    for report in explain(source).reports:
        assert report.plan is not None
        names = [v.name for v in report.plan.variables]
        assert sorted(names) == sorted(set(names))
        assert {written_name(a.name, report.plan) for a in report.plan.arrays} <= {*names}


STATUSES = [
    ("A[i] = i", "", ProofStatus.PROVEN),
    ("A[i] = A[i + m]", "", ProofStatus.GUARDED),
    ("A[ix[i], 0] = A[ix[i], 1]", "", ProofStatus.GUARDED),
    ("A[i] = lib.f(i)", "", ProofStatus.CHECKED),
    ("A[i] = lib.f(i) + A[i + m]", "", ProofStatus.CHECKED),
    ("A[i] = through(i)", "", ProofStatus.CHECKED),
    ("A[i] = fs[0](i)", "", ProofStatus.CHECKED),
    ("A[i] = sum(map(m, ix))", "", ProofStatus.CHECKED),
    ("A[i] = sum(map(abs, ix)) + max(m, i)", "", ProofStatus.PROVEN),
    ("A[i] = sum(map(lib.f, ix))", "", ProofStatus.CHECKED),
    ("A[i] = sum(map(through, ix))", "", ProofStatus.CHECKED),
    ("A[i] = sorted(ix, key=lib.f)", "", ProofStatus.CHECKED),
    ("A[i] = sorted(ix, key=np.sqrt)", "", ProofStatus.PROVEN),
    ("A[i] = heapq.nlargest(2, ix, lib.f)", "", ProofStatus.CHECKED),
    ("A[i] = wrapped(i)", "", ProofStatus.CHECKED),
    ("A[i] = cached(i)", "", ProofStatus.PROVEN),
    ("for x in ix:\n        x.step()\n    A[i] = 0", "", ProofStatus.CHECKED),
    ("A[ix[i], 0] = A[ix[i], 1]", "assume_independent", ProofStatus.ASSERTED),
    ("A[i] = i", "assume_independent", ProofStatus.PROVEN),
    ("open(f'{i}.txt', 'w').close()", "assume_independent", ProofStatus.ASSERTED),
    ("saved(f'{i}.npy')", "assume_independent", ProofStatus.ASSERTED),
    ("A[ix[i], 0] = lib.f(A[ix[i], 1])", "assume_independent", ProofStatus.ASSERTED),
    ("ix[0] = i\n    A[i] = ix[0]", "private(ix)", ProofStatus.ASSERTED),
    ("ix.fill(i)\n    A[i] = ix[0]", "private(ix)", ProofStatus.ASSERTED),
    ("A[i] = ix[0]", "private(ix)", ProofStatus.PROVEN),
    ("t = i\n    A[i] = t", "private(t)", ProofStatus.PROVEN),
]


@pytest.mark.parametrize(("body", "clauses", "status"), STATUSES, ids=[f"{b} {c}" for b, c, _ in STATUSES])
def test_status(body: str, clauses: str, status: ProofStatus) -> None:
    annotation = f"# dlb: parallel{', ' if clauses else ''}{clauses}"
    text = (
        "import functools\nimport heapq\nimport lib\nimport numpy as np\n"
        "def through(x):\n    return lib.g(x)\n"
        "def saved(name):\n    np.save(name, 1)\n"
        "@lib.wrap\ndef wrapped(x):\n    return x\n"
        "@functools.cache\ndef cached(x):\n    return x\n"
        f"def f(A, ix, fs, n, m):\n  {annotation}\n  for i in range(n):\n    {body}\n"
    )
    plan = plan_of(text)
    assert plan.status is status
    emitted = transform(source_of(text)).text
    assert emitted is not None
    assert f"# case.py:17, {status.value}\n" in emitted.decode()
    assert f"# dlbc: proof _dlb_loop_1={status.value}\n" in emitted.decode()


def test_unseen_functions_are_named_once_and_where_they_hide() -> None:
    [(plan, findings)] = results_of(
        "import lib\ndef g(x):\n    return lib.f(x) + lib.h(x)\n"
        "def f(A, n):\n    # dlb: parallel\n    for i in range(n):\n"
        "        A[i] = lib.f(i) + lib.f(-i) + g(i)\n"
    )
    assert plan is not None
    assert plan.watched == (("lib.f", 7), ("lib.h", 3))
    assert [(d.code, d.place.line, [n.label for n in d.notes]) for d in findings] == [
        ("DLB412", 7, []),
        ("DLB412", 7, ["in `g`"]),
    ]


UNSEEN = "import lib\nA = [0]\n# dlb: parallel\nfor i in range(1):\n    A[i] = lib.f(i)\n"
TRUSTED = (
    "def f(A, ix):\n    # dlb: parallel, assume_independent\n    for i in range(9):\n"
    "        A[ix[i], 0] = A[ix[i], 1]\n"
)


@pytest.mark.parametrize(("text", "code"), [(UNSEEN, "DLB423"), (TRUSTED, "DLB424")])
def test_strict_refuses_what_is_taken_on_trust(text: str, code: str) -> None:
    source = source_of(text)
    assert not [d for d in check(source) if d.code == code]
    assert [d.code for d in check(source, strict=True)] == [code]
    assert transform(source).text is not None
    assert transform(source, strict=True).text is None
    assert "\n  refused\n" in text_of(source, strict=True)


def test_strict_takes_what_is_proved() -> None:
    text = "A = [0]\n# dlb: parallel, assume_independent\nfor i in range(1):\n    A[i] = i\n"
    assert check(source_of(text), strict=True) == ()


@pytest.mark.parametrize("command", [["check"], ["transform", "-o", "-"], ["run", "-n", "1"], ["explain"]])
def test_strict_on_the_command_line(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prog.py"
    path.write_text(TRUSTED)
    assert main([*command, "--strict", str(path)]) == 1
    shown = capsys.readouterr()
    assert "DLB424" in shown.out + shown.err
    assert [p.name for p in tmp_path.iterdir()] == ["prog.py"]


def test_json_has_what_the_text_says() -> None:
    [loop] = json_of(
        "def f(A, B, n, k):\n  s = 0\n  items = []\n  # dlb: parallel\n  for i in range(1, n):\n"
        "    t = A[i - 1] + A[i + 1] + k\n    B[i] = t\n    s += t\n    items.append(t)\n  return s\n"
    )["loops"]
    assert (loop["line"], loop["column"], loop["status"]) == (5, 3, "proven")
    assert loop["header"] == "for i in range(1, n):"
    assert loop["findings"] == []
    [decided] = loop["dependences"]
    assert (decided["array"], decided["means"], decided["axis"]) == ("B", "equal subscripts", 0)
    assert [(a["name"], a["distribution"], a["mode"], a["rows"]) for a in loop["arrays"]] == [
        ("A", "BLOCK", "r", ["i - 1", "i + 1"]),
        ("B", "BLOCK", "w", []),
    ]
    assert {v["name"]: (v["class"], v["halo"]) for v in loop["variables"]} == {
        "i": ("loop", [0, 0]),
        "t": ("private", [0, 0]),
        "A": ("distributed", [1, 1]),
        "k": ("broadcast", [0, 0]),
        "B": ("distributed", [0, 0]),
        "s": ("reduction", [0, 0]),
        "items": ("ordered container", [0, 0]),
    }
    assert loop["reductions"] == [{"name": "s", "operator": "+", "element": False}]
    assert loop["ordered"] == ["items"]


def test_json_of_a_refused_loop() -> None:
    found = json_of("A = [0] * 9\n# dlb: parallel\nfor i in range(1, 9):\n    A[i] = A[i - 1]\n")
    [loop] = found["loops"]
    assert loop["status"] == "refused"
    assert [(d["code"], d["line"]) for d in loop["findings"]] == [("DLB301", 4)]
    [refused] = loop["dependences"]
    assert (refused["array"], refused["refused"]) == ("A", "DLB301")
    assert len(refused["tried"]) == 3
    assert "variables" not in loop


def run_explain(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "dlbc", "explain", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_explain_runs_nothing_and_prints_to_standard_output(tmp_path: Path) -> None:
    path = tmp_path / "prog.py"
    path.write_text("open('ran', 'w')\nA = [0]\n# dlb: parallel\nfor i in range(1):\n    A[i] = i\n")
    done = run_explain(str(path))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(f"{path}:4: for i in range(1):\n  proven\n")
    assert "\x1b" not in done.stdout
    assert [p.name for p in tmp_path.iterdir()] == ["prog.py"]


@pytest.mark.parametrize(
    ("data", "status"),
    [(b"# dlb: parallel\nfor i in x:\n    break\n", 1), (b"x = (\n", 1), (b"\0", 2), (b"", 0)],
)
def test_explain_exits_as_check_does(
    data: bytes, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "prog.py"
    path.write_bytes(data)
    assert main(["explain", str(path)]) == status
    shown = capsys.readouterr()
    assert "DLB" in shown.out + shown.err
    assert main(["explain", "--format", "json", str(path)]) == status
    assert main(["check", str(path)]) == status


def test_names_that_the_terminal_cannot_show_are_escaped(tmp_path: Path) -> None:
    path = tmp_path / "prög.py"
    path.write_text("# dlb: parallel\nfor ä in range(1):\n    pass\n", encoding="utf-8")
    command = [sys.executable, "-X", "utf8=0", "-m", "dlbc", "explain", str(path)]
    environment = {"PYTHONIOENCODING": "ascii", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, capture_output=True, timeout=60, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    assert b"for \\xe4 in range(1):" in done.stdout


def test_colors_only_where_asked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    source = source_of("# dlb: parallel\nfor i in x:\n    break\n")
    assert "\x1b[1;31mrefused\x1b[0m" in text_of(source, color=True)
    assert "\x1b" not in text_of(source)


@pytest.mark.parametrize(
    ("terminal", "settings", "colored"),
    [
        (True, {}, True),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (False, {}, False),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": ""}, False),
        (False, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
    ],
)
def test_colors_of_diagnostics(
    terminal: bool,
    settings: dict[str, str],
    colored: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "prog.py"
    path.write_text("# dlb: parallel\nfor i in x:\n    break\n")
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    assert main(["check", str(path)]) == 1
    assert ("\x1b[1;31merror[DLB202]\x1b[0m" in capsys.readouterr().err) is colored


def test_the_statistics_say_on_what_the_loop_rests(tmp_path: Path) -> None:
    path = tmp_path / "prog.py"
    path.write_text(
        "A, ix = [0] * 3, [2, 0, 1]\n# dlb: parallel\nfor i in range(3):\n    A[i] = i\n"
        "# dlb: parallel, assume_independent\nfor i in range(3):\n    A[ix[i]] = A[ix[i]] - i - A[ix[i]]\n"
    )
    stats = tmp_path / "stats.json"
    command = [sys.executable, "-m", "dlbc", "run", "-n", "1", "--stats", str(stats), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert [loop["proof"] for loop in json.loads(stats.read_text())["loops"]] == [
        "proven",
        "asserted by the user",
    ]


@pytest.mark.parametrize("arguments", ["", "1, 2, 3, 4"])
def test_ranges_that_fail_when_they_run_are_read_nonetheless(arguments: str) -> None:
    source = source_of(
        f"def f(A, n):\n  for k in range({arguments}):\n    # dlb: parallel\n    for i in range(n):\n"
        f"      for j in range({arguments}):\n        A[i, j] = k\n"
        f"  # dlb: parallel\n  for i in range({arguments}):\n    A[i] = i\n"
    )
    assert "DLB008" not in {d.code for d in check(source)}
    assert text_of(source).count("\n  variables\n") + text_of(source).count("\n  refused\n") == 2


def test_the_kernel_lists_the_calls_that_are_watched() -> None:
    long = "lib." + "f" * 80
    text = f"import lib\nA = [0]\n# dlb: parallel\nfor i in range(1):\n    A[i] = lib.g(i) + {long}(i)\n"
    emitted = transform(source_of(text)).text
    assert emitted is not None
    assert f'    dlb.watch({{"lib.g": 5, "{long[:60]}..": 5}})\n' in emitted.decode()


def test_a_routine_as_json() -> None:
    text = "import numpy as np\n\ndef f(u, n):\n    # dlb: iterate\n    for t in range(n):\n"
    text += (
        "        # dlb: parallel\n        for i in range(9): u[i] += t\n        print(u[3])\n        g(u)\n"
    )
    [routine] = json_of(text)["routines"]
    places = [(place["line"], place["touch"], place["text"], place["rows"]) for place in routine["places"]]
    assert (routine["line"], routine["header"]) == (5, "for t in range(n):")
    assert (routine["resident"], routine["plain"]) == (["u"], ["n"])
    assert places == [(8, "read", "u[3]", True), (9, "write", "g", False), (9, "write", "u", False)]
    assert routine["unseen"] == [{"line": 9, "text": "g"}]
