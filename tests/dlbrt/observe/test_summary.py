"""The summary of a run: what its lines say of where the time went, and when advice follows."""

from __future__ import annotations

import pytest
from dlbrt.contract import LOCAL
from dlbrt.observe.statistics import LoopRecord, RankFigures, RunStatistics
from dlbrt.observe.summary import SummarizedLoop, summarize


def loop(line: int, *runs: RunStatistics) -> SummarizedLoop:
    record = LoopRecord(line, f"sim.py:{line}", 2)
    for each in runs:
        record.add(each)
    return SummarizedLoop(record, "src/sim.py")


def shared(elapsed_s: float, *compute_s: float) -> RunStatistics:
    return RunStatistics("GDDLB", 8, elapsed_s, tuple(RankFigures(4, seconds) for seconds in compute_s))


def alone(elapsed_s: float, reason: str = "") -> RunStatistics:
    return RunStatistics(LOCAL, 8, elapsed_s, (RankFigures(8, elapsed_s), RankFigures()), reason=reason)


@pytest.mark.parametrize("loops", [[], [loop(4)]])
def test_nothing_was_run(loops: list[SummarizedLoop]) -> None:
    assert summarize(loops, 4, 0.25) == ["4 ranks, 0.25 s; no annotated loop was run"]


def test_all_is_well() -> None:
    loops = [loop(4, shared(5, 5, 4.5)), loop(9, shared(3, 3, 2.5), shared(3, 2, 3))]
    assert summarize(loops, 2, 11.83) == ["2 ranks, 11.8 s, 93 % of it in 2 parallel loops, balance 0.95"]


def test_one_rank() -> None:
    assert summarize([loop(4, alone(75))], 1, 123.4) == ["1 rank, 123 s, 61 % of it in 1 annotated loop"]


def test_what_ran_alone_for_a_reason_is_named_the_longest_first() -> None:
    loops = [
        loop(4, shared(8, 8, 8)),
        loop(9, alone(0.1, "a is b")),
        loop(12, shared(0.5, 0.5, 0.5), alone(0.2, "x"), alone(0.2, "memory is shared")),
    ]
    assert summarize(loops, 2, 9.0)[1:] == [
        "sim.py:12 (and 1 other loop) ran on rank 0 alone 2 of 3 times: memory is shared; "
        "see dlbc explain src/sim.py"
    ]
    only = summarize([loop(9, alone(0.1, "a is b"))], 2, 0.2)
    assert only == [
        "2 ranks, 0.2 s, none of it in parallel loops",
        "sim.py:9 ran on rank 0 alone: a is b; see dlbc explain src/sim.py",
    ]


def test_shares_that_are_uneven() -> None:
    [_, advice] = summarize([loop(4, shared(4, 4, 4)), loop(9, shared(5, 5, 1))], 2, 10)
    assert advice.startswith("ranks waited for each other most at sim.py:9 (balance 0.60); `--trace FILE`")
    assert len(summarize([loop(9, shared(0.05, 0.05, 0.01))], 2, 0.06)) == 1


def test_time_outside_of_parallel_loops() -> None:
    [_, advice] = summarize([loop(4, shared(2, 2, 2))], 2, 10)
    assert advice == "80 % of the time only rank 0 worked, which more ranks do not shorten"
    assert len(summarize([loop(4, shared(0.2, 0.2, 0.2))], 2, 1)) == 1


def test_loops_that_are_too_small() -> None:
    assert summarize([loop(4, alone(0.2)), loop(6, alone(0.1))], 2, 0.4) == [
        "2 ranks, 0.4 s, none of it in parallel loops",
        "75 % of the time rank 0 ran sim.py:4 and 1 other loop alone, which cost less than sharing; "
        "give each run more work",
    ]
    [_, advice] = summarize(
        [loop(4, shared(0.1, 0.1, 0.1), alone(2)), loop(6, shared(0.1, 0.1, 0.1))], 2, 2.5
    )
    assert advice.startswith("80 % of the time rank 0 ran sim.py:4 alone, which cost less")


def test_there_are_three_lines_at_most() -> None:
    loops = [loop(4, shared(2, 2, 0.1)), loop(9, alone(3, "why"))]
    assert len(summarize(loops, 2, 20)) == 3
