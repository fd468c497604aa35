"""Every code block of the documentation is run, generated pages are current, all are in the navigation."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from dlbrt.contract import ENVIRONMENT

from dlbc.cli import _COMMANDS as COMMANDS
from dlbc.parse.read_clauses import CLAUSES, ITERATE_KEYS
from dlbc.pipeline import check
from dlbc.source import Source
from tests.support.blocks import ROOT, Page, PageFolder, matches, read_blocks
from tests.support.documents import GENERATED, TEXTS
from tests.support.tier import part

#: What `tests/dlbc/test_rules.py` holds is written by the compiler itself.
PAGES = [page.name for page in Page.all() if page.name != "docs/diagnostics.md"]
FIRST = ("README.md", "docs/by_hand.md", "docs/jupyter.md")

#: How many blocks of a page are not run; the reason stands in the block's mark. Add to this with reluctance.
UNRUN = {
    "README.md": 1,
    "docs/CONTRIBUTING.md": 2,
    "docs/clusters.md": 6,
    "docs/dead-ranks.md": 2,
    "docs/lab.md": 3,
    "docs/papers.md": 1,
    "docs/project.md": 2,
    "docs/remarks.md": 4,
    "docs/running.md": 4,
    "docs/tutorial.md": 2,
}


def update(page: Page, folder: PageFolder) -> None:
    """Writes the outputs found into the page, as `--update-golden` asks for."""
    Path(ROOT, page.name).write_text(page.with_outputs(folder.printed), encoding="utf-8")


@pytest.mark.parametrize("name", [n for n in PAGES if n in {*FIRST, *part(PAGES, 6)}])
def test_the_blocks_of_a_page_do_what_it_says(
    name: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    page, folder = Page(name), PageFolder(tmp_path)
    folder.run(read_blocks(page.text))
    if request.config.getoption("--update-golden"):
        update(page, folder)
        assert len(folder.wrong) == len(folder.printed), f"{name}, " + "\n".join(folder.wrong)
    else:
        assert not folder.wrong, f"{name}, " + "\n".join(folder.wrong)


def test_blocks_that_are_not_run_are_those_counted_here() -> None:
    blocks = [(name, block) for name in PAGES for block in read_blocks(Page(name).text)]
    unrun = [(name, block) for name, block in blocks if "unrun" in block.marks]
    assert Counter(name for name, _ in unrun) == UNRUN
    assert [(name, block.line) for name, block in unrun if not block.marks["unrun"].strip()] == []
    assert len(blocks) > 5 * len(unrun)


def test_no_block_is_written_in_a_way_that_is_not_read() -> None:
    """Neither by indentation nor without a language; what ARCHITECTURE indents is no code."""
    for name in set(PAGES) - {"ARCHITECTURE.md"}:
        text = Page(name).text
        fences = re.findall(r"^ *```", text, re.MULTILINE)
        assert len(fences) == 2 * len(read_blocks(text)), name
        lines = text.split("\n")
        indented = [k for k, line in enumerate(lines) if line.startswith("    ") and not lines[k - 1].strip()]
        assert [k + 1 for k in indented if lines[k].strip()] == [], name


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_current(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert GENERATED[name](text) == text, "run python -m tests.support.document"


def test_the_words_of_generated_pages_are_of_what_exists() -> None:
    assert tuple(TEXTS["clauses"]) == CLAUSES
    assert tuple(TEXTS["iterate"]) == ITERATE_KEYS
    assert TEXTS["options"].keys() == ENVIRONMENT.keys()
    assert TEXTS["pages"].keys() <= COMMANDS.keys()


@pytest.mark.parametrize("written", [text for text, _ in TEXTS["clauses"].values()])
def test_clauses_are_written_as_the_parser_takes_them(written: str) -> None:
    """What is said of the loop, which has none of these names, does not matter."""
    text = f"# dlb: parallel, {written}\nfor i in range(3):\n    pass\n"
    codes = {found.code for found in check(Source("program.py", text.encode(), text))}
    assert not codes & {"DLB101", "DLB107", "DLB111", "DLB113", "DLB114", "DLB124"}


def test_every_page_is_in_the_navigation_once() -> None:
    configuration = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    listed = re.findall(r"^ +- (?:[^:\n]+: )?([\w-]+\.md)$", configuration.split("\nnav:\n")[1], re.MULTILINE)
    pages = [Path(name).relative_to("docs").as_posix() for name in PAGES if name.startswith("docs/")]
    assert sorted(listed) == sorted([*pages, "diagnostics.md", "index.md", "architecture.md", "changelog.md"])


def test_links_between_pages_lead_to_pages_and_headings() -> None:
    """Within the checkout; the site's own check is in `tests/site`."""
    missing = []
    for name in PAGES:
        for link in re.findall(r"\]\(([^)\s]+)\)", Page(name).text):
            if not re.match(r"\w+:|#", link):
                target = Path(ROOT, name).parent / link.partition("#")[0]
                missing += [] if target.exists() else [(name, link)]
    assert missing == []


WRONG = """\
```sh
echo one; echo two
```

```text
one
three
```

```text
printed by nothing
```

```python in="samples/mxm.py"
nothing of it
```

```sh
false
```

```python title="unused.py"
```

```yaml
a: 1
```
"""


def test_what_is_wrong_on_a_page_is_found(tmp_path: Path) -> None:
    folder = PageFolder(tmp_path)
    folder.run(read_blocks(WRONG))
    lines = [int(found[1]) for text in folder.wrong if (found := re.match(r"line (\d+): ", text))]
    assert lines == [5, 10, 14, 18, 25]
    assert folder.wrong[-1] == "no command uses unused.py"
    [(block, printed)] = folder.printed
    assert (block.line, printed) == (5, "one\ntwo\n")


@pytest.mark.parametrize(
    ("expected", "found", "same"),
    [
        ("a ... c\n", "a b\nb c\n", True),
        ("a ... c\n", "a b\n", False),
        ("a.c\n", "abc\n", False),
        ("", "x", False),
    ],
)
def test_three_dots_stand_for_any_text(expected: str, found: str, same: bool) -> None:
    assert matches(expected, found) is same


def test_marks_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="line 1: expected marks"):
        read_blocks("```sh {.x}\ntrue\n```\n")
