"""Each cause of lost time is named where it is the cause, and nothing is where nothing is lost."""

from __future__ import annotations

from dataclasses import replace

import pytest
from dlbrt.balance.strategies import AUTO
from dlbrt.emulation import LoadSpec
from dlbrt.predict.groups import blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.replay import setup_of, trace_of
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet

from dlbc.commands.report.cost_profile import CostProfile
from dlbc.commands.report.diagnosis import Diagnosis, diagnose
from dlbc.commands.report.facts import (
    LoopFacts,
    PassFacts,
    ProgramFacts,
    RoutineFacts,
    RunFacts,
    program_facts,
)
from dlbc.commands.report.findings import Cause, efficiency
from dlbc.commands.report.slow_ranks import cliff

EVEN = CostProfile((0, 50, 100), (1e-2, 1e-2), None, (1.0, 1.0, 1.0, 1.0), 0.0, 0.0, 1.0)
WELL = RunFacts("GDDLB", 1000, True, 2.04, (2.0,) * 4, (0.02,) * 4, 0.02, 0.0)


def program(
    run: RunFacts = WELL, profile: CostProfile = EVEN, requested: str = AUTO, n: int = 1
) -> ProgramFacts:
    loop = LoopFacts("1", "p.py:3", (run,) * n, profile, requested)
    return ProgramFacts(("a",) * 4, 0.2 + n * run.elapsed_s, (loop,))


def first(found: Diagnosis) -> tuple[Cause, str, str]:
    assert found.advice is not None
    return found.advice.cause, found.advice.what, found.advice.remedy


def test_nothing_is_to_change_where_nothing_is_lost() -> None:
    found = diagnose(replace(program(), elapsed_s=2.06))
    assert found.findings == ()
    assert found.headline.startswith("It ran very well: 4 ranks took 2.1 s, 99 % of it in annotated loops")
    assert found.efficiency is not None
    assert found.efficiency.parallel == pytest.approx(2.0 / 2.04)


@pytest.mark.parametrize(("startup_s", "said"), [(1.0, False), (7.0, True)])
def test_one_rank_alone_is_named_where_it_takes_less(startup_s: float, said: bool) -> None:
    facts = replace(program(), startup_s=startup_s)  # 8 s of computing, and 0.2 s of rank 0
    headline = diagnose(facts).headline
    expected = " One rank alone would take about 8.2 s, less than the 9.2 s of this run with starting."
    assert headline.endswith(expected) == said
    assert "One rank alone" not in diagnose(replace(facts, emulated=True)).headline


UNEVEN = replace(EVEN, seconds=(1e-2, 0.4), uneven=0.9, growth=40.0)
WAITING = RunFacts("none", 1000, True, 4.1, (0.5, 1.0, 2.0, 4.0), (3.5, 3.0, 2.0, 0.0), 0.05, 0.0)


def test_iterations_that_cost_more_at_the_end() -> None:
    cause, what, remedy = first(diagnose(program(WAITING, UNEVEN)))
    assert cause is Cause.UNEVEN_COST
    assert what == "rank 0 waited 85 % of the loop's time: iterations cost 40-fold more at the end"
    assert remedy.startswith("add `cost(...)`")
    assert "leave the strategy `none` out" in first(diagnose(program(WAITING, UNEVEN, "none")))[2]
    stated = replace(UNEVEN, stated=(1e-2, 1e-2))
    cause, what, remedy = first(diagnose(program(WAITING, stated)))
    assert (cause, remedy) == (Cause.UNEVEN_COST, "state what an iteration costs by `cost(...)`")
    assert what.endswith("W(i), by which iterations were dealt, is off by a factor of up to 40")
    # Also where the bins do not show what the rank with the last iterations had.
    unseen = replace(stated, uneven=0.0, growth=1.0)
    assert first(diagnose(program(WAITING, unseen)))[:2] == (cause, what)


