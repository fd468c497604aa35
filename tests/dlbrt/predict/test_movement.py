"""New shares where moving takes time, and what is worth giving."""

from __future__ import annotations

from dlbrt.data.layout import quickest
from dlbrt.predict.movement import shares_with_movement, worth_giving
from hypothesis import given
from hypothesis import strategies as st

HELD = st.lists(st.integers(0, 5000), min_size=2, max_size=9)


def ends_s(held: list[int], shares: tuple[int, ...], speeds: list[float], move_s: float) -> float:
    """The busiest rank moves, then all compute."""
    most = max(abs(have - share) for have, share in zip(held, shares, strict=True))
    return most * move_s + max(share / speed for share, speed in zip(shares, speeds, strict=True))


@given(HELD, st.data())
def test_what_moves_for_nothing_moves_as_far_as_it_gains(held: list[int], data: st.DataObject) -> None:
    speeds = data.draw(st.lists(st.floats(0.1, 10), min_size=len(held), max_size=len(held)))
    assert shares_with_movement(held, speeds) == quickest(sum(held), speeds)


@given(HELD, st.floats(1e-4, 10), st.data())
def test_all_is_shared_and_done_as_soon_as_by_moving_everything(
    held: list[int], move_s: float, data: st.DataObject
) -> None:
    speeds = data.draw(st.lists(st.floats(0.1, 10), min_size=len(held), max_size=len(held)))
    reserved = [data.draw(st.integers(0, have)) for have in held]
    shares = shares_with_movement(held, speeds, reserved, move_s)
    assert sum(shares) == sum(held)
    assert all(share >= kept for share, kept in zip(shares, reserved, strict=True))
    full = quickest(sum(held), speeds, reserved)
    unit_s = move_s + 1 / min(speeds)  # of a share rounded to whole quanta
    least_s = ends_s(held, full, speeds, move_s)
    assert ends_s(held, shares, speeds, move_s) <= 1.05 * least_s + len(held) * unit_s


def test_what_costs_more_than_it_gains_does_not_move() -> None:
    """A row takes longer to move than the slowest rank takes to compute it."""
    shares = shares_with_movement([0, 30_000], [10.0, 1.0], (), 1.2)
    assert shares[0] <= 0.03 * 30_000
    assert shares_with_movement([0, 30_000], [10.0, 1.0], (), 0.01)[0] >= 0.85 * 30_000


def test_half_is_given_where_ranks_are_alike_and_nothing_moves() -> None:
    assert worth_giving(100.0, 1.0, 0.0, 1.0, 0.0, 0.0) == 50.0
    assert worth_giving(100.0, 1.0, 0.0, 3.0, 0.0, 0.0) == 75.0
    assert worth_giving(100.0, 1.0, 40.0, 1.0, 0.0, 0.0) == 30.0


@given(
    st.floats(1, 1e4),
    st.floats(0.1, 10),
    st.floats(0, 1e4),
    st.floats(0.1, 10),
    st.floats(0, 9),
    st.floats(0, 9),
)
def test_the_taker_ends_no_later_than_the_giver(
    work: float, speed: float, other_s: float, other_speed: float, delay_s: float, move_s: float
) -> None:
    given_away = worth_giving(work, speed, other_s, other_speed, delay_s, move_s)
    if given_away > 0:
        starts_s = max(other_s, delay_s + given_away * move_s)
        left_s = (work - given_away) / speed
        assert starts_s + given_away / other_speed <= left_s * (1 + 1e-9) + 1e-9


def test_what_gains_less_than_loads_change_stays() -> None:
    """Moving a row takes 20 times as long as computing it, so that at most a 22nd could move."""
    assert worth_giving(100.0, 1.0, 0.0, 1.0, 0.0, 20.0) == 0.0
    assert worth_giving(100.0, 1.0, 0.0, 1.0, 100.0, 0.0) == 0.0
