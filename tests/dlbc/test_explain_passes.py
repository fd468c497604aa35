"""`dlbc explain -n P` of an elimination: the efficiencies that Ciegis et al. print and derive."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from papers.ciegis.efficiency import block_efficiency, scattered_efficiency
from papers.ciegis.elimination import StageCost

from dlbc.cli import main

#: Figure 2, element by element: a row at stage i costs n - i.
LU = """
def lu(A, l, n):
    # dlb: iterate
    for i in range(n - 1):
        # dlb: parallel, BLOCK(A)
        for j in range(i + 1, n):
            {body}
"""
ELEMENTS = "for k in range(i + 1, n):\n                A[j][k] -= l[j] * A[i][k]"
EXAMPLE_2 = "1,1.5,2.5,3.1,3.6,4.3"


@pytest.fixture
def passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def of(body: str, *words: str) -> dict[str, Any]:
        path = tmp_path / "lu.py"
        path.write_text(LU.format(body=body))
        assert main(["explain", str(path), "--format", "json", *words]) == 0
        [routine] = json.loads(capsys.readouterr().out)["routines"]
        [found] = routine["on_ranks"]
        return {"why": found["why"], "line": found["line"]} | {
            each["distribution"]: each["efficiency"] for each in found["estimates"]
        }

    return of


ALIKE = "A[j] = A[j] - A[i]"


def test_equal_processors_by_the_closed_forms(passes: Any) -> None:
    """But for the first row, which is dealt there, and changed by no stage."""
    found = passes(ALIKE, "-n", "10", "--set", "n=201")
    assert found["blocks"] == pytest.approx(block_efficiency(200, 10, StageCost.CONSTANT), abs=5e-3)
    assert found["in turn"] == pytest.approx(scattered_efficiency(200, 10, StageCost.CONSTANT), abs=5e-3)
    found = passes(ELEMENTS, "-n", "10", "--set", "n=201")
    assert found["blocks"] == pytest.approx(block_efficiency(200, 10, StageCost.LU), abs=5e-3)
    assert found["in turn"] == pytest.approx(scattered_efficiency(200, 10, StageCost.LU), abs=5e-3)
    assert "blocks, slowest rank first" not in found


def test_example_2_and_the_order_of_blocks(passes: Any) -> None:
    """S_sc = 15.42 of W = 16; blocks by figure 1, slowest first, take 15.02."""
    found = passes(ELEMENTS, "--weights", EXAMPLE_2, "--set", "n=100")
    assert 16 * found["in turn"] == pytest.approx(15.42, abs=0.02)
    assert found["blocks"] == found["blocks, slowest rank first"]
    assert 160 / (16 * found["blocks"]) == pytest.approx(15.02, abs=0.1)
    in_order = passes(ALIKE, "--weights", EXAMPLE_2, "--set", "n=100")
    turned = passes(ALIKE, "--weights", "4.3,3.6,3.1,2.5,1.5,1", "--set", "n=100")
    assert turned["blocks, slowest rank first"] == pytest.approx(in_order["blocks"], abs=5e-3)
    assert turned["blocks"] < in_order["blocks"] - 0.04


def test_what_is_not_known_is_asked_for(
    passes: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    unknown = "the number of passes is not known before the program runs; --set n=NUMBER gives it"
    assert passes(ELEMENTS, "-n", "4") == {"why": unknown, "line": 6}
    assert passes(ELEMENTS, "-n", "4", "--set", "n=1")["why"] == "there are no iterations"
    assert "more than" in passes(ELEMENTS, "-n", "4000", "--set", "n=900000")["why"]
    assert main(["explain", str(tmp_path / "lu.py"), "-n", "4", "--set", "n=9"]) == 0
    shown = capsys.readouterr().out
    assert "  line 6 on the ranks\n    blocks   efficiency" in shown
    assert "passes narrow: with --weights the slowest rank gets the first block" in shown


def test_a_cost_that_is_not_known_counts_alike(passes: Any) -> None:
    found = passes("A[j] = A[j] - A[i] if A[j] > 0 else f(A[j])", "-n", "10", "--set", "n=200")
    assert found == passes(ALIKE, "-n", "10", "--set", "n=200")


def statistics(path: Path, ranks: int, **changes: Any) -> str:
    """A file of statistics: rank 0, twice as fast as the others, and rank 1 have computed for 1 and 2 s."""
    seconds = [1.0, 2.0, *[0.0] * ranks][:ranks]
    loop = {"source": "lu.py:6", "runs": 2, "elapsed_s": 2.5, "strategy": "none"} | changes
    loop["per_rank"] = [{"compute_s": each} for each in seconds]
    path.write_text(json.dumps({"ranks": ranks, "loops": [loop]}))
    return str(path)


def test_what_a_run_measured_stands_beside(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, stats = tmp_path / "lu.py", statistics(tmp_path / "stats.json", 2)
    path.write_text(LU.format(body=ALIKE))
    words = ["explain", str(path), "--weights", "2,1", "--stats", stats]
    assert main(words) == 0
    share = (2 * 1.0 + 1 * 2.0) / (3 * 2.5)
    line = f"measured  efficiency {share:.1%}, 2.5 s under none, communication included"
    assert line in capsys.readouterr().out
    assert main([*words, "--format", "json"]) == 0
    [loop] = json.loads(capsys.readouterr().out)["loops"]
    each = {"runs": 2, "alone_s": (2 * 1.0 + 2.0) / 2, "row_bytes": 0.0}
    found = {"efficiency": share, "strategy": "none", "seconds": 2.5} | each
    assert loop["on_ranks"]["measured"] == found
    statistics(tmp_path / "stats.json", 2, strategy="local")
    assert main(words) == 0
    assert "measured  efficiency" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("{", "-n 2", "expected statistics of a run; found text that is no JSON"),
        ("[]", "-n 2", "expected statistics of a run; found other JSON"),
        (None, "-n 2", "expected statistics of a run; found No such file or directory"),
        ('{"ranks": 3, "loops": []}', "-n 2", "expected statistics of 2 ranks; found those of 3"),
        ("{", "", "--stats: expected it with a number of ranks, as in -n 4; found none"),
    ],
)
def test_statistics_that_cannot_be_used(
    text: str | None, words: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, stats = tmp_path / "lu.py", tmp_path / "stats.json"
    path.write_text(LU.format(body=ALIKE))
    if text is not None:
        stats.write_text(text)
    assert main(["explain", str(path), "--stats", str(stats), *words.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert err.endswith(f"{message}\n")