def test_what_a_loop_measures_helps_its_later_runs_alone() -> None:
    assert "`profile`" not in first(diagnose(program(WAITING, UNEVEN)))[2]
    assert "`profile`" in first(diagnose(program(WAITING, UNEVEN, n=3)))[2]
    assert "`profile`" in first(diagnose(program(WAITING, UNEVEN, "none", n=3)))[2]


def test_a_rank_with_the_dear_iterations_is_not_taken_for_a_slow_one() -> None:
    steep = replace(UNEVEN, growth=230.0, speeds=(1.0, 1.0, 1.0, 0.3), slow=0.5)
    causes = {each.cause for each in diagnose(program(WAITING, steep)).findings}
    assert Cause.UNEVEN_COST in causes
    assert Cause.SLOW_RANK not in causes
    assert Cause.SLOW_RANK in {e.cause for e in diagnose(program(WAITING, replace(steep, slow=1.0))).findings}


def test_a_slow_rank_for_which_others_waited() -> None:
    slow = replace(EVEN, speeds=(1.0, 1.0, 0.25, 1.0), slow=1.3)
    run = replace(WAITING, compute_s=(1.0, 1.0, 4.0, 1.0), waited_s=(3.0, 3.0, 0.0, 3.0))
    found = diagnose(program(run, slow, "none"))
    cause, what, remedy = first(found)
    assert (cause, what) == (
        Cause.SLOW_RANK, "rank 2 computed 4 times slower than the others, and they waited for it"
    )  # fmt: skip
    assert "leave the strategy `none` out" in remedy
    assert found.advice is not None
    assert found.advice.gain_s == pytest.approx(4.0 - 4.0 / 4)


def test_a_slow_rank_that_was_balanced() -> None:
    slow = replace(EVEN, speeds=(1.0, 1.0, 0.25, 1.0), slow=1.3)
    found = diagnose(program(WELL, slow))
    cause, what, remedy = first(found)
    assert cause is Cause.SLOW_RANK
    assert what == "rank 2 computed 4 times slower than the others; it did 8 % of the work"
    assert remedy.startswith("free its host of other load")
    assert found.advice is not None
    assert found.advice.gain_s == pytest.approx(2.0 - 2.0 * 3.25 / 4)
    emulated = diagnose(replace(program(WELL, slow), emulated=True, hosts=("a", "a", "b", "b")))
    assert first(emulated)[1].startswith("rank 2 on b computed")
    assert "which emulate this" in first(emulated)[2]


def test_transfers_of_data() -> None:
    run = RunFacts("GDDLB", 1000, True, 3.0, (0.5,) * 4, (0.1,) * 4, 2.4, 0.0, row_bytes=5e7)
    cause, what, remedy = first(diagnose(program(run)))
    assert (cause, what) == (
        Cause.TRANSFERS, "83 % of the loop's time went into sending calls, rows and results"
    )  # fmt: skip
    assert remedy.startswith("do more work with each row in this loop")
    resident = program(run)
    again = replace(resident, loops=(replace(resident.loops[0], runs=(run, run)),))
    assert "`iterate`" in first(diagnose(again))[2]
    inside = replace(resident, loops=(replace(resident.loops[0], in_routine=True),))
    assert first(diagnose(inside))[2].startswith("use fewer ranks")


def test_synchronizations_on_a_dear_network() -> None:
    run = RunFacts("GDDLB", 1000, True, 3.0, (1.0,) * 4, (1.9,) * 4, 0.1, 1.8)
    cause, what, remedy = first(diagnose(program(run, requested="GDDLB")))
    assert cause is Cause.SYNCHRONIZATION
    assert "synchronizations" in what
    assert remedy.startswith("leave the strategy to `auto`")


def test_imports_and_compiling() -> None:
    run = RunFacts("none", 1000, True, 3.0, (0.5,) * 4, (0.1,) * 4, 2.4, 0.0, loading_s=2.3)
    assert first(diagnose(program(run)))[0] is Cause.STARTUP


