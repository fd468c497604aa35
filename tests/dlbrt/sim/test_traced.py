"""A simulated run as a trace: it comes back from its file, is replayed alike, and can be played again."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import pytest
from dlbrt.balance.chooser import StrategyChooser
from dlbrt.balance.strategies import AUTO, names, strategy
from dlbrt.data.layout import cyclic
from dlbrt.data.work_table import WorkTable
from dlbrt.emulation import LoadSpec, RandomLoad
from dlbrt.observe.trace import Trace, TracedMachine, TraceEntry, Transferred, parse
from dlbrt.observe.trace_writer import text_of
from dlbrt.parameters import Parameters
from dlbrt.predict.groups import GroupRules, blocks
from dlbrt.sim.compare import simulate_strategy
from dlbrt.sim.machine import LoopModel, Machine
from dlbrt.sim.outcome import SimulationOutcome
from dlbrt.sim.recorded import Recording
from dlbrt.sim.replay import setup_of, trace_of
from papers.zaki.network import ethernet

from tests.support.replay import replay

STRATEGIES = [*sorted(names()), AUTO]


def machine(seed: int = 1, ranks: int = 5) -> Machine:
    load = LoadSpec(random=RandomLoad(5, 0.5, seed))
    speeds = tuple(1.0 - 0.25 * (rank % 3) for rank in range(ranks))
    return Machine(speeds, ethernet(), load, blocks(ranks, 3))


def loop(n: int = 300) -> LoopModel:
    """Its later iterations are dearer, and the balancer knows it."""
    seconds = tuple(0.01 + 1e-4 * position for position in range(n))
    prefix = tuple(200 * edge + edge * (edge - 1) for edge in range(n + 1))
    return LoopModel(n, seconds, work_table=WorkTable(tuple(range(n + 1)), prefix), iteration_bytes=80)


def simulated(
    name: str, where: Machine, what: LoopModel, parameters: Parameters | None = None
) -> tuple[SimulationOutcome, Trace]:
    outcome = simulate_strategy(where, what, name, parameters, traced=True)
    return outcome, trace_of(outcome, where, what, setup_of(where, what, name, parameters))


@pytest.mark.parametrize("name", STRATEGIES)
@pytest.mark.parametrize("seed", range(3))
def test_a_trace_comes_back_and_is_replayed_alike(name: str, seed: int) -> None:
    _, trace = simulated(name, machine(seed), loop())
    assert parse(text_of(trace), "t.json") == trace
    [run] = trace.loops[0].runs
    assert replay(run) == ()


@pytest.mark.parametrize("name", ["LCDLB", "LDDLB"])
def test_a_trace_of_groups_that_exchange_work_is_replayed_alike(name: str) -> None:
    where = replace(machine(), rules=GroupRules(masters=True, dynamic=True))
    _, trace = simulated(name, where, loop())
    assert replay(parse(text_of(trace), "t.json").loops[0].runs[0]) == ()


@pytest.mark.parametrize("name", ["steal", "diffusion", "LCDLB"])
def test_agents_that_take_over_from_others_are_replayed_alike(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where `auto` commits to `GDDLB` first, and at the next synchronization to that strategy."""
    monkeypatch.setattr(StrategyChooser, "surveyed", lambda *_: "GDDLB")
    monkeypatch.setattr(StrategyChooser, "__call__", lambda *_: strategy(name))
    outcome, trace = simulated(AUTO, machine(), loop(), Parameters(adapts=True))
    assert outcome.strategy == name
    assert replay(parse(text_of(trace), "t.json").loops[0].runs[0]) == ()
    done = sorted(p for rank in trace.loops[0].runs[0].per_rank for c in rank.chunks for p in c.positions)
    assert done == list(range(300))


