"""No input, however broken, brings a traceback: arbitrary annotations, arbitrary bytes."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from dlbc.diagnostics.diagnostic import render
from dlbc.parse.read_clauses import CLAUSES
from dlbc.parse.read_source import decode_source
from dlbc.pipeline import TransformResult, transform

WORDS = [
    *CLAUSES,
    "parallel",
    "iterate",
    "model",
    "every",
    "A",
    "t",
    "axis",
    "group",
    "order",
    "any",
    "GDDLB",
]
PIECES = st.sampled_from(
    [*WORDS, "(", ")", ",", ", ", "=", "1", "-", "'", "[", "*", "**", ".", " ", "#", "\\", ":"]
)
ANNOTATIONS = st.one_of(
    st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]), max_size=60),
    st.lists(PIECES, max_size=20).map("".join),
    st.lists(PIECES, max_size=20).map(lambda pieces: "parallel, " + "".join(pieces)),
)


def result_of(data: bytes) -> TransformResult:
    source, problems = decode_source("fuzz.py", data)
    if problems:
        assert all(render(d, source).startswith("fuzz.py") for d in problems)
        return TransformResult(None, problems)
    result = transform(source)
    assert all(d.code != "DLB008" for d in result.diagnostics), result.diagnostics
    assert all(render(d, source).startswith("fuzz.py") for d in result.diagnostics)
    return result


@settings(max_examples=300, deadline=None)
@given(ANNOTATIONS, ANNOTATIONS)
def test_any_annotation(first: str, second: str) -> None:
    text = f"A = [0] * 3\n# dlb:{first}\n# dlb:{second}\nfor i in range(3):\n    t = i\n    A[i] = t\n"
    result = result_of(text.encode())
    assert result.text is not None or result.diagnostics


@settings(max_examples=150, deadline=None)
@given(
    st.one_of(st.binary(max_size=80), st.text(max_size=80).map(lambda t: t.encode("utf-8", "surrogatepass")))
)
def test_any_bytes(data: bytes) -> None:
    for before in (b"", b"\xef\xbb\xbf", b"# coding: latin-1\n# dlb: parallel\nfor i in range(3): pass\n"):
        result = result_of(before + data)
        assert result.text is not None or result.diagnostics


@settings(max_examples=100, deadline=None)
@given(st.text(st.sampled_from("abc\f\t ;:=#\"'\\\n\r()[]{}"), max_size=60))
def test_any_text_around_a_loop(text: str) -> None:
    loop = "\n# dlb: parallel\nfor i in range(3):\n\tb = i\n"
    for whole in (text + loop, loop + text):
        result = result_of(whole.encode())
        assert result.text is not None or result.diagnostics
