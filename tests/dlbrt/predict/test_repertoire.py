"""Strategies beyond the paper's: the floor, self-scheduling, stealing, diffusion, and their choice."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random

import pytest
from dlbrt.balance.strategies import strategy
from dlbrt.contract import STRATEGIES
from dlbrt.parameters import Parameters
from dlbrt.predict.choose import OTHERS, PLAYS, Candidate, Estimated, choose
from dlbrt.predict.diffusing import DiffusionModel, implicit
from dlbrt.predict.effective_speed import LoadForecast, Processor
from dlbrt.predict.groups import blocks
from dlbrt.predict.inputs import EstimateInputs, ModelInputs, loop_statistics
from dlbrt.predict.network import Network, Pattern
from dlbrt.predict.self_scheduling import SelfSchedulingModel
from dlbrt.predict.stealing import StealingModel
from dlbrt.predict.work import IterationCosts, RemainingWork, Runs, lower_bound_s
from dlbrt.sim.driver import simulate, start_in
from dlbrt.sim.machine import LoopModel, Machine
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet
from papers.zaki.speed import under

from tests.dlbrt.predict.test_choose import known

NAMES = {each.name for each in OTHERS}
CANDIDATES = [each for each in OTHERS if isinstance(each, Candidate)]
PLAYED = {each.name for each in CANDIDATES}
EACH = pytest.mark.parametrize("each", OTHERS, ids=lambda each: each.name)
EACH_PLAYED = pytest.mark.parametrize("each", CANDIDATES, ids=lambda each: each.name)


def steady(known: ModelInputs) -> tuple[Processor, ...]:
    return tuple(map(Processor.steady, known.speeds))


def alike(ranks: int, each: int, unit_s: float, network: Network, elapsed_s: float = 1.0) -> ModelInputs:
    """Ranks of speed 1 with equal blocks."""
    held: tuple[Runs, ...] = tuple(((rank * each, (rank + 1) * each),) for rank in range(ranks))
    speeds, groups = (1.0,) * ranks, (tuple(range(ranks)),)
    return ModelInputs(
        elapsed_s,
        IterationCosts(unit_s),
        held,
        speeds,
        LoadForecast(tuple((speed,) for speed in speeds), 1.0),
        groups,
        network,
    )


def test_all_strategies_of_the_contract_are_known_to_the_model() -> None:
    assert {"none", "GCDLB", "GDDLB", "LCDLB", "LDDLB", "auto"} | NAMES == set(STRATEGIES)


def test_the_floor_is_when_all_capacity_is_used() -> None:
    paths = (Processor.steady(1.0), under([5, 0], 1.0, 2.0), under([1], 3.0))
    found = lower_bound_s(paths, 10.0)
    assert sum(each.capacity(found) for each in paths) == pytest.approx(10.0, rel=1e-5)
    assert lower_bound_s(paths, 0.0) == 0.0


@given(
    st.lists(st.lists(st.integers(0, 5), min_size=1, max_size=5), min_size=1, max_size=4), st.floats(0.01, 99)
)
def test_the_floor_is_found_whatever_the_loads(loads: list[list[int]], work_s: float) -> None:
    paths = tuple(under(each, 0.7) for each in loads)
    found = lower_bound_s(paths, work_s)
    assert sum(each.capacity(found) for each in paths) == pytest.approx(work_s, rel=1e-5)


def test_what_a_loop_under_way_can_go_over_to_is_played() -> None:
    assert {"diffusion", "steal"} == PLAYED


@EACH
def test_nothing_left_takes_no_time(each: Estimated) -> None:
    done = replace(known(), held=((),) * 4)
    assert done.remaining == RemainingWork(0, 0.0)
    assert each.estimate_s(done, EstimateInputs.of(done, 0.0)) == 0.0
    assert not isinstance(each, Candidate) or each.simulate_s(done, steady(done)) == 0.0


@EACH_PLAYED
@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_fewer_iterations_than_ranks(each: Candidate, size: int) -> None:
    held: tuple[Runs, ...] = (((0, size),), (), (), ())
    few = replace(alike(4, 1, 1.0, Network.default()), held=held)
    assert each.simulate_s(few, steady(few)) >= lower_bound_s(steady(few), float(size)) * (1 - 1e-6)


@EACH
def test_one_rank_does_all(each: Estimated) -> None:
    alone = alike(1, 40, 0.5, Network.default())
    if isinstance(each, Candidate):
        assert each.simulate_s(alone, steady(alone)) == pytest.approx(20.0, rel=1e-3)
    assert each.estimate_s(alone, EstimateInputs.of(alone, 20.0)) == pytest.approx(20.0, rel=1e-3)


@EACH
def test_plays_and_estimates_repeat_and_no_play_beats_the_floor(each: Estimated) -> None:
    found = known(8, 400, ethernet())
    paths = steady(found)
    floor = lower_bound_s(paths, found.remaining.work_s)
    if isinstance(each, Candidate):
        assert each.simulate_s(found, paths) == each.simulate_s(found, paths) >= floor * (1 - 1e-6)
    estimate_inputs = EstimateInputs.of(found, floor)
    assert each.estimate_s(found, estimate_inputs) == each.estimate_s(found, estimate_inputs)


@EACH
def test_dear_messages_make_it_slower(each: Estimated) -> None:
    near, far = (alike(4, 200, 1e-3, Network.coarse(s, 1e8, 4, 4 * s)) for s in (1e-6, 5e-2))
    left = replace(near, held=(((0, 800),), (), (), ())), replace(far, held=(((0, 800),), (), (), ()))
    if isinstance(each, Candidate):
        quick, slow = (each.simulate_s(found, steady(found)) for found in left)
        assert quick < slow
    assert each.estimate_s(left[0], EstimateInputs.of(left[0], 0.2)) < each.estimate_s(
        left[1], EstimateInputs.of(left[1], 0.2)
    )


def test_rows_go_through_rank_0s_link_one_after_the_other() -> None:
    """800 rows, of which rank 0 does some itself, of 10 ms each on the link, for iterations of 1 ms."""
    rows = replace(alike(4, 200, 1e-3, Network.coarse(1e-6, 1e6, 4, 3e-6)), iteration_bytes=1e4)
    found = SelfSchedulingModel("SS").estimate_s(rows, EstimateInputs.of(rows, 0.2))
    least_s = 800 / (1 / 1e-3 + 1 / 1e-2)
    assert least_s * 0.99 <= found <= least_s * 1.2


def test_a_thief_gets_half_of_what_its_victim_has_left() -> None:
    """Of 100 iterations the one rank gives 50 to the other; then both end within an iteration or two."""
    one = replace(alike(2, 50, 1.0, Network.coarse(1e-6, 1e9, 2, 1e-6)), held=(((0, 100),), ()))
    assert StealingModel().simulate_s(one, steady(one)) == pytest.approx(50.0, abs=2.0)


@pytest.mark.parametrize(("each", "unit_s"), [(8, 1.0), (20, 1.0), (100, 0.1)])
@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_ranks_that_refuse_late_cost_a_thief_no_iterations(ranks: int, each: int, unit_s: float) -> None:
    """A slow rank gives; the others answer within iterations that are long beside messages."""
    network, speeds = Network.coarse(1e-4, 1e9, ranks, 3e-4), (1.0,) * (ranks - 1) + (0.25,)
    machine = Machine(speeds, network, groups=blocks(ranks, ranks))
    played_s = simulate(machine, LoopModel(ranks * each, unit_s), strategy("steal"), traced=False).makespan_s
    now = replace(alike(ranks, each, unit_s, network), speeds=speeds)
    assert 1 / 1.4 <= StealingModel().simulate_s(now, steady(now)) / played_s <= 1.4


def test_a_step_of_diffusion_conserves_work_and_rests_at_equal_times() -> None:
    speeds, held = [1.0, 0.5, 2.0, 1.0], [0.0, 7.0, 1.0, 4.0]
    times = implicit(held, speeds, 0.7)
    assert sum(s * v for s, v in zip(speeds, times, strict=True)) == pytest.approx(sum(held))
    assert min(times) >= 0
    assert implicit([3 * s for s in speeds], speeds, 0.7) == pytest.approx([3.0] * 4)


@pytest.mark.parametrize("without_rows", [False, True])
def test_diffusion_is_predicted_among_the_neighbours_that_it_will_have(without_rows: bool) -> None:
    """Half of 27 ranks are slow: 3^3 of them even out in a fraction of the rounds that a chain takes."""
    speeds, each, each_s = (1.0,) * 14 + (0.25,) * 13, 500, 2e-3
    machine = Machine(speeds, Network.default())
    loop = LoopModel(27 * each, each_s, iteration_bytes=0.0 if without_rows else 8.0)
    found = replace(
        alike(27, each, each_s, Network.default(), 0.0),
        speeds=speeds,
        iteration_bytes=loop.unit_bytes,
        without_rows=without_rows,
    )
    simulated_s = simulate(machine, loop, strategy("diffusion"), traced=False).makespan_s
    assert DiffusionModel().simulate_s(found, steady(found)) == pytest.approx(simulated_s, rel=0.2)


def test_rules_are_told_speeds_and_the_deviation_that_load_makes() -> None:
    found = loop_statistics(known())
    assert found.weights == known().speeds
    assert found.deviation_s is not None
    assert found.deviation_s > 0
    assert loop_statistics(alike(4, 9, 1.0, Network.default())).deviation_s == 0.0


def test_an_end_is_that_of_the_longest_of_uniform_rests() -> None:
    """E max of P uniform rests of an iteration is P / (P + 1), of which half is the work of all."""
    for ranks in (2, 4, 16):
        even = EstimateInputs.of(alike(ranks, 100, 0.01, Network.default()), 1.0)
        assert even.ends_s(1.0) == pytest.approx(0.01 * (ranks / (ranks + 1) - 1 / 2), rel=0.02)
        assert even.steady
    changing = EstimateInputs.of(known(), 1.0)
    assert not changing.steady
    assert changing.ends_s(1.0) > even.ends_s(1.0)


@pytest.mark.parametrize("name", ["SS", "FSC", "mFSC", "FAC2", "WF"])
@pytest.mark.parametrize("row_bytes", [0.0, 800.0])
def test_on_steady_ranks_estimates_are_near_what_is_simulated(name: str, row_bytes: float) -> None:
    """Messages as long as an iteration: waits and rank 0's link are what the last chunks cost."""
    network = Network.coarse(1e-3, 1e8, 16, 48e-3)
    many = replace(alike(16, 250, 1e-3, network, 0.0), iteration_bytes=row_bytes)
    machine, loop = Machine((1.0,) * 16, network), LoopModel(16 * 250, 1e-3, iteration_bytes=row_bytes)
    told = start_in(machine, loop, strategy(name), Parameters()).known
    simulated_s = simulate(machine, loop, strategy(name), traced=False).makespan_s
    found = SelfSchedulingModel(name, told).estimate_s(many, EstimateInputs.of(many, 0.25))
    assert found == pytest.approx(simulated_s, rel=0.1)


