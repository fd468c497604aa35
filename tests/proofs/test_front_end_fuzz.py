"""No program, however broken, brings a traceback of the compiler, and what it emits is Python.

The programs are real ones with a few tokens or lines deleted, doubled, moved or replaced: most still parse,
and reach the passes with a shape that nobody wrote. The seeds are fixed; `tests/fuzz/run_atheris.py` goes on
from there.
"""

from __future__ import annotations

import ast
import warnings

import pytest

from dlbc.diagnostics.diagnostic import render
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import check, transform
from tests.fuzz.malformed_inputs import failures
from tests.proofs.broken_programs import PROGRAMS, broken
from tests.support.tier import is_full

CASES = 1000 if is_full() else 250
BATCH = 50

#: So many show how many parse: about 18 in 100, of 250 texts 13 to 23.
SAMPLE = 2000


def assert_accepted(text: str) -> None:
    """The promise, of one text; raises where it is broken."""
    assert_verdict(text.encode("utf-8", "surrogatepass"))


def assert_verdict(data: bytes) -> None:
    """The promise, of the bytes of a file; raises where it is broken."""
    source, problems = decode_source("broken.py", data)
    if problems:
        assert all(render(d, source).startswith("broken.py") for d in problems)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = transform(source)
    internal = [d.message for d in result.diagnostics if d.code == "DLB008"]
    assert not internal, f"{internal}\n{source.text}"
    assert all(render(d, source).startswith("broken.py") for d in result.diagnostics)
    assert result.text is not None or result.diagnostics
    if result.parallel:
        assert result.text is not None
        ast.parse(result.text)


@pytest.mark.parametrize("batch", range(CASES // BATCH))
@pytest.mark.filterwarnings("ignore")
def test_a_broken_program_gets_a_verdict(batch: int) -> None:
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        assert_accepted(broken(seed))


@pytest.mark.filterwarnings("ignore")
def test_checking_alone_finds_what_transforming_finds() -> None:
    for seed in range(0, CASES, 20):
        source, problems = decode_source("broken.py", broken(seed).encode("utf-8", "surrogatepass"))
        assert problems or [d for d in transform(source).diagnostics if d.code != "DLB009"] == list(
            check(source)
        )


def test_the_broken_programs_are_many_and_some_still_parse() -> None:
    texts = [broken(seed) for seed in range(SAMPLE)]
    assert len(PROGRAMS) >= 200
    assert len(set(texts)) >= SAMPLE * 0.95
    assert sum(_parses(text) for text in texts) >= SAMPLE * 0.15


def _parses(text: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text)
    except (SyntaxError, ValueError):
        return False
    return True


def test_malformed_inputs_get_a_verdict() -> None:
    assert list(failures(0, 1200 if is_full() else 150, limit=60)) == []


#: What malformed inputs have found, in the smallest form.
@pytest.mark.parametrize(
    ("data", "code"),
    [
        pytest.param(b"# coding: idna\nx = '\xc3\xa9'\n", "DLB003", id="a codec that replaces nothing"),
        pytest.param(
            b"# dlb: parallel, cost(0x" + b"f" * 5000 + b")\nfor i in range(3):\n    pass\n",
            "DLB024",
            id="an integer in an annotation that Python does not write out",
        ),
        pytest.param(
            "def f(u, ﬁx):\n    # dlb: iterate\n    for t in range(3):\n        # dlb: parallel\n"
            "        for i in range(3):\n            u[i] += 1\n        ﬁx(u)\n".encode(),
            "DLB130",
            id="a name that Python reads in other letters than it is written in",
        ),
        pytest.param(
            b"def f():\n    # dlb: iterate\n    for i in []:\n        if i:\n\\\n            x = 1\n"
            b"        y = 2\n    z = 3\n",
            "DLB009",
            id="an indentation behind a backslash that tokenize does not read",
        ),
    ],
)
def test_an_input_that_failed_once(data: bytes, code: str) -> None:
    assert_verdict(data)
    source, problems = decode_source("broken.py", data)
    assert code in [d.code for d in problems or check(source)]