def test_what_the_first_call_takes_longer_is_no_sending() -> None:
    run = RunFacts("none", 1000, True, 3.0, (0.5,) * 4, (0.1,) * 4, 2.4, 0.0, preparing_s=2.3)
    assert first(diagnose(program(run)))[0] is Cause.STARTUP
    assert first(diagnose(program(replace(run, row_bytes=5e7))))[0] is Cause.TRANSFERS
    facts = program(replace(run, row_bytes=5e7))
    later = replace(run, elapsed_s=0.8, carrying_s=0.2, preparing_s=0.1)
    both = replace(facts, loops=(replace(facts.loops[0], runs=(run, later, later)),), elapsed_s=4.7)
    assert dict(diagnose(both).losses)[Cause.STARTUP] == pytest.approx(2.2)


def test_the_sequential_part() -> None:
    found = diagnose(replace(program(), elapsed_s=10.0))
    cause, what, _ = first(found)
    assert cause is Cause.SEQUENTIAL
    assert what.startswith("for 80 % of the time only rank 0 worked")
    assert found.headline.startswith("It ran poorly: 4 ranks took 10 s, 20 % of it in annotated loops")


def test_too_short_a_loop() -> None:
    run = RunFacts("GDDLB", 10, True, 4e-3, (2e-4,) * 4, (1e-3,) * 4, 2.5e-3, 1e-3)
    facts = program(run, n=500)
    cause, what, advice = first(diagnose(facts))
    assert cause is Cause.SHORT_LOOP
    assert what == "the loop is too short to share: 500 runs of 4 ms, with 800 us of computing in each"
    assert advice == "annotate the loop around it, so that each run has more work"
    passes = replace(facts, loops=tuple(replace(loop, in_routine=True) for loop in facts.loops))
    assert first(diagnose(passes))[2].startswith("use fewer ranks, or give each pass more work")


def test_runs_that_rank_0_kept() -> None:
    run = RunFacts("local", 10, False, 4e-3, (3.9e-3, 0.0, 0.0, 0.0), (0.0, 4e-3, 4e-3, 4e-3), 0.0, 0.0)
    assert "rank 0 kept 500 of 500 runs for itself (2 s in all)" in first(diagnose(program(run, n=500)))[1]


def test_a_loop_that_rank_0_had_to_run_alone() -> None:
    why = "`a` and `b` share memory"
    run = RunFacts("local", 100, False, 4.0, (3.9, 0.0, 0.0, 0.0), (0.0, 4.0, 4.0, 4.0), 0.0, 0.0, reason=why)
    cause, what, _ = first(diagnose(program(run)))
    assert (cause, what) == (Cause.ALONE, f"rank 0 ran the loop alone: {why}")


def test_a_jit_loop_that_was_left_to_python() -> None:
    cause, what, _ = first(diagnose(program(replace(WELL, interpreted="it calls open"))))
    assert cause is Cause.INTERPRETED
    assert what.endswith("though `jit` was asked for: it calls open")


def test_few_long_iterations() -> None:
    run = RunFacts("GDDLB", 5, True, 2.1, (1.0, 1.0, 1.0, 2.0), (1.0, 1.0, 1.0, 0.0), 0.05, 0.0)
    coarse = replace(EVEN, seconds=(1.0, 1.0))
    cause, what, _ = first(diagnose(program(run, coarse)))
    assert cause is Cause.FEW_ITERATIONS
    assert what.endswith("the longest of 5 iterations take about 1 s each, and ranks cannot share one")


def passes(*seen: tuple[int, float], rows: int = 100) -> RoutineFacts:
    """A routine of two ranks with these rows and speeds of the second; the first does 1000 rows a second."""
    looks = tuple(PassFacts(1, (rows, n), (rows / 1000, n / speed)) for n, speed in seen)
    return RoutineFacts("p.py:1", ("1",), looks)


CLIFF = passes((300, 60.0), (280, 62.0), (120, 900.0), (240, 65.0), (110, 950.0), (120, 920.0))