def test_what_diffusion_takes_is_estimated_where_load_changes() -> None:
    """On the path of means it is near the floor, on others it is not."""
    unsettled, random = known(16, 2000), Random(1)
    paths = (unsettled.history.mean_path(), unsettled.history.drawn_path(random))
    floors = [lower_bound_s(path, unsettled.remaining.work_s) for path in paths]
    estimate_inputs = EstimateInputs.of(unsettled, sum(floors) / 2, paths)
    played_s = sum(DiffusionModel().simulate_s(unsettled, path) for path in paths) / 2
    assert DiffusionModel().estimate_s(unsettled, estimate_inputs) == pytest.approx(played_s, rel=0.1)


def test_the_record_has_all_strategies_and_says_which_are_estimated() -> None:
    record = json.loads(json.dumps(choose(known(16), others=OTHERS).record()))
    assert set(record["predicted_s"]) == {"none", "GCDLB", "GDDLB", "LCDLB", "LDDLB"} | NAMES
    assert set(record["estimated"]) == NAMES - PLAYED
    assert 6.0 < record["lower_bound_s"] <= min(record["predicted_s"].values())
    assert "estimated" not in choose(known(16)).record()


def test_what_is_only_estimated_changes_nothing() -> None:
    slow, rules = (
        known(16, network=ethernet(50.0)),
        [each for each in OTHERS if each.name not in PLAYED],
    )
    assert choose(slow, others=rules).strategy == choose(slow).strategy
    assert choose(slow, others=rules).predicted_s[:5] == choose(slow).predicted_s


def test_where_nothing_is_left_nobody_is_played() -> None:
    done = choose(replace(known(4), held=((),) * 4), others=OTHERS)
    assert set(done.estimated) == NAMES


def test_where_all_that_synchronizes_is_dear_a_peer_is_chosen() -> None:
    """Patterns of all ranks take a second, a message a tenth of a millisecond."""
    dear = Pattern((0.0, 0.0, 5e-2))
    network = Network(1e-4, 1e8, dear, dear, dear)
    chosen = choose(known(4, 1000, network), others=OTHERS)
    assert chosen.strategy in PLAYED - set(chosen.estimated)
    assert len(NAMES - set(chosen.estimated)) == PLAYS
    alone = choose(known(4, 1000, network), others=[StealingModel()])
    assert alone.strategy == "steal"
    assert alone.estimated == ()
    assert alone.predicted_s[:5] == chosen.predicted_s[:5]
