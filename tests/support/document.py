"""The page of diagnostics and the examples of `dlbc rules`, from the catalogue and the refuse cases.

``python -m tests.support.document`` writes both, and the pages of `tests.support.documents`. What stands
under a program is what dlbc says of it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from dlbc.commands.explain.file import explain_file
from dlbc.commands.explain.ranks import RankSpec
from dlbc.commands.rules import EXAMPLES, RANKS, Example, shortened
from dlbc.diagnostics.catalogue import CATALOGUE
from dlbc.diagnostics.diagnostic import render
from dlbc.diagnostics.remark_codes import REMARKS
from dlbc.pipeline import check, explain, propose
from dlbc.source import Source
from tests.support.documents import GENERATED

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "diagnostics.md"
EXAMPLES_FILE = ROOT / "dlbc" / "diagnostics" / EXAMPLES
CASES = ROOT / "tests" / "cases" / "refuse"
MENDED = ROOT / "tests" / "cases" / "mended"
REMARK_CASES = ROOT / "tests" / "cases" / "remarks"

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

#: Remarks that a program alone does not show: what brings them.
REMARK_COMMANDS = dict.fromkeys(
    ("DLB674", "DLB677"),
    "dlbc run -n 4 --stats run.json program.py && dlbc explain -n 4 --stats run.json program.py",
)

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
`dlbc rules DLB301` shows one with its example, and `dlbc check FILE` shows those that a program meets. Codes
from DLB600 on are those of [remarks](remarks.md).

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


def example_of(code: str) -> Example | None:
    """The example of a diagnostic: its case, with the program that mends it; or a command."""
    case = case_of(code)
    if case is None:
        return Example(command=COMMANDS[code]) if COMMANDS.get(code) else None
    mended = MENDED / f"{code}.py"
    text = mended.read_text(encoding="utf-8") if mended.exists() else ""
    return Example(case.text, case.strict, text)


def examples() -> str:
    """The file of examples, by code: of diagnostics, and of remarks."""
    found = {code: example_of(code) for code in sorted(CATALOGUE)} | remark_examples()
    fields = {
        code: {name: value for name, value in asdict(each).items() if value}
        for code, each in sorted(found.items())
        if each is not None
    }
    return json.dumps(fields, indent=1, ensure_ascii=False) + "\n"


@cache
def remark_examples() -> dict[str, Example | None]:
    """For each remark the shortest program of its cases that has it."""
    found: dict[str, Example | None] = {code: Example(command=c) for code, c in REMARK_COMMANDS.items()}
    programs = [path.read_text(encoding="utf-8") for path in sorted(REMARK_CASES.glob("*.py"))]
    for text in sorted(programs, key=len):
        source = Source("program.py", text.encode(), text)
        file = explain_file(source, explain(source), RankSpec(RANKS), propose(source))
        for remark in file.remarks:
            if remark.code in REMARKS:
                found.setdefault(remark.code, Example(text))
    return found


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
    case, example = case_of(code), example_of(code)
    if case is not None:
        option = ", with `--strict`" if case.strict else ""
        yield from ("", f"Example{option} ([{case.name}](../tests/cases/refuse/{case.name})):", "")
        yield from ("```python", shortened(case.text).rstrip("\n"), "```", "")
        yield from ("```text", *_said(case), "```")
        if example is not None and example.mended:
            yield from ("", "Mended:", "", "```python", example.mended.rstrip("\n"), "```")
    elif COMMANDS[code]:
        yield from ("", "Example:", "", "```sh", COMMANDS[code], "```")


def _said(case: Case) -> Iterator[str]:
    """What dlbc says of the program."""
    source = Source("program.py", case.text.encode(), case.text)
    for finding in check(source, strict=case.strict):
        yield render(finding, source)


def main() -> None:
    """Write the page and the examples, and the other pages that are generated."""
    PAGE.write_text(page(), encoding="utf-8")
    EXAMPLES_FILE.write_text(examples(), encoding="utf-8")
    for name, generate in GENERATED.items():
        file = ROOT / name
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        file.write_text(generate(text), encoding="utf-8")


if __name__ == "__main__":
    main()