def test_a_memory_cliff_of_a_routine() -> None:
    run = RunFacts("none", 1000, True, 3.0, (0.1, 2.7), (2.6, 0.0), 0.1, 0.0)
    slow = replace(EVEN, speeds=(1.0, 0.1), slow=0.8)
    loop = LoopFacts("1", "p.py:3", (run,) * 6, slow, AUTO, in_routine=True)
    facts = ProgramFacts(("a", "b"), 18.5, (loop,), (CLIFF,))
    cause, what, remedy = first(diagnose(facts))
    assert cause is Cause.MEMORY_CLIFF
    assert what.startswith("rank 1 on b becomes 15 times slower with more than 120 rows")
    assert remedy.startswith("give that host more memory")
    assert Cause.SLOW_RANK not in {each.cause for each in diagnose(facts).findings}


def test_a_cliff_needs_all_sizes_beyond_it_to_be_slow_and_more_than_one_pass() -> None:
    assert cliff(CLIFF, 1) == (pytest.approx(15, rel=0.1), 120)
    assert cliff(CLIFF, 0) is None
    assert cliff(passes((300, 60.0), (120, 900.0), (110, 950.0)), 1) is None, "one pass may be disturbed"
    assert cliff(passes((300, 60.0), (280, 900.0), (120, 65.0), (290, 61.0)), 1) is None
    assert cliff(passes((300, 900.0), (280, 920.0), (120, 880.0)), 1) is None


@given(st.lists(st.tuples(st.floats(0.01, 5), st.lists(st.floats(0, 1), min_size=3, max_size=3)), min_size=1))
def test_efficiencies_are_those_of_pop(found: list[tuple[float, list[float]]]) -> None:
    """Parallel efficiency = mean over elapsed = load balance x communication; all are parts of a whole."""
    runs = [
        RunFacts("none", 9, True, elapsed, tuple(elapsed * part for part in parts), (0.0,) * 3, 0.0, 0.0)
        for elapsed, parts in found
    ]
    own = efficiency(runs)
    if own is None:
        assert all(not any(run.compute_s) for run in runs)
        return
    assert 0 < own.load_balance <= 1 + 1e-9
    assert 0 < own.communication <= 1 + 1e-9
    mean = sum(run.mean_s for run in runs) / sum(run.elapsed_s for run in runs)
    assert own.parallel == pytest.approx(mean)


def simulated(loop: LoopModel, machine: Machine, name: str) -> ProgramFacts:
    outcome = simulate_strategy(machine, loop, name, traced=True)
    return program_facts(trace_of(outcome, machine, loop, setup_of(machine, loop, name), "p.py:3"))


FOUR = Machine((1.0,) * 4, ethernet(), LoadSpec(), blocks(4, 2))


def test_a_simulated_loop_of_growing_cost() -> None:
    growing = LoopModel(400, tuple(1e-3 * (1 + 0.1 * k) for k in range(400)))
    cause, what, _ = first(diagnose(simulated(growing, FOUR, "none")))
    assert cause is Cause.UNEVEN_COST
    assert what.startswith("rank 0 waited 8")
    assert what.endswith("fold more at the end")


@pytest.mark.parametrize("name", ["none", "GDDLB", "GSS", "steal"])
def test_a_simulated_loop_on_a_loaded_rank(name: str) -> None:
    loaded = replace(FOUR, load=LoadSpec(levels=(0, 3, 0, 0)))
    cause, what, _ = first(diagnose(simulated(LoopModel(400, 0.02), loaded, name)))
    assert cause is Cause.SLOW_RANK
    assert what.startswith("rank 1 on host1 computed 4 times slower")


def test_all_time_of_a_run_is_given_to_a_cause() -> None:
    loaded = replace(FOUR, load=LoadSpec(levels=(0, 3, 0, 1)))
    for name in ("none", "GDDLB", "LCDLB", "GSS", "steal", "diffusion"):
        facts = simulated(
            LoopModel(300, tuple(0.01 + 1e-4 * k for k in range(300)), iteration_bytes=4000), loaded, name
        )
        [loop] = facts.loops
        lost = sum(seconds for _, seconds in diagnose(facts).losses)
        assert lost == pytest.approx(loop.lost_s, rel=0.02, abs=1e-3)
