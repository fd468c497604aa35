"""The recurrences: hand-counted plays, the laws of the paper, and its traps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

import pytest
from dlbrt.data.layout import block
from dlbrt.predict.effective_speed import Processor
from dlbrt.predict.groups import blocks
from dlbrt.predict.network import Network
from dlbrt.predict.recurrence import GroupCost, Scenario, StrategyCost, evaluate, evaluate_static
from dlbrt.predict.redistribute import ModelOptions
from dlbrt.predict.schemes import SCHEMES, Scheme, scheme
from dlbrt.predict.work import IterationCosts, Runs
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet
from papers.zaki.speed import block_finish, under

ETHERNET = ethernet()
PAPER = ModelOptions(polls=False)
EACH = pytest.mark.parametrize("each", SCHEMES, ids=lambda each: each.name)


def held(size: int, ranks: int) -> tuple[Runs, ...]:
    return tuple(tuple((run.start, run.stop) for run in spans.runs) for spans in block(size, ranks))


def game(
    speeds: Sequence[float],
    work: IterationCosts | None = None,
    rules: ModelOptions = PAPER,
    network: Network = ETHERNET,
) -> Scenario:
    return Scenario(work or IterationCosts(1.0), tuple(map(Processor.steady, speeds)), (network,), 0.0, rules)


def groups(each: Scheme, ranks: int) -> Sequence[Sequence[int]]:
    return blocks(ranks, (ranks + 1) // 2 if each.local else ranks)


def overhead_s(cost: GroupCost | StrategyCost) -> float:
    """C_g of a group; TC, or the maximum over the groups, of a strategy."""
    if isinstance(cost, StrategyCost):
        return max(map(overhead_s, cost.groups))
    return cost.sync_s + cost.decision_s + cost.instructions_s + cost.movement_s + cost.delay_s


def only(outcome: StrategyCost) -> GroupCost:
    (group,) = outcome.groups
    return group


@EACH
@pytest.mark.parametrize("rules", [PAPER, ModelOptions()])
def test_without_external_load_one_synchronization_is_enough(each: Scheme, rules: ModelOptions) -> None:
    """eta = 1."""
    for ranks in (4, 16):
        outcome = evaluate(
            game([1.0] * ranks, rules=rules), each, held(10 * ranks, ranks), groups(each, ranks)
        )
        for group in outcome.groups:
            assert (group.synchronizations, group.redistributions, group.moved) == (1, 0, 0)
        size = len(groups(each, ranks)[0])
        switch_s = ETHERNET.switch_s if each.central else 0.0
        least_s = each.synchronization_s(ETHERNET, size) + (rules.decision_s + switch_s) * (size > 1)
        assert outcome.groups[0].finish_s == pytest.approx(10 + least_s)


@pytest.mark.parametrize("name", ["GDDLB", "GCDLB"])
def test_a_play_counted_by_hand(name: str) -> None:
    """12 iterations of 1 s on ranks of speeds 1 and 1/2: 6 s, then 2 iterations and 1 in 2 s."""
    each = scheme(name)
    found = evaluate(replace(game([1.0, 0.5]), iteration_bytes=9600.0), each, held(12, 2), [(0, 1)])
    xi_s, psi_s = each.synchronization_s(ETHERNET, 2), ETHERNET.latency_s if each.central else 0.0
    delta_s = PAPER.decision_s + (ETHERNET.switch_s if each.central else 0.0)
    kappa_s = ETHERNET.latency_s + 2 * 9600 / ETHERNET.bandwidth
    group = only(found)
    assert (group.synchronizations, group.redistributions, group.moved, group.messages) == (2, 1, 2, 1)
    assert overhead_s(found) == pytest.approx(2 * (xi_s + delta_s) + kappa_s + psi_s)  # TC
    assert found.total_s == pytest.approx(6 + 2 + overhead_s(found))


def test_iterations_left_are_those_of_equation_1_3_1() -> None:
    """chi_i - chi_f sigma_i / sigma_f, then dealt in proportion to sigma (1.3.3): 100 each, speeds 1 .. 4."""
    speeds = [1.0, 2.0, 3.0, 4.0]
    left = [100 - 100 * speed / 4 for speed in speeds]
    group = only(evaluate(game(speeds), SCHEMES[0], held(400, 4), [range(4)]))
    wanted = [sum(left) * speed / sum(speeds) for speed in speeds]
    alpha = sum(abs(a - b) for a, b in zip(left, wanted, strict=True)) / 2
    assert (group.moved, group.synchronizations) == (alpha, 2)
    assert group.finish_s == pytest.approx(25 + 15 + overhead_s(group))


def test_non_uniform_iterations_are_counted_by_their_sums() -> None:
    """Costs 1 .. 8 in halves of 10 and 26 s; after 10 s rank 1 is in its second iteration (5 + 6)."""
    work = IterationCosts(1.0, tuple(accumulate(range(1, 9), initial=0)))
    group = only(evaluate(game([1.0, 1.0], work), SCHEMES[0], held(8, 2), [(0, 1)]))
    assert group.moved == 1  # of the 7 and the 8 the last one
    # Then 7 s and 8 s; in the paper's rounding the iteration of 8 s counts as done when that of 7 s is.
    assert group.finish_s == pytest.approx(10 + 7 + overhead_s(group))


def test_a_processor_under_the_papers_load() -> None:
    """sigma of the finisher and t_1 together: load 0 then 3 in blocks of 4 s, 6 s of work."""
    processor = under([0, 3, 3, 3], 4.0)
    steady = Processor.steady(1e-3)
    two = Scenario(IterationCosts(1.0), (processor, steady), (ETHERNET,), 0.0, PAPER)
    # Speed 1 until 4; (1 + 1/4) / 2 would end at 9.6, beyond block 2; (1 + 1/4 + 1/4) / 3 = 1/2 at 12.
    assert processor.finish(0.0, 6.0) == block_finish(processor, 0.0, 6.0) == 12.0
    assert evaluate(two, SCHEMES[0], (((0, 6),), ()), [(0, 1)]).total_s == 12.0


def test_a_rank_looks_between_iterations_only() -> None:
    """Of 10 s iterations: the finisher is done at 10, the other one looks at 20 / 0.9."""
    group = only(
        evaluate(game([1.0, 0.9], IterationCosts(10.0), ModelOptions()), SCHEMES[0], held(4, 2), [(0, 1)])
    )
    first_s = 20 + ETHERNET.one_to_all.seconds(2)
    assert group.poll_s == pytest.approx(20 / 0.9 - first_s)
    assert group.synchronizations == 1


def test_a_central_balancer_serves_one_group_after_the_other() -> None:
    """Two groups that finish at once: the second waits for delta, the context switch and psi of the first."""
    each, service_s = scheme("LCDLB"), PAPER.decision_s + ETHERNET.switch_s
    outcome = evaluate(game([1.0, 0.5, 1.0, 0.5]), each, held(24, 4), [(0, 1), (2, 3)])
    first, second = outcome.groups
    assert first.messages == second.messages == 1
    assert second.delay_s == pytest.approx(service_s + ETHERNET.latency_s)
    assert first.delay_s == 0.0  # its second one comes before the other group's
    assert outcome.total_s == max(first.finish_s, second.finish_s) == second.finish_s
    assert overhead_s(outcome) == overhead_s(second) > overhead_s(first)
    replicated = evaluate(game([1.0, 0.5, 1.0, 0.5]), scheme("LDDLB"), held(24, 4), [(0, 1), (2, 3)])
    assert all(group.delay_s == 0.0 for group in replicated.groups)


def test_three_waiting_groups_queue() -> None:
    outcome = evaluate(game([1.0] * 6), scheme("LCDLB"), held(60, 6), [(0, 1), (2, 3), (4, 5)])
    service_s = PAPER.decision_s + ETHERNET.switch_s
    assert [group.delay_s for group in outcome.groups] == pytest.approx([0.0, service_s, 2 * service_s])


def test_a_refused_redistribution_lets_the_finisher_leave() -> None:
    """1, 2 and 2 iterations of 10 s: at 10 s those left may go elsewhere, which gains nothing."""
    each, runs = scheme("GDDLB"), [((0, 1),), ((1, 3),), ((3, 5),)]
    group = only(evaluate(game([1.0] * 3, IterationCosts(10.0)), each, runs, [range(3)]))
    assert (group.synchronizations, group.redistributions) == (2, 0)
    assert group.sync_s == each.synchronization_s(ETHERNET, 3) + each.synchronization_s(ETHERNET, 2)
    assert group.finish_s == pytest.approx(20 + overhead_s(group))


def test_ranks_that_work_while_profiles_travel_lose_less() -> None:
    idle, busy = (
        evaluate(
            game([1.0, 0.4, 0.7, 0.9], IterationCosts(0.01), ModelOptions(reserves=reserves), ethernet(2.0)),
            SCHEMES[0],
            held(4000, 4),
            [range(4)],
        )
        for reserves in (False, True)
    )
    assert busy.total_s < idle.total_s


@EACH
@pytest.mark.parametrize("size", [0, 1, 3])
def test_fewer_iterations_than_ranks(each: Scheme, size: int) -> None:
    runs = held(size, 5)
    outcome = evaluate(game([1.0] * 5, rules=ModelOptions()), each, runs, groups(each, 5))
    assert outcome.total_s >= evaluate_static(game([1.0] * 5), runs).total_s == (1.0 if size else 0.0)


def test_one_huge_last_iteration() -> None:
    work = IterationCosts(1.0, (*range(100), 10_099))
    outcome = evaluate(game([1.0] * 4, work, ModelOptions()), scheme("GDDLB"), held(100, 4), [range(4)])
    assert 10_000 < outcome.total_s < 10_100


@given(
    st.integers(2, 9),
    st.integers(0, 200),
    st.sampled_from([1e-7, 1e-4, 1e-2, 1.0]),
    st.sampled_from(SCHEMES),
    st.sampled_from(
        [
            PAPER,
            ModelOptions(),
            ModelOptions(charged=True, reserves=True),
            ModelOptions(min_moved=0.0),
        ]
    ),
    st.data(),
)
def test_every_play_ends_and_never_beats_the_clairvoyant(
    ranks: int, size: int, seconds: float, each: Scheme, rules: ModelOptions, data: st.DataObject
) -> None:
    loads = data.draw(
        st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=6), min_size=ranks, max_size=ranks)
    )
    costs = data.draw(st.lists(st.integers(0, 5), min_size=size, max_size=size))
    work = IterationCosts(seconds, tuple(accumulate(costs, initial=0)))
    exact = replace(rules, polls=True)
    processors = tuple(under(own, 7 * seconds) for own in loads)
    for found in (rules, exact):
        one = Scenario(work, processors, (ETHERNET,), 8.0, found)
        outcome = evaluate(one, each, held(size, ranks), groups(each, ranks))
        assert outcome == evaluate(one, each, held(size, ranks), groups(each, ranks))
    enough = sum(processor.capacity(outcome.total_s) for processor in processors)
    assert enough >= sum(costs) * seconds * (1 - 1e-9)


@EACH
def test_a_play_may_begin_at_a_decision(each: Scheme) -> None:
    """As at the first synchronization: nothing more is paid for it, and the speeds are known."""
    runs: list[Runs] = [(), ((0, 30),), (), ((30, 96),)]
    ranks = groups(each, 4)
    outcome = evaluate(game([1.0] * 4), each, runs, ranks, 5.0, [1.0] * 4)
    for group, members in zip(outcome.groups, ranks, strict=True):
        assert group.redistributions == 1
        assert group.synchronizations == 1
        share = (96 if len(members) == 4 else 30 if 1 in members else 66) / len(members)
        assert group.finish_s == pytest.approx(5 + share + overhead_s(group))
