"""The balancer of passes: when it moves, when it stops, and what it never does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import inf
from random import Random

import numpy as np
import pytest
from dlbrt.emulation import Cliff
from dlbrt.speed.pass_balancer import PassBalancer, PassDecision, PassReason, imbalance
from dlbrt.speed.points import ModelKind, SpeedPoints
from hypothesis import given, settings
from hypothesis import strategies as st
from papers.clarke.clusters import Machine, cluster

Seconds = Callable[[tuple[int, ...]], Sequence[float]]

EVERY_MODEL = pytest.mark.parametrize("model", ModelKind)


def play(
    balancer: PassBalancer, n: int, seconds: Seconds, passes: int, movement_s: float = 0.0
) -> list[PassDecision]:
    """So many passes over n units; what was said after each."""
    counts, said = balancer.first(n), []
    for _ in range(passes):
        verdict = balancer.after(counts, seconds(counts), movement_s=movement_s)
        said.append(verdict)
        counts = verdict.counts
    return said


def steady(*speeds: float) -> Seconds:
    """Ranks whose speed does not depend on the size."""
    return lambda counts: [count / speed for count, speed in zip(counts, speeds, strict=True)]


def reasons(said: list[PassDecision]) -> list[PassReason]:
    return [verdict.reason for verdict in said]


def moves(said: list[PassDecision]) -> int:
    return sum(verdict.moves for verdict in said)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        ([1.0, 1.1, 1.05], 0.1),
        ([2.0, 1.0], 1.0),
        ([3.0], 0.0),
        ([], 0.0),
        ([0.0, 1.0], inf),
        ([0.0, 0.0], 0.0),
    ],
)
def test_the_smaller_time_divides(seconds: list[float], expected: float) -> None:
    assert imbalance(seconds) == pytest.approx(expected)


@EVERY_MODEL
def test_one_pass_shows_speeds_that_do_not_depend_on_the_size(model: ModelKind) -> None:
    said = play(PassBalancer(3, model), 600, steady(1, 2, 3), 4)
    assert said[0].counts == (100, 200, 300)
    assert (said[0].imbalance, said[0].measured_s, said[0].kept_s) == (pytest.approx(2.0), 200.0, 200.0)
    assert said[0].predicted_s == pytest.approx(100.0)
    assert reasons(said) == [
        PassReason.BALANCING,
        PassReason.BALANCED,
        PassReason.BALANCED,
        PassReason.BALANCED,
    ]


@EVERY_MODEL
def test_within_the_tolerance_nothing_moves(model: ModelKind) -> None:
    said = play(PassBalancer(2, model, tolerance=0.11), 100, steady(1, 1.1), 2)
    assert reasons(said) == [PassReason.BALANCED] * 2
    assert said[0].counts == (50, 50)
    assert play(PassBalancer(2, model, tolerance=0.09), 100, steady(1, 1.1), 1)[0].counts == (48, 52)


@EVERY_MODEL
def test_shares_that_repeat_are_kept_though_the_times_differ(model: ModelKind) -> None:
    said = play(PassBalancer(2, model), 5, steady(1, 1.2), 3)
    assert reasons(said) == [PassReason.BALANCING, PassReason.REPEATED, PassReason.REPEATED]
    assert said[-1].counts == (2, 3)
    assert said[-1].imbalance == pytest.approx(0.25)


@EVERY_MODEL
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("n", [8000, 11000, 12000])
def test_it_ends_near_the_optimum_of_the_papers_machines(model: ModelKind, number: int, n: int) -> None:
    machine = cluster(number, n)
    said = play(PassBalancer(4, model, tolerance=0.1), n, machine.seconds, 30)
    assert moves(said[-10:]) == 0
    best = min(verdict.measured_s for verdict in said)
    assert said[-1].measured_s == best
    if model is not ModelKind.CONSTANT:
        assert best <= 1.1 * machine.optimum(n)


@pytest.mark.parametrize(("number", "n"), [(1, 11000), (2, 11000), (1, 12000), (2, 12000)])
def test_constant_speeds_do_not_oscillate_for_ever(number: int, n: int) -> None:
    said = play(PassBalancer(4, ModelKind.CONSTANT, tolerance=0.1), n, cluster(number, n).seconds, 20)
    assert said[-1].imbalance > 0.1
    assert said[-1].reason is PassReason.NO_GAIN
    assert moves(said) <= 6


@settings(deadline=None, max_examples=40)  # whole runs on a busy machine
@given(
    st.sampled_from(ModelKind),
    st.lists(st.tuples(st.floats(0.2, 5), st.floats(5, 400), st.floats(1, 50)), min_size=2, max_size=6),
    st.integers(0, 900),
    st.floats(0.02, 1),
)
def test_it_never_goes_on_from_what_measured_worse_to_what_is_no_better_than_the_best(
    model: ModelKind, ranks: list[tuple[float, float, float]], n: int, width: float
) -> None:
    cliffs = tuple(Cliff(fit, factor, width) for _, fit, factor in ranks)
    machine = Machine(tuple(speed for speed, _, _ in ranks), cliffs)
    said = play(PassBalancer(len(ranks), model), n, machine.seconds, 25)
    best = inf
    for verdict in said:
        assert sum(verdict.counts) == n
        best = min(best, verdict.measured_s)
        if verdict.reason is PassReason.BALANCING:
            assert verdict.predicted_s < best
        if verdict.reason is PassReason.RETURN:
            assert verdict.predicted_s == best < verdict.measured_s
    if n:
        assert said[-1].measured_s <= said[0].measured_s or any(v.reason is PassReason.PROBE for v in said)


def test_movement_is_paid_by_as_many_passes_as_have_gone_by() -> None:
    # Equal shares take 50 s, the best ones 40 s: a gain of 10 s a pass pays 35 s after the fourth.
    said = play(PassBalancer(2), 100, steady(1, 1.5), 5, movement_s=35.0)
    assert reasons(said) == [PassReason.NOT_WORTH_MOVING] * 3 + [PassReason.BALANCING, PassReason.BALANCED]


def test_short_passes_may_be_told_together() -> None:
    balancer = PassBalancer(2, every=2)
    verdict = balancer.after((50, 50), (50.0, 50 / 1.5), movement_s=35.0, passes=4)
    assert verdict.reason is PassReason.BALANCING
    assert not balancer.due


def test_what_movement_costs_may_depend_on_where_to() -> None:
    asked: list[tuple[int, ...]] = []

    def movement_s(counts: tuple[int, ...]) -> float:
        asked.append(counts)
        return 0.1 * abs(counts[0] - 50)

    verdict = PassBalancer(2).after((50, 50), (1.0, 4.0), movement_s=movement_s)
    assert asked == [(80, 20)]
    assert not verdict.moves
    assert verdict.counts == (50, 50)
    assert verdict.kept_s == verdict.predicted_s == 4.0


def test_from_shares_that_others_have_made_the_way_leads_back_to_the_best() -> None:
    balancer = PassBalancer(2)
    assert balancer.after((50, 50), (1.0, 4.0)).counts == (80, 20)
    assert balancer.after((80, 20), (1.6, 1.6), kept=(60, 40)).counts == (80, 20)
    assert balancer.after((80, 20), (1.6, 1.6)).reason is PassReason.BALANCED


def test_between_checks_nothing_is_asked() -> None:
    balancer = PassBalancer(2, every=3)
    due = []
    for _ in range(7):
        due.append(balancer.due)
        balancer.skipped()
    assert due == [True, False, False] * 2 + [True]
    assert balancer.after((5, 5), (1.0, 9.0)).reason is PassReason.NOT_DUE


def test_what_is_told_between_checks_is_learned() -> None:
    balancer = PassBalancer(2, every=2)
    balancer.skipped()
    assert not balancer.after((50, 50), (1.0, 4.0)).moves
    assert balancer.points == (SpeedPoints((50,), (50.0,)), SpeedPoints((50,), (12.5,)))
    assert balancer.after((50, 50), (1.0, 4.0)).counts == (80, 20)


@EVERY_MODEL
def test_passes_may_shrink(model: ModelKind) -> None:
    """Elimination: the rows done leave; those of the first rank first, until the others take over."""
    balancer = PassBalancer(3, model)
    counts = balancer.first(300)
    for n in range(299, 0, -1):
        first = next(rank for rank, count in enumerate(counts) if count)
        kept = tuple(count - (rank == first) for rank, count in enumerate(counts))
        verdict = balancer.after(counts, steady(1, 1, 2)(counts), kept=kept)
        assert sum(verdict.counts) == n
        assert verdict.moves or verdict.counts == kept
        counts = verdict.counts
        if n >= 20:
            assert max(steady(1, 1, 2)(counts)) <= n / 4 * 1.05 + 1
    assert balancer.after(counts, (1.0, 1.0, 1.0), kept=(0, 0, 0)).reason is PassReason.NOTHING_LEFT


@EVERY_MODEL
def test_more_ranks_than_units(model: ModelKind) -> None:
    said = play(PassBalancer(5, model), 2, steady(1, 1, 1, 1, 1), 4)
    assert all(sum(verdict.counts) == 2 for verdict in said)
    assert moves(said) == 0


@EVERY_MODEL
def test_nothing_measured_moves_nothing(model: ModelKind) -> None:
    balancer = PassBalancer(2, model)
    assert balancer.after((5, 5), (0.0, 0.0)).reason is PassReason.UNMEASURED
    assert balancer.after((0, 0), (0.0, 0.0), kept=(5, 5)).reason is PassReason.UNMEASURED
    assert balancer.after((5, 5), (0.0, 1.0)).imbalance == inf


@EVERY_MODEL
def test_a_rank_that_had_no_work_is_taken_for_average(model: ModelKind) -> None:
    assert PassBalancer(3, model).after((50, 50, 0), (1.0, 1.0, 0.0)).counts == (34, 33, 33)


@EVERY_MODEL
def test_a_rank_is_not_starved_for_ever(model: ModelKind) -> None:
    """It stalls in the first pass and loses all of its work, but is as fast as the other."""
    balancer = PassBalancer(2, model)
    first = balancer.after((50, 50), (1.0, 5000.0))
    assert first.counts == (100, 0)
    counts, said = first.counts, [first]
    while counts[1] < 40:
        said.append(balancer.after(counts, steady(50, 50)(counts)))
        counts = said[-1].counts
        assert len(said) < 3000
    probes = [k for k, verdict in enumerate(said) if verdict.reason is PassReason.PROBE]
    assert len(probes) == 1
    # A unit of 100 s at the speed it showed is a twentieth of the 2000 s that passes of 2 s take by then.
    assert probes[0] == 1000


def test_a_rank_that_is_slow_indeed_is_asked_ever_less() -> None:
    said = play(PassBalancer(2), 100, steady(100, 0.5), 3000)
    probes = [k for k, verdict in enumerate(said) if verdict.reason is PassReason.PROBE]
    assert said[-1].counts == (100, 0)
    gaps = np.diff(probes)
    assert len(probes) >= 3
    assert (gaps[1:] > 1.5 * gaps[:-1]).all()
    lost_s = sum(verdict.measured_s for verdict in said) - len(said)
    assert lost_s < 0.1 * len(said) + 200


@EVERY_MODEL
def test_a_load_that_comes_and_goes_is_followed(model: ModelKind) -> None:
    balancer = PassBalancer(2, model)
    quiet, loaded = steady(50, 50), steady(50, 25)
    assert play(balancer, 99, quiet, 3)[-1].counts == (50, 49)
    counts = (50, 49)
    for seconds, expected in ((loaded, 66), (quiet, 50)):
        for _ in range(6):
            counts = balancer.after(counts, seconds(counts)).counts
        assert counts[0] == pytest.approx(expected, abs=1)


@EVERY_MODEL
def test_noise_does_not_thrash(model: ModelKind) -> None:
    draw = Random(5)

    def noisy(counts: tuple[int, ...]) -> list[float]:
        return [count / 100 * draw.uniform(0.9, 1.1) for count in counts]

    said = play(PassBalancer(4, model), 400, noisy, 300)
    assert moves(said) <= 30
    assert moves(said[-100:]) <= 5
    assert max(said[-1].counts) <= 120


@EVERY_MODEL
def test_times_that_scatter_do_not_keep_shares_that_are_far_from_even(model: ModelKind) -> None:
    draw = Random(3)

    def noisy(counts: tuple[int, ...]) -> list[float]:
        speeds = (15.0, 15.0, 15.0, 1.0)
        return [count / s * draw.uniform(0.6, 1.6) for count, s in zip(counts, speeds, strict=True)]

    said = play(PassBalancer(4, model), 1600, noisy, 8)
    assert all(a is not PassReason.CHANGED or b is not PassReason.CHANGED for a, b in pairwise(reasons(said)))
    assert said[-1].counts[3] < 150


@EVERY_MODEL
def test_the_same_passes_give_the_same_answers(model: ModelKind) -> None:
    machine = cluster(2, 11000)
    once, twice = (play(PassBalancer(4, model), 11000, machine.seconds, 12) for _ in range(2))
    assert once == twice


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tolerance": 0.0}, "tolerance"),
        ({"every": 0}, "every"),
        ({"known": (SpeedPoints(),)}, "points of 2 ranks"),
    ],
)
def test_what_cannot_be_is_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=f"expected .*{message}"):
        PassBalancer(2, **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize("kept", [(1,), (1, -1), (1, 2, 3)])
def test_counts_are_of_all_ranks(kept: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="expected 2 counts of 0 or more"):
        PassBalancer(2).after((1, 1), (1.0, 1.0), kept=kept)
    with pytest.raises(ValueError, match=r"at least 1 pass, found .* and 0"):
        PassBalancer(2).after((1, 1), (1.0, 1.0), passes=0)
