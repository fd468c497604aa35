"""docs/papers.md: the catalogue of numbers, what the driver computes of it, and the page that it writes."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pytest
from papers import reproduce
from papers.catalogue import PAPERS, Number, Verdict, agree, numbers
from papers.findings import Chapter, Extent, Value
from papers.markdown import document

from tests.support.mpi import Completed, run_sequential

DOCS = Path(__file__).resolve().parents[2] / "docs"
DRIVER = DOCS.parent / "samples" / "papers" / "reproduce.py"
EVERY_PAPER = pytest.mark.parametrize("paper", PAPERS)


def kept(paper: str) -> Chapter:
    found = reproduce.kept(DOCS / "papers", paper)
    assert found is not None, f"docs/papers/{paper}.json is missing: python samples/papers/reproduce.py"
    return found


def listed(paper: str) -> list[Number]:
    return [number for number in numbers().values() if number.paper == paper]


def check(number: Number, value: Value) -> None:
    """A value found is the recomputed one, and the verdict is what comparing it with the print says."""
    if number.recomputed and not number.free:
        assert agree(number.recomputed, value.found) is not False, (
            number.name,
            number.recomputed,
            value.found,
        )
    same = agree(number.printed, value.found) if value.found else None
    if same is not None:
        assert same is (number.verdict is Verdict.REPRODUCED), (number.name, number.printed, value.found)


@pytest.mark.parametrize(
    ("printed", "found", "same"),
    [
        ("28.56", "28.558", True), ("999", "999.54", True), ("0.93", "0.940", False), (".69", ".679", False),
        (".9 .95", "0.900 0.9501", True), (".9 .95", "0.9", False), ("2e2", "199.23", True),
        ("1494.0..1507.9", "1507.46", True), ("170", "131..160", False), ("0", "-1.2", False),
        ("bars", "3", None), ("", "3", None), ("-1", "-1", True), ("8", "7", False), ("3e2", "307", True),
    ],
)  # fmt: skip
def test_numbers_agree_rounded_or_cut_off_to_the_digits_printed(
    printed: str, found: str, same: bool | None
) -> None:
    assert agree(printed, found) is same


def test_a_verdict_other_than_reproduced_has_its_reason() -> None:
    for number in numbers().values():
        if number.verdict in (Verdict.MISPRINT, Verdict.NOT_REPRODUCED):
            assert number.why, number.name
        assert bool(number.printed) is (number.verdict is not Verdict.NOT_PRINTED), number.name


def test_the_catalogue_does_not_contradict_itself() -> None:
    for number in numbers().values():
        if number.recomputed and not number.free:
            check(number, Value(number.name, number.recomputed))


@EVERY_PAPER
def test_what_is_kept_has_every_number_that_can_be_computed(paper: str) -> None:
    values = {value.number: value for value in kept(paper).values()}
    for number in listed(paper):
        if number.recomputed:
            assert values[number.name].found, number.name
        if number.name in values:
            check(number, values[number.name])


@EVERY_PAPER
def test_the_driver_finds_again_what_is_kept(paper: str) -> None:
    """In quick mode, where sizes are the same; what is free may change with the strategies of the project."""
    before = kept(paper)
    found = reproduce.chapter(paper, Extent(quick=True), before)
    known = {value.number: value for value in before.values()}
    values = list(found.values())
    assert len(values) > len(listed(paper)) / 2
    for value in values:
        number = numbers()[value.number]
        check(number, value)
        if not number.free:
            assert value == known[value.number]


def test_the_page_is_what_is_kept_and_has_every_number_with_its_verdict() -> None:
    page = (DOCS / "papers.md").read_text(encoding="utf-8")
    assert page == document([kept(paper) for paper in PAPERS])
    rows = [line for line in page.splitlines() if line.startswith("|")]
    for number in numbers().values():
        what = f"{number.place}: {number.what}".replace("|", "\\|")
        (row,) = [line for line in rows if line.startswith((f"| {what} |", f"| {what} (open: "))]
        assert number.verdict.value in row, number.name
        assert number.why.replace("|", "\\|") in row, number.name


def test_every_plot_is_drawn_and_no_other() -> None:
    plots = {plot.name for paper in PAPERS for plot in kept(paper).plots()}
    assert {path.stem for path in (DOCS / "papers").glob("*.svg")} == plots
    assert all(
        (DOCS / "papers" / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml") for name in plots
    )


@EVERY_PAPER
def test_findings_are_kept_without_loss(paper: str) -> None:
    found = kept(paper)
    assert Chapter.of_json(found.as_json()) == found
    assert (DOCS / "papers" / f"{paper}.json").read_text(encoding="utf-8") == found.as_json()


def drive(*arguments: str, before: str = "") -> Completed:
    """The driver in a process of its own, after a statement."""
    env = {"MPLCONFIGDIR": tempfile.gettempdir()}  # which matplotlib writes to at its first use
    if not before:
        return run_sequential([sys.executable, str(DRIVER), *arguments], 180, env=env)
    run = "runpy.run_path(sys.argv[0], run_name='__main__')"
    start = f"{before}; import runpy, sys; sys.argv = sys.argv[1:]; {run}"
    return run_sequential([sys.executable, "-c", start, str(DRIVER), *arguments], 180, env=env)


def test_quick_prints_a_table_for_each_paper() -> None:
    done = drive("--quick")
    assert (done.status, done.stderr) == (0, "")
    said = done.stdout.decode()
    assert all(kept(paper).title in said for paper in PAPERS)
    assert "ciegis.rows_6" in said


def test_the_page_is_written_again_from_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    for paper in PAPERS:
        (folder / f"{paper}.json").write_bytes((DOCS / "papers" / f"{paper}.json").read_bytes())
    done = drive("--kept", "--output", str(tmp_path))
    assert (done.status, done.stderr) == (0, "")
    assert (tmp_path / "papers.md").read_bytes() == (DOCS / "papers.md").read_bytes()
    assert {path.name for path in folder.iterdir()} == {path.name for path in (DOCS / "papers").iterdir()}


@pytest.mark.parametrize(
    ("arguments", "before", "told"),
    [
        (
            ("--kept",),
            "import sys; sys.modules['matplotlib'] = None",
            "plots need matplotlib: install the project",
        ),
        (("--only", "knuth"), "", "expected some of zaki,swartz,ciegis,clarke,heirich, found 'knuth'"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    arguments: tuple[str, ...], before: str, told: str, tmp_path: Path
) -> None:
    done = drive(*arguments, "--output", str(tmp_path), before=before)
    assert done.status == 2
    assert done.stdout == b""
    assert told in done.stderr.splitlines()[-1]
    assert not list(tmp_path.iterdir())


def test_findings_that_are_none_are_refused(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "zaki.json").write_text("[]\n", encoding="utf-8")
    done = drive("--kept", "--no-plots", "--output", str(tmp_path))
    assert done.status == 2
    assert "zaki.json: expected the findings of a paper" in done.stderr
    assert len(done.stderr.splitlines()) == 1
