"""The page of diagnostics and the examples of `dlbc rules`, from the catalogue and the refuse cases.

``python -m tests.support.document`` writes both. What stands under a program is what dlbc says of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from dlbc.commands.rules import EXAMPLES
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import render
from dlbc.pipeline import check
from dlbc.source import Source

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "diagnostics.md"
EXAMPLES_FILE = ROOT / "dlbc" / "diagnostics" / EXAMPLES
CASES = ROOT / "tests" / "cases" / "refuse"

#: How the first line of a case begins: what it expects, and with which option.
EXPECT = "# expect: "
EXPECT_STRICT = "# expect --strict: "

#: Codes that no program shows: what brings them. An empty one has no example.
COMMANDS = {
    "DLB001": "dlbc check missing.py",
    "DLB002": "dlbc check picture.png",
    "DLB003": "printf '# coding: klingon\\n' > program.py && dlbc check program.py",
    "DLB008": "",
    "DLB009": "printf 'x = 1\\ry = 2\\n# dlb: parallel\\n' > program.py && dlbc check program.py",
    "DLB010": "echo 'x = 1' > program_dlb.py && dlbc transform program.py",
    "DLB011": "dlbc transform program.py && echo 'x = 1' >> program_dlb.py && dlbc transform program.py",
    "DLB012": "dlbc transform program.py -o program.py",
    "DLB013": "dlbc transform program.py -o no/such/directory/out.py",
    "DLB015": "PATH= dlbc run -n 2 program.py",
    "DLB016": "dlbc run -n 2 program.py",
    "DLB017": "echo '{}' > book.ipynb && dlbc check book.ipynb",
    "DLB018": "dlbc transform book.ipynb",
    "DLB019": "dlbc run -n 2 -m no_such_module",
    "DLB020": "mkdir sim && touch sim/__init__.py sim.py && echo 'import sim' > m.py && dlbc run -n 2 m.py",
    "DLB021": "touch fast.pyx && dlbc check fast.pyx",
    "DLB022": "dlbc run -n 2 main.py",
    "DLB023": "echo 'import program' > main.py && dlbc transform main.py",
    "DLB327": "",
    "DLB507": "echo 'import runpy; runpy.run_path(\"program.py\")' > main.py && dlbc check main.py",
}

#: A line of an example that is longer is cut.
_WIDEST = 200
_FAMILIES = {
    "0": "Files and commands",
    "1": "Annotations",
    "2": "Forms of loops",
    "3": "Dependences and variables",
    "4": "Effects and calls",
    "5": "The program around the loops",
}
_INTRODUCTION = """\
# Diagnostics

Every message of `dlbc` has a code that stays the same from version to version. An error stops the
transformation; a warning or a remark does not. Words in braces are filled in. `dlbc rules` lists the codes,
`dlbc rules DLB301` shows one, and `dlbc check FILE` shows those that a program meets.

This page is made by `python -m tests.support.document` from the catalogue and the cases in
[tests/cases/refuse](../tests/cases/refuse); what stands under a program is what `dlbc check` says of it.
"""


@dataclass(frozen=True, slots=True)
class Case:
    """A refuse case: the program without its first line, what is expected, whether under `--strict`."""

    name: str
    text: str
    codes: tuple[str, ...]
    strict: bool


def read_case(path: Path) -> Case:
    """The case of a file; ValueError where its first line does not say what is expected."""
    first, _, text = path.read_text(encoding="utf-8").partition("\n")
    for mark in (EXPECT, EXPECT_STRICT):
        if first.startswith(mark):
            codes = tuple(part.split()[0] for part in first.removeprefix(mark).split(", "))
            return Case(path.name, text, codes, mark == EXPECT_STRICT)
    raise ValueError(f"{path.name}: the first line expects nothing")


@cache
def cases() -> tuple[Case, ...]:
    """All cases, by name."""
    return tuple(read_case(path) for path in sorted(CASES.glob("*.py")))


def case_of(code: str) -> Case | None:
    """The case that shows the code best: with few others, and short."""
    showing = [case for case in cases() if code in case.codes]
    return min(showing, key=lambda case: (len(set(case.codes)), len(case.text)), default=None)


def examples() -> str:
    """The file of examples: code -> program, or command."""
    found = {code: COMMANDS.get(code, "") for code in sorted(CATALOGUE)}
    for code in found:
        case = case_of(code)
        if case is not None:
            found[code] = _shortened(case.text)
    return (
        json.dumps({code: text for code, text in found.items() if text}, indent=1, ensure_ascii=False) + "\n"
    )


def page() -> str:
    """The page, one section for each code."""
    return _INTRODUCTION + "".join(_family(digit, title) for digit, title in _FAMILIES.items())


def _family(digit: str, title: str) -> str:
    codes = sorted(code for code in CATALOGUE if code[3] == digit)
    return f"\n## {title}\n" + "".join("\n".join(["", *_section(code), ""]) for code in codes)


def _section(code: str) -> Iterator[str]:
    entry = CATALOGUE[code]
    yield from (f"### {code}", "", f"{entry.severity.value}: {entry.message}")
    for text in entry.helps:
        yield from ("", f"Help: {text}")
    case = case_of(code)
    if case is not None:
        option = ", with `--strict`" if case.strict else ""
        yield from ("", f"Example{option} ([{case.name}](../tests/cases/refuse/{case.name})):", "")
        yield from ("```python", _shortened(case.text).rstrip("\n"), "```", "")
        yield from ("```text", *_said(case), "```")
    elif COMMANDS[code]:
        yield from ("", "Example:", "", "```sh", COMMANDS[code], "```")


def _said(case: Case) -> Iterator[str]:
    """What dlbc says of the program."""
    source = Source("program.py", case.text.encode(), case.text)
    for finding in check(source, strict=case.strict):
        yield render(finding, source)


def _shortened(text: str) -> str:
    """The program with what is too long of its lines left out."""
    lines = text.split("\n")
    return "\n".join(line if len(line) <= _WIDEST else f"{line[: _WIDEST // 2]} ..." for line in lines)


def main() -> None:
    """Write the page and the examples."""
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
    EXAMPLES_FILE.write_text(examples(), encoding="utf-8")


if __name__ == "__main__":
    main()
