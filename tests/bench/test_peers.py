"""The contenders of the comparison compute what plain Python does, and are compared rightly."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.bench.contenders import CONTENDERS, HERE, NoAnswerError, Running, command, environment, missing
from tests.bench.peer_pages import KEPT, MEASURED, ROOT, markdown, measured_with, page, plot
from tests.bench.peers import SIZES, measured
from tests.support.tier import part

BY_ROWS = ("by_hand", "prange", "prange_by_hand", "mpi4py", "mpi4py_by_hand", "joblib_threads")


def plain(name: str, sizes: Sequence[int]) -> str:
    """The digest of plain Python's result."""
    words = [sys.executable, f"{name}.py", *map(str, sizes)]
    done = subprocess.run(words, cwd=HERE, input="once\n", capture_output=True, text=True, check=True)
    return str(json.loads(done.stdout)["digest"])


#: Each workload with every other contender.
ALTERNATELY = [(w, c) for k, w in enumerate(SIZES) for c in BY_ROWS[k % 2 :: 2]]


@pytest.mark.parametrize(("name", "contender"), part(ALTERNATELY, 3))
def test_a_contender_computes_what_plain_python_does(name: str, contender: str, tmp_path: Path) -> None:
    sizes = SIZES[name][1]
    running = Running(CONTENDERS[contender], name, sizes, 3, tmp_path)
    try:
        digests = {running.answer(word, 120)[1] for word in ("first", "again")}
    except NoAnswerError as problem:
        pytest.fail(f"{problem}: {running.said()}")
    finally:
        running.end()
    assert digests == {plain(name, sizes)}


def test_a_restructured_strip_is_long_enough_to_be_tested(tmp_path: Path) -> None:
    running = Running(CONTENDERS["by_hand"], "ac", (1300,), 1, tmp_path)
    try:
        assert running.answer("first", 120)[1] == plain("ac", (1300,))
    finally:
        running.end()


def test_repetitions_take_turns_and_other_bits_are_told() -> None:
    options = SimpleNamespace(ranks=2, rounds=3, slow=10.0)
    names = ["sequential", "prange", "library"]
    found: dict[str, Any] = measured("mxm", (40,), names, options)
    assert [len(found[name]["times_s"]) for name in names] == [3, 3, 3]
    assert found["prange"]["off"] == 0
    assert 0 < found["library"]["off"] < 1e-12
    assert "0.00" not in markdown({"mxm": {"sizes": (40,), "contenders": found}}).splitlines()[3]


def test_the_documents_show_the_figures_that_are_kept() -> None:
    record = json.loads((ROOT / KEPT).read_text(encoding="utf-8"))
    text = (ROOT / MEASURED).read_text(encoding="utf-8")
    assert measured_with(text, record) == text
    assert page(record) == (ROOT / "docs/peers.md").read_text(encoding="utf-8")


def test_a_contender_that_ends_is_a_problem_and_no_figure(tmp_path: Path) -> None:
    options = SimpleNamespace(ranks=2, rounds=1, slow=10.0)
    found = measured("trfd", (6,), ["sequential", "prange", "library"], options)
    assert found["library"]["problem"].startswith("ended")
    assert "median_s" not in found["library"]
    plot({"trfd": {"sizes": (6,), "contenders": found}}, tmp_path / "plot.svg")
    assert (tmp_path / "plot.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_this_projects_programs_have_the_clause_of_the_contender(tmp_path: Path) -> None:
    texts = {}
    for name in ("python", "as_written", "jit"):
        words = command(CONTENDERS[name], "mxm", (8,), 2, tmp_path)
        texts[name] = (tmp_path / "mxm.py").read_text(encoding="utf-8")
        assert words[1:6] == ["-m", "dlbc", "run", "-n", "2"]
    assert [texts[name].count("jit") for name in texts] == [0, 1, 1]
    assert "jit(as_written)" in texts["as_written"]


def test_threads_are_as_many_as_ranks_in_one_process_and_one_in_each_of_several(tmp_path: Path) -> None:
    found = {name: environment(each, 4, tmp_path)["NUMBA_NUM_THREADS"] for name, each in CONTENDERS.items()}
    assert {name for name, threads in found.items() if threads == "4"} == {
        *("sequential", "plain", "by_hand", "prange", "prange_tbb", "prange_by_hand"),
        *("pythran_strict", "pythran", "library"),
    }
    assert not missing(CONTENDERS["mpi4py"])
