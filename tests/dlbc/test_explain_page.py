"""`dlbc explain --html`: one page, well formed, all text of the file escaped, no other file overwritten."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

from dlbc.cli import main
from dlbc.commands.explain.file import explain_file
from dlbc.commands.explain.page import page
from dlbc.commands.explain.remarks import RemarkFilter
from dlbc.diagnostics.remark_codes import RemarkKind
from dlbc.pipeline import explain, propose
from dlbc.source import Source
from tests.dlbc.report.test_page import HOSTILE, Elements
from tests.dlbc.test_remarks import PROGRAM, explained


@pytest.fixture(scope="module")
def text() -> str:
    return page([explained(PROGRAM)])


def test_the_page_is_well_formed_and_needs_no_network(text: str) -> None:
    elements = Elements(text)
    assert elements.open == []
    tags = [tag for tag, _ in elements.found]
    assert tags.count("h1") == tags.count("main") == 1
    levels = [int(tag[1]) for tag in tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    ids = [attributes["id"] for _, attributes in elements.found if "id" in attributes]
    assert len(ids) == len(set(ids))
    links = {attributes["href"] for _, attributes in elements.found if "href" in attributes}
    assert {link[:1] for link in links if link} == {"#"}
    assert {link[1:] for link in links if link} <= set(ids)
    assert not re.findall(r"https?:|@import|url\(|fetch\(|XMLHttp|import\(|<link|<img", text)


def test_the_page_suits_a_phone_a_keyboard_and_a_screen_reader(text: str) -> None:
    found = Elements(text).found
    assert ("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}) in found
    buttons = [attributes for tag, attributes in found if tag == "button"]
    assert [b["data-kind"] for b in buttons] == [kind.value for kind in RemarkKind]
    assert all(b["type"] == "button" and b["aria-pressed"] == "true" for b in buttons)
    scrolled = [attributes for _, attributes in found if attributes.get("class") == "source"]
    assert all(a["tabindex"] == "0" and a["aria-label"] for a in scrolled)
    assert all(word in text for word in ("prefers-color-scheme: dark", "@media print", "max-width: 60rem"))


def test_every_line_and_every_remark_is_there_once(text: str) -> None:
    lines = re.findall(r'class="line" id="f1l(\d+)"', text)
    assert list(map(int, lines)) == list(range(1, len(PROGRAM.splitlines()) + 1))
    codes = re.findall(r'<span class="place">(DLB\d{3}) ', text)
    assert sorted(codes) == sorted(r.code for r in explained(PROGRAM).remarks)


def test_remarks_can_be_left_out() -> None:
    wanted = RemarkFilter(frozenset({RemarkKind.MISSED}))
    text = page([explained(PROGRAM)], wanted)
    assert set(re.findall(r'<li class="(\w+)"', text)) == {"missed"}


def test_what_the_file_says_is_escaped() -> None:
    program = (
        f"label = {HOSTILE!r}\n"
        "A = [0] * 9\nfrom lib import f\n"
        f"# {HOSTILE}\n"
        "# dlb: parallel, cost(len('</code><script>alert(2)</script>') + i)\n"
        f"for i in range(9):  # {HOSTILE} \x1b[31m\n"
        f"    A[i] = f({HOSTILE!r}, A[i])\n"
        "# dlb: parallel\nfor i in range(9):\n    A[i] = A[i]\n"
    )
    source = Source(f"{HOSTILE}\x1b.py", program.encode(), program)
    text = page([explain_file(source, explain(source), None, propose(source))])
    assert HOSTILE not in text
    assert "<script>alert" not in text
    assert "\x1b" not in text
    assert text.count("<script") == 1
    elements = Elements(text)
    assert elements.open == []
    plain = program.replace(HOSTILE, "").replace("</code><script>alert(2)</script>", "x")
    source = Source("plain.py", plain.encode(), plain)
    same = page([explain_file(source, explain(source), None, propose(source))])
    tags = [tag for tag, _ in elements.found]
    assert [t for t in tags if t != "code"] == [t for t, _ in Elements(same).found if t != "code"]


def test_the_page_is_written_beside_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.py", "b.py"):
        Path(name).write_text(PROGRAM)
    main(["explain", "--html", "a.py"])
    assert capsys.readouterr().out == "a.html\n"
    main(["explain", "--html", "a.py", "b.py"])
    assert capsys.readouterr().out == "explain.html\n"
    assert Path("explain.html").read_text().count("<h2") == 2
    main(["explain", "--html", "-o", "x.html", "a.py"])
    assert Path("x.html").read_text() == Path("a.html").read_text()
    capsys.readouterr()
    main(["explain", "--html", "-o", "-", "a.py"])
    assert capsys.readouterr().out == Path("a.html").read_text()


def test_a_page_of_another_kind_is_not_overwritten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.py").write_text(PROGRAM)
    Path("a.html").write_text("<p>mine")
    assert main(["explain", "--html", "a.py"]) == 2
    assert "exists, and is no page of dlbc explain" in capsys.readouterr().err
    assert Path("a.html").read_text() == "<p>mine"
    assert main(["explain", "--html", "-o", "no/such/place.html", "a.py"]) == 2
    assert main(["explain", "-o", "a.html", "a.py"]) == 2


def test_a_notebook_has_the_lines_of_its_cells() -> None:
    text = "A = [0] * 4\n# dlb: parallel\nfor i in range(4):\n    A[i] = i\n"
    source = Source("book.ipynb", text.encode(), text, cells=(1, 2))
    made = page([explain_file(source, explain(source))])
    assert re.findall(r'<span class="number">([\d:]+)</span>', made) == ["1:1", "2:1", "2:2", "2:3"]
