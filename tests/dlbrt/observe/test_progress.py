"""Lines of progress: what they show of a loop, and that text comes between them."""

from __future__ import annotations

import pytest
from dlbrt.observe.progress import LoopProgress, ProgressLines
from tqdm import tqdm

from tests.support.screen import screen


def line(loop: LoopProgress, now: float, width: int = 100) -> str:
    return loop.line(tqdm.format_meter, now, width)


def running(ranks: int = 2, n: int = 100) -> LoopProgress:
    loop = LoopProgress("prog.py:3", ranks)
    loop.begin(n, 0.0)
    return loop


def test_all_ranks_count_whoever_does_the_iterations() -> None:
    loop = running()
    loop.by_rank[0].done, loop.by_rank[1].done = 10, 40
    found = line(loop, 5.0)
    assert found.startswith("prog.py:3:  50%|")
    assert "50/100 [00:05<00:05, 10.00it/s" in found


def test_iterations_that_are_done_again_count_once() -> None:
    loop = running()
    loop.by_rank[0].done, loop.by_rank[1].done = 80, 40
    assert "100/100" in line(loop, 5.0)


def test_balance_is_mean_over_maximum_of_the_parts_that_ranks_compute() -> None:
    loop = running()
    first, second = loop.by_rank
    first.compute_s, first.ended = 4.0, True
    second.compute_s, second.elapsed_s = 1.0, 2.0
    assert loop.balance(4.0) == pytest.approx(0.75)
    assert "balance 0.75" in line(loop, 4.0)


def test_a_rank_that_has_ended_is_idle_from_then_on() -> None:
    loop = running()
    first, second = loop.by_rank
    first.compute_s, first.ended = 8.0, True
    second.compute_s, second.elapsed_s, second.ended = 2.0, 2.0, True
    assert loop.balance(8.0) == pytest.approx(0.625)


def test_balance_is_not_shown_too_soon_nor_for_one_rank() -> None:
    loop = running()
    loop.by_rank[0].compute_s = loop.by_rank[0].elapsed_s = 0.5
    assert loop.balance(0.5) is None
    assert loop.balance(5.0) is None  # rank 0 alone computes
    assert "balance" not in line(loop, 5.0)


def test_a_long_run_has_a_bar_and_its_number() -> None:
    loop = running()
    loop.end([9.0, 9.0], 100, 10.0)
    loop.begin(50, 10.0)
    loop.by_rank[0].done = 25
    assert line(loop, 15.0).startswith("prog.py:3, run 2:  50%|")


def test_short_runs_are_counted_together() -> None:
    loop = LoopProgress("prog.py:3", 2)
    for run in range(10):
        loop.begin(20, run)
        loop.end([0.1, 0.1], 20, run + 0.1)
    loop.repeated(20, 0.1)
    assert line(loop, 20.0) == "prog.py:3, run 11: 220it [00:01, 200.00it/s]"


@pytest.mark.parametrize("width", [20, 40, 100])
def test_a_line_is_no_wider_than_the_terminal(width: int) -> None:
    assert len(line(running(), 5.0, width)) <= width


class Terminal:
    """A terminal, and lines that are drawn on it."""

    def __init__(self) -> None:
        self.text = ""
        self.lines = ProgressLines(self.write, lambda: 60, lambda n, total, *_, **o: f"{o['prefix']} {n}")

    def write(self, text: str) -> None:
        self.text += text

    def print(self, text: str) -> None:
        self.lines.clear()
        self.lines.within_line = not text.endswith("\n")
        self.write(text)

    def loop(self, name: str, seconds: float = 1.0) -> LoopProgress:
        loop = LoopProgress(name, 1)
        loop.begin(10, 0.0)
        self.lines.add(loop, 0.0)
        loop.end([seconds], 10, seconds)
        return loop


def test_text_stands_above_the_lines_however_often_they_are_drawn() -> None:
    terminal = Terminal()
    terminal.loop("a")
    terminal.lines.draw(1.0)
    terminal.print("first\n")
    terminal.lines.draw(1.0)
    terminal.loop("b")
    terminal.lines.draw(1.0)
    terminal.lines.draw(1.0)
    terminal.print("second\n")
    terminal.lines.close(1.0)
    assert screen(terminal.text) == ["first", "second", "a 10", "b 10", ""]


def test_a_line_that_the_program_has_begun_stays() -> None:
    terminal = Terminal()
    terminal.print("working ...")
    terminal.loop("a")
    terminal.lines.draw(1.0)
    terminal.print(" done\n")
    assert screen(terminal.text) == ["working ...", " done", ""]


def test_loops_that_take_no_time_have_no_line() -> None:
    terminal = Terminal()
    terminal.loop("short", seconds=0.01)
    terminal.lines.draw(1.0)
    terminal.lines.close(1.0)
    assert terminal.text == ""


def test_the_oldest_line_is_left_where_there_are_too_many() -> None:
    terminal = Terminal()
    for name in "abcdefg":
        terminal.loop(name)
        terminal.lines.draw(1.0)
    terminal.lines.close(1.0)
    assert screen(terminal.text) == [*(f"{name} 10" for name in "abcdefg"), ""]


def test_the_end_leaves_a_loop_once() -> None:
    terminal = Terminal()
    terminal.loop("a")
    terminal.lines.close(1.0)
    terminal.lines.close(1.0)
    assert screen(terminal.text) == ["a 10", ""]
