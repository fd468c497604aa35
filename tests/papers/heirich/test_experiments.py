"""The experiments after Heirich and Taylor: each prints its table, at small sizes, and draws its figure."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PIL import Image

from tests.samples.test_samples import SAMPLES
from tests.support.mpi import Completed, run_sequential

HEIRICH = SAMPLES / "papers" / "heirich"
PAGE = SAMPLES.parent / "docs" / "diffusion.md"
NAMES = sorted(path.stem for path in HEIRICH.glob("*.py") if "__main__" in path.read_text(encoding="utf-8"))


@dataclass(frozen=True)
class Row:
    """What a figure is of, as printed in the paper, as recomputed, as found."""

    what: str
    paper: str
    recomputed: str
    here: str

    @property
    def number(self) -> float:
        """The first number that was found."""
        return float(self.here.split()[0].rstrip(","))


@dataclass(frozen=True)
class Desk:
    """Where experiments are made, each once, and their figures lie."""

    place: Path
    made: dict[str, Completed] = field(default_factory=dict)

    def run(self, name: str, *options: str) -> Completed:
        """With matplotlib's own files there, too: it makes some at its first use."""
        command = [sys.executable, "-m", f"papers.heirich.{name}", "--small", *options]
        env = {"MPLCONFIGDIR": str(self.place), "PYTHONPATH": str(SAMPLES)}
        return run_sequential(command, cwd=self.place, env=env)

    def table(self, name: str) -> list[Row]:
        if name not in self.made:
            self.made[name] = self.run(name, "--plot", f"{name}.png")
        done = self.made[name]
        assert (done.status, done.stderr) == (0, "")
        _, heading, *lines = done.stdout.decode().splitlines()
        assert heading.split() == ["paper", "recomputed", "here"]
        return [Row(*re.split(r"\s{2,}", line.strip())) for line in lines]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    return Desk(tmp_path_factory.mktemp("heirich"))


@pytest.mark.parametrize("name", NAMES)
def test_each_prints_a_table_and_draws_its_figure(name: str, desk: Desk) -> None:
    assert len(desk.table(name)) >= 4
    with Image.open(desk.place / f"{name}.png") as picture:
        assert picture.format == "PNG"
        assert min(picture.size) > 300


def test_the_page_tells_of_each_and_shows_what_one_prints(desk: Desk) -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert sorted(re.findall(r"^\| `(\w+)\.py`", page, re.MULTILINE)) == NAMES
    block = re.search(r"```text\n(.*?)```", page, re.DOTALL)
    assert block is not None
    desk.table("point")
    assert desk.made["point"].stdout.decode() == block[1]


def test_a_figure_that_cannot_be_written_is_refused_before_anything_is_computed(desk: Desk) -> None:
    done = desk.run("point", "--plot", "figure.words")
    assert done.status == 2
    assert done.stdout == b""
    assert "--plot: expected a file named as one of" in done.stderr


def test_a_point_on_512_processors_falls_as_recomputed(desk: Desk) -> None:
    rows = desk.table("point")
    assert len(rows) == 6
    assert [row.here for row in rows] == [row.recomputed for row in rows]
    assert [row.here for row in rows[2:4]] == ["999.54", "199.23"]


def test_tau_is_as_recomputed_where_the_paper_prints_something_else(desk: Desk) -> None:
    rows = desk.table("tau")
    assert len(rows) == 3 * 4 + 2
    assert [row.here for row in rows] == [row.recomputed for row in rows]
    assert not [row for row in rows if row.paper in row.here.split(", ")]
    assert rows[5].paper == "213"
    assert rows[5].here == "298, 169"


def test_injected_loads_are_spread_faster_than_they_come(desk: Desk) -> None:
    injected, exchanged, quiet, conserved = desk.table("injection")
    assert 60_000 > injected.number > exchanged.number > 20 * quiet.number
    assert conserved.here == "yes"


def test_the_more_injections_are_drawn_the_more_are_told(desk: Desk) -> None:
    done = desk.run("injection", "--seeds", "2")
    lines = [line.split() for line in done.stdout.decode().splitlines()[2:]]
    assert len(lines) == 8
    assert lines[0][-1] != lines[4][-1]


def test_a_thicker_shock_lasts_longer(desk: Desk) -> None:
    """Of a thin one, high spatial frequencies are most, which go first."""
    rows = desk.table("bow_shock")
    steps = [row.number for row in rows if "to a tenth" in row.what]
    assert 10 < steps[0] < steps[1] < steps[2]
    assert all(a.number > b.number > 5 for a, b in zip(rows[1::4], rows[2::4], strict=True))
    assert {row.here for row in rows if row.what == "load lost"} == {"0"}


def test_a_part_is_balanced_and_nothing_changes_elsewhere(desk: Desk) -> None:
    taking, tenth, left, changed, lost = desk.table("partial")
    assert taking.here == "512 of 64000"
    assert tenth.number < 100
    assert left.number < 0.1
    assert (changed.here, lost.here) == ("0", "0")


def test_large_steps_save_inner_iterations_as_their_gains_say(desk: Desk) -> None:
    rows = desk.table("large_steps")
    plain, *large = (row for row in rows if row.what.startswith("8^3, "))
    assert plain.here == "459, 153"
    assert min(row.number for row in large) < plain.number / 5
    simulated = [row for row in rows if "simulated" in row.what]
    assert len(simulated) == 4
    for row in simulated:
        assert row.number <= float(row.recomputed.split()[1].rstrip(","))


def test_an_unstructured_grid_becomes_whole_parts_with_short_borders(desk: Desk) -> None:
    _, furthest, owed, cut, cubes, times, whole = desk.table("unstructured")
    assert furthest.number < 5
    assert owed.here == "0"
    assert times.number == pytest.approx(cut.number / cubes.number, abs=0.005)
    assert times.number < 1.15
    assert whole.here == "27 of 27"