@pytest.mark.parametrize("name", ["diffusion", "GCDLB", "LDDLB", "none"])
def test_ranks_that_steal_and_go_over_are_replayed_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where `auto` commits to that strategy at the first synchronization."""
    monkeypatch.setattr(StrategyChooser, "surveyed", lambda *_: name)
    outcome, trace = simulated(AUTO, machine(), loop())
    assert outcome.strategy == name
    assert replay(parse(text_of(trace), "t.json").loops[0].runs[0]) == ()
    done = sorted(p for rank in trace.loops[0].runs[0].per_rank for c in rank.chunks for p in c.positions)
    assert done == list(range(300))


def test_an_answer_that_differs_is_found() -> None:
    _, trace = simulated("GDDLB", machine(), loop())
    [run] = trace.loops[0].runs
    ranks = list(run.per_rank)
    place = next(k for k, entry in enumerate(ranks[2].entries) if entry.actions)
    entries = list(ranks[2].entries)
    entries[place] = TraceEntry(entries[place].event, ())
    ranks[2] = replace(ranks[2], entries=tuple(entries))
    [found] = replay(replace(run, per_rank=tuple(ranks)))
    assert (found.rank, found.place) == (2, place)
    assert found.found == trace.loops[0].runs[0].per_rank[2].entries[place].actions


def test_what_moving_data_took_is_part_of_what_is_replayed() -> None:
    """Without it the profiles that follow would say another cost of a byte."""
    _, trace = simulated("GDDLB", machine(), loop())
    [run] = trace.loops[0].runs
    kept = [[e for e in rank.entries if not isinstance(e.event, Transferred)] for rank in run.per_rank]
    assert sum(map(len, kept)) < sum(len(rank.entries) for rank in run.per_rank)
    ranks = tuple(replace(rank, entries=tuple(e)) for rank, e in zip(run.per_rank, kept, strict=True))
    assert replay(replace(run, per_rank=ranks))


def test_a_strategy_that_is_not_there_is_told() -> None:
    _, trace = simulated("GDDLB", machine(), loop())
    [run] = trace.loops[0].runs
    assert run.setup is not None
    with pytest.raises(ValueError, match="no strategy 'later'"):
        replay(replace(run, setup=replace(run.setup, requested_strategy="later")))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_recorded_loop_is_the_one_that_was_played(name: str) -> None:
    where, what = machine(), loop()
    outcome, trace = simulated(name, where, what)
    recording = Recording(parse(text_of(trace), "t.json"))
    model, again = recording.loop(1), recording.machine()
    assert again == where
    assert (model.n, model.folded, model.work_table, model.iteration_bytes) == (
        what.n,
        False,
        what.work_table,
        80,
    )
    assert model.seconds == pytest.approx(what.seconds)
    assert simulate_strategy(again, model, name).makespan_s == pytest.approx(outcome.makespan_s, rel=0.02)


def test_what_load_and_speeds_added_is_no_part_of_a_recorded_loop() -> None:
    loaded, quiet = machine(), replace(machine(), load=LoadSpec(), speeds=(1.0,) * 5)
    models = [Recording(simulated("GDDLB", where, loop())[1]).loop(1) for where in (loaded, quiet)]
    assert models[0].seconds == pytest.approx(models[1].seconds)


def test_hosts_compare_by_the_work_that_they_did_in_a_second_of_computing() -> None:
    """Where nobody has told their speeds; what iterations cost is known, so it is the hosts that differ."""
    where = Machine((1.0, 1.0, 0.5, 0.5), ethernet(), LoadSpec(levels=(0, 2, 0, 1)), blocks(4, 2))
    _, simulation = simulated("GDDLB", where, loop())
    trace = replace(simulation, kind="run", host_names=("a", "a", "b", "b"), machine=TracedMachine())
    found = Recording(trace)
    assert found.speeds == pytest.approx((1.0, 1.0, 0.5, 0.5), rel=1e-3)
    assert found.loop(1).seconds == pytest.approx(loop().seconds, rel=1e-3)
    assert Recording(replace(trace, host_names=("a",) * 4)).speeds == (1.0,) * 4
    told = TracedMachine(LoadSpec(speeds=(1.0, 1.0, 2.0, 2.0)), (2.0, 2.0, 1.0, 1.0))
    assert Recording(replace(trace, machine=told)).speeds == (1.0, 1.0, 0.25, 0.25)
    assert (
        Recording(replace(trace, machine=TracedMachine(weights=(1.0, 1.0, 0.0, 1.0)))).speeds == found.speeds
    )


def test_a_recorded_loop_is_dealt_for_another_number_of_ranks() -> None:
    recording = Recording(simulated("none", machine(), loop())[1])
    model = recording.loop(1, ranks=8)
    work = [model.work_table.of(share) for share in model.shares]
    assert len(work) == 8
    assert sum(map(len, model.shares)) == 300
    assert max(work) - min(work) <= 2 * (model.work_table.prefix[-1] - model.work_table.prefix[-2])


def test_folding_and_dealing_in_turn_are_kept() -> None:
    what = replace(loop(101), folded=True, work_table=WorkTable())
    model = Recording(simulated("GDDLB", machine(), what)[1]).loop(1, ranks=4)
    assert (model.folded, model.iteration_bytes, model.shares) == (True, 80, ())
    assert model.seconds == pytest.approx(what.seconds)
    dealt = replace(loop(), shares=cyclic(300, 5))
    assert Recording(simulated("GDDLB", machine(), dealt)[1]).loop(1, ranks=4).shares == cyclic(300, 4)


def test_a_long_loop_is_played_in_groups_of_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    recording = Recording(simulated("GDDLB", machine(), loop())[1])
    whole = recording.loop(1)
    monkeypatch.setattr("dlbrt.sim.recorded.MAX_ITERATIONS", 100)
    model = recording.loop(1)
    assert (model.n, model.iteration_bytes) == (100, 240)
    assert sum(model.seconds) == pytest.approx(sum(whole.seconds))  # type: ignore[arg-type]
    assert model.work_table.prefix == whole.work_table.prefix[::3]
    assert sum(map(len, model.shares)) == 100


def test_a_loop_that_is_not_there_is_told() -> None:
    recording = Recording(simulated("GDDLB", machine(), loop())[1])
    for number in (0, 2):
        with pytest.raises(ValueError, match=rf"recorded loop \(1 to 1\), found {number}"):
            recording.loop(number)
    [found] = recording.loops
    assert (found.number, found.id, found.iterations, found.runs, found.strategy) == (1, "1", 300, 1, "GDDLB")


def test_the_picture_has_a_process_for_each_host_and_a_thread_for_each_rank() -> None:
    where, what = machine(), loop()
    outcome = simulate_strategy(where, what, "GDDLB", traced=True)
    hosts = ["a", "a", "b", "b", "b"]
    trace = trace_of(outcome, where, what, setup_of(where, what, "GDDLB"), "prog.py:3", hosts)
    document = json.loads(text_of(trace))
    events = document["traceEvents"]
    named = {
        e["args"]["name"]: (e["pid"], e["tid"])
        for e in events
        if e["name"] in ("process_name", "thread_name")
    }
    assert named == {"a": (0, 0), "b": (1, 0), **{f"rank {r}": (int(r > 1), r) for r in range(5)}}
    slices = [e for e in events if e["ph"] == "X"]
    assert {e["name"] for e in slices} >= {"prog.py:3 (GDDLB)", "compute", "move"}
    assert max(e["ts"] + e["dur"] for e in slices) == pytest.approx(outcome.makespan_s * 1e6)
    done = sum(e["args"]["units"] for e in slices if e["name"] == "compute")
    assert done == what.n
    moved = [e["args"]["units"] for e in events if e["ph"] == "s"]
    assert sum(moved) == outcome.moved
    assert sorted(e["id"] for e in events if e["ph"] == "f") == list(range(len(moved)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_slices_of_a_rank_lie_in_its_loop_and_do_not_overlap(name: str) -> None:
    _, trace = simulated(name, machine(), loop())
    events = json.loads(text_of(trace))["traceEvents"]
    for rank in range(5):
        whole, *parts = [e for e in events if e["ph"] == "X" and e["tid"] == rank]
        ends = [(e["ts"], round(e["ts"] + e["dur"], 3)) for e in parts]
        assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
        assert whole["ts"] <= ends[0][0]
        assert ends[-1][1] <= round(whole["ts"] + whole["dur"], 3)
