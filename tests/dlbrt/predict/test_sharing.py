"""Whether the loops of a routine are shared: by what all of them take together."""

from __future__ import annotations

from dlbrt.predict.sharing import RoutineSharing

N = 100


def after(sharing: RoutineSharing, passes: int, loops: dict[str, tuple[float, float]]) -> RoutineSharing:
    """Runs of loops of so much computing on two ranks, shared at such a price, or alone as is decided."""
    for _ in range(passes):
        for loop, (compute_s, price_s) in loops.items():
            if sharing.trial_s(loop, N) is None:
                sharing.learn(loop, N, [compute_s / 2] * 2, compute_s / 2 + price_s)
            else:
                sharing.learn(loop, N, [compute_s], compute_s)
    return sharing


def test_large_loops_take_small_ones_along() -> None:
    sharing = after(RoutineSharing(), 9, {"large": (20.0, 1.0), "small": (0.5, 1.0)})
    assert not sharing.alone


def test_small_loops_take_a_middling_one_along() -> None:
    sharing = after(RoutineSharing(), 9, {"middling": (3.0, 1.0), "a": (0.1, 1.0), "b": (0.1, 1.0)})
    assert sharing.alone
    assert sharing.trial_s("middling", N) == 6.0


def test_nothing_is_decided_by_the_first_runs_which_distribute_the_arrays() -> None:
    sharing = after(RoutineSharing(), 1, {"a": (4.0, 30.0)})
    assert sharing.trial_s("a", N) is None
    assert not after(sharing, 5, {"a": (4.0, 0.5)}).alone


def test_a_disturbed_run_decides_nothing() -> None:
    sharing = after(RoutineSharing(), 6, {"a": (4.0, 0.5)})
    sharing.learn("a", N, [9.0, 2.0], 40.0)
    assert not sharing.alone


def test_a_loop_that_has_hardly_run_does_not_count() -> None:
    sharing = RoutineSharing()
    sharing.learn("rare", N, [0.1, 0.1], 50.0)
    assert not after(sharing, 9, {"a": (4.0, 0.5)}).alone


def test_loops_that_cannot_be_shared_do_not_keep_small_ones_shared() -> None:
    sharing = RoutineSharing()
    for _ in range(9):
        sharing.learn("cannot be shared", N, [5.0], 5.0)
        after(sharing, 1, {"small": (0.5, 1.0)})
    assert sharing.alone


def test_a_loop_whose_runs_will_be_repeated_is_judged_by_the_repetitions() -> None:
    sharing = RoutineSharing()
    sharing.expect_repeats("a")
    assert not after(sharing, 9, {"a": (1.0, 2.0)}).alone
    sharing.learn("a", N, [0.5, 0.5], 0.6, repeated=4)
    assert not sharing.alone


def test_repetitions_that_do_not_come_are_not_awaited_for_good() -> None:
    sharing = RoutineSharing()
    sharing.expect_repeats("a")
    assert after(sharing, 40, {"a": (1.0, 2.0)}).alone


def test_what_has_grown_is_shared_again() -> None:
    sharing = after(RoutineSharing(), 6, {"a": (1.0, 2.0)})
    assert sharing.alone
    for _ in range(200):
        sharing.learn("a", N, [20.0], 20.0)
    assert not sharing.alone


def test_what_a_shared_run_will_take_is_known_after_some_runs() -> None:
    assert RoutineSharing().together_s("a", N) is None
    assert after(RoutineSharing(), 2, {"a": (4.0, 0.5)}).together_s("a", N) is None
    assert after(RoutineSharing(), 6, {"a": (4.0, 0.5)}).together_s("a", N // 2) == 1.5


def test_a_loop_without_iterations_teaches_nothing() -> None:
    sharing = RoutineSharing()
    for _ in range(9):
        sharing.learn("a", 0, [0.0, 0.0], 1.0)
    assert not sharing.alone
    assert sharing.trial_s("a", 0) is None
