"""Cases: programs with the emitted file beside them, and programs with the diagnostics they meet.

``pytest --update-golden`` writes the emitted files anew, to be reviewed in the diff.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from dlbrt.observe.linemap import unwrapped

from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import has_errors, render
from dlbc.emit.seal import is_unedited
from dlbc.parse.read_source import read_source
from dlbc.pipeline import check, transform
from dlbc.source import Source
from tests.dlbc.conftest import CASES
from tests.support.document import EXPECT, EXPECT_STRICT

ACCEPT = sorted((CASES / "accept").glob("*.py"))
REFUSE = sorted((CASES / "refuse").glob("*.py"))

#: Met on the command line, or by files that are no text: tested with the commands.
NOT_IN_A_SOURCE = frozenset(
    {
        "DLB001",
        "DLB002",
        "DLB003",
        "DLB008",
        "DLB009",
        "DLB010",
        "DLB011",
        "DLB012",
        "DLB013",
        "DLB015",
        "DLB016",
        "DLB017",
        "DLB018",
        "DLB019",
        "DLB020",
        "DLB021",
        "DLB022",
        "DLB023",
        "DLB507",  # it takes two files: tested with its pass
        "DLB327",  # no program is known to meet it: tested with its pass
    }
)


@cache
def emitted(path: Path) -> tuple[Source, bytes]:
    source, problems = read_source(str(path))
    result = transform(source)
    assert not problems
    assert result.text is not None, "\n".join(render(d, source) for d in result.diagnostics)
    return source, result.text


def text_lines(data: bytes, encoding: str) -> list[str]:
    return data.decode(encoding).replace("\r\n", "\n").split("\n")


@pytest.mark.parametrize("path", ACCEPT, ids=lambda path: path.stem)
def test_emitted_file(path: Path, update_golden: bool) -> None:
    _, text = emitted(path)
    golden = path.with_suffix(".golden")
    if update_golden:
        golden.write_bytes(text)
    assert text == golden.read_bytes(), f"{golden.name} differs; review with --update-golden"


@pytest.mark.parametrize("path", ACCEPT, ids=lambda path: path.stem)
def test_emitted_file_is_sealed_python(path: Path) -> None:
    source, text = emitted(path)
    compile(text, str(path), "exec")
    assert is_unedited(text)
    assert text.endswith(b"\n") == source.data.endswith(b"\n")
    assert (b"\r\n" in text) == (b"\r\n" in source.data)
    assert text.count(b"\n") == text.count(b"\r\n") or b"\r\n" not in source.data


@pytest.mark.parametrize("path", ACCEPT, ids=lambda path: path.stem)
def test_mapped_lines_are_the_same_text(path: Path) -> None:
    source, text = emitted(path)
    lines = text_lines(text, source.encoding)
    mapped = line_map(lines)
    loops = {int(n) for n in re.findall(rb"(?m)^# dlbc: loop \S+=(\d+) \S+\r?$", text)}
    headers = {line for start in loops for line in range(start, start + 4)}
    headers |= {int(n) for n in re.findall(rb"(?m)^.*\) as routine\w*:  # \S+:(\d+)\r?$", text)}
    assert mapped
    for line, origin in mapped.items():
        same = as_written(lines[line - 1]) == source.line(origin).strip()
        assert same or origin in headers, (line, origin)


def as_written(line: str) -> str:
    """The line without what the places of a routine are wrapped in; ``{u[0]=}`` as it was."""
    text = re.sub(r"routine(?:_\d+)?\.write\([\w.]+\); ", "", line.strip())
    text = unwrapped(text.encode("utf-8", "surrogateescape"))[0].decode("utf-8", "surrogateescape")
    return re.sub(r"([\w.\[\]]+ ?= ?)\{[\w.\[\]]+!r\}", r"{\1}", text).replace("_Solver__", "__")


@pytest.mark.parametrize("path", ACCEPT, ids=lambda path: path.stem)
def test_every_line_of_code_comes_from_somewhere(path: Path) -> None:
    source, text = emitted(path)
    missing = set(range(1, len(source.lines) + 1)) - set(line_map(text_lines(text, source.encoding)).values())
    left = [source.line(n).strip() for n in sorted(missing)]
    assert not [text for text in left if text and not text.startswith(("#", "else:", "\f", '"""Tabs'))]


def line_map(lines: list[str]) -> dict[int, int]:
    [runs] = [line for line in lines if line.startswith("# dlbc: lines ")]
    found = {}
    for first, last, origin in re.findall(r"(\d+)(?:-(\d+))?=(\d+)", runs):
        for line in range(int(first), int(last or first) + 1):
            found[line] = int(origin) + line - int(first)
    return found


@pytest.mark.parametrize("path", REFUSE, ids=lambda path: path.stem)
def test_refused(path: Path) -> None:
    source, problems = read_source(str(path))
    mark = next(mark for mark in (EXPECT, EXPECT_STRICT) if source.line(1).startswith(mark))
    expected = source.line(1).removeprefix(mark).split(", ")
    strict = mark == EXPECT_STRICT
    found = problems or check(source, strict=strict)
    assert [f"{d.code} {d.place.line}:{d.place.column}" for d in found] == expected
    assert all(render(d, source) for d in found)
    assert not has_errors(found) or transform(source, strict=strict).text is None


def test_every_code_has_a_case() -> None:
    shown = {code for path in REFUSE for code in re.findall(r"DLB\d{3}", path.read_text().partition("\n")[0])}
    assert sorted(set(CATALOGUE) - shown - NOT_IN_A_SOURCE) == []
    assert not shown - set(CATALOGUE)
