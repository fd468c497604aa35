"""Emulated load: what may be written, what it means, and its exact integral over time."""

from __future__ import annotations

from random import Random

import pytest
from dlbrt.contract import OptionError
from dlbrt.emulation import (
    Cliff,
    Load,
    LoadSpec,
    RandomLoad,
    list_length,
    parse_cliffs,
    parse_load,
    parse_speeds,
    parse_weights,
)
from hypothesis import given
from hypothesis import strategies as st

RANDOM = st.builds(RandomLoad, st.integers(0, 5), st.floats(0.05, 2.0), st.integers(0, 99))


def test_the_three_forms_are_read() -> None:
    assert parse_load("none", 2) == LoadSpec()
    assert parse_load("fixed:0, 0,3,1", 4) == LoadSpec(levels=(0, 0, 3, 1))
    expected = LoadSpec(random=RandomLoad(5, 0.5, 7))
    assert parse_load("random:max=5,duration=0.5,seed=7", 3) == expected
    assert parse_load("random:seed=7,duration=.5,max=5", 3) == expected
    assert parse_load("random:max=5,duration=0.5", 3).random == RandomLoad(5, 0.5, 0)


@pytest.mark.parametrize(
    "text",
    [
        "fixed",
        "fixed:",
        "fixed:1",
        "fixed:1,2,3",
        "fixed:1,-1",
        "fixed:1,x",
        "fixed:1,0.5",
        "fixed:1,",
        "fixed:1,nan",
        "fixed:1,9999999",
        "random",
        "random:",
        "random:max=5",
        "random:max=5,duration=0",
        "random:max=5,duration=nan",
        "random:max=5,duration=inf",
        "random:max=-1,duration=1",
        "random:max=5,duration=1,depth=2",
        "random:max=5,duration=1,seed=x",
        "none:",
        "busy",
        "3,3",
        "random:max=5,max=5,duration=1",
        "random:max=5,duration=-1",
        "random:max=5,duration=",
        "FIXED:1,1",
    ],
)
def test_a_malformed_load_is_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(OptionError, match=r"DLB_LOAD \(--load\): expected .*; found (\d values? in )?'"):
        parse_load(text, 2)


def test_lists_of_speeds_and_weights_are_read() -> None:
    assert parse_speeds("1,1.5,2e0", 3) == (1.0, 1.5, 2.0)
    assert parse_weights("0, 3", 2) == (0.0, 3.0)
    assert parse_weights("1*7, 3 * 4", 11) == (1.0,) * 7 + (3.0,) * 4
    assert parse_speeds("1,1.5@400:15*2", 3) == (1.0, 1.5, 1.5)
    assert list_length("1*7,3*4,2") == 12
    assert parse_weights(" last ", 2) is None


def test_a_speed_may_have_a_cliff() -> None:
    assert parse_speeds("1, 1.5 @ 400:15 ,2", 3) == (1.0, 1.5, 2.0)
    assert parse_cliffs("1, 1.5 @ 400:15 ,2", 3) == (None, Cliff(400, 15), None)
    assert parse_cliffs("1,1.5,2", 3) == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,2@", "1,1.5@400:15,2 .*; found '2@'"),
        ("1,2@400", "1,1.5@400:15,2 .*; found '2@400'"),
        ("1,2@400:", "1,1.5@400:15,2 .*; found '2@400:'"),
        ("1,2@:15", "1,1.5@400:15,2 .*; found '2@:15'"),
        ("1,@400:15", "a number of 0 or more; found ''"),
        ("1,2@400:15:3", "a number of 0 or more; found '15:3'"),
        ("1,2@x:15", "a number of 0 or more; found 'x'"),
        ("1,2@0:15", "@UNITS:FACTOR of 1 unit or more and a factor from 1 to 1000000; found '2@0:15'"),
        ("1,2@400:0.5", "@UNITS:FACTOR of 1 unit or more and a factor from 1 to 1000000; found '2@400:0.5'"),
        ("1,2@400:1e7", "@UNITS:FACTOR .*; found '2@400:1e7'"),
        ("1,2@1e99:15", "@UNITS:FACTOR .*; found '2@1e99:15'"),
        ("1@400:15", "2 values, one per rank; found 1 value in '1@400:15'"),
    ],
)
def test_malformed_cliffs_are_refused(text: str, message: str) -> None:
    for parse in (parse_speeds, parse_cliffs):
        with pytest.raises(OptionError, match=rf"DLB_SPEEDS \(--speeds\): expected {message}"):
            parse(text, 2)


@pytest.mark.parametrize(
    "text", ["1", "1,2,3", "1,nan", "1,inf", "1,-2", "1,x", "1,", "0,1", "1,1e9", "1_0,1"]
)
def test_malformed_speeds_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="DLB_SPEEDS"):
        parse_speeds(text, 2)


@pytest.mark.parametrize(
    "text", [*["1", "1,2,3", "1,nan", "1,-2", "0,0", "1,1e999", "1*3", "1*0,1", "1*x,1", "*2", "1*1000000"]]
)
def test_malformed_weights_are_refused(text: str) -> None:
    with pytest.raises(OptionError, match="DLB_WEIGHTS"):
        parse_weights(text, 2)


@pytest.mark.parametrize(("text", "found"), [("1", "1 value in '1'"), (" 1,2,3 ", "3 values in '1,2,3'")])
def test_how_many_values_are_missing_or_too_many_is_said(text: str, found: str) -> None:
    with pytest.raises(OptionError, match=rf"\(--weights\): expected 2 values, one per rank; found {found}$"):
        parse_weights(text, 2)


def test_a_word_in_place_of_weights_is_answered_by_all_forms() -> None:
    with pytest.raises(OptionError, match=r"2,1,1 \(a number per rank\), last or trial; found 'lats'"):
        parse_weights("lats", 3)


def test_a_rank_with_load_l_takes_l_plus_one_times_as_long() -> None:
    load = Load(LoadSpec(levels=(0, 3), speeds=(2.0, 1.0)), 1)
    assert load.active
    assert (load.level(0.0), load.speed_factor) == (3, 2.0)
    assert load.stretch(1.0, 0.5) == 0.5 * 4 * 2
    assert not Load(LoadSpec(levels=(0, 3), speeds=(2.0, 1.0)), 0).active


def test_a_rank_that_holds_more_than_fits_is_slower() -> None:
    load = Load(LoadSpec(speeds=(2.0, 1.0), cliffs=(None, Cliff(400, 16))), 1)
    assert load.active
    assert load.stretch(0.0, 1.0) == 2.0
    for units, slower in ((430, 8.5), (460, 16.0), (9000, 16.0), (400, 1.0)):
        load.hold(units)
        assert load.stretch(0.0, 1.0) == pytest.approx(2.0 * slower)
        assert load.speed_factor == pytest.approx(2.0 * slower)


def test_a_rank_without_a_cliff_holds_anything() -> None:
    load = Load(LoadSpec(speeds=(1.0, 1.0), cliffs=(None, Cliff(400, 16))), 0)
    load.hold(10**9)
    assert not load.active
    assert load.stretch(0.0, 1.0) == 1.0


def test_nothing_emulated_leaves_time_as_it_is() -> None:
    load = Load.none()
    assert not load.active
    assert load.stretch(3.0, 0.1) == 0.1
    assert not Load(LoadSpec(random=RandomLoad(0, 1.0, 3)), 2).active


def test_the_kth_draw_holds_for_the_kth_duration_in_any_order_of_asking() -> None:
    load = Load(LoadSpec(random=RandomLoad(5, 0.5, 7)), 2)
    draws = Random(9)
    expected = [draws.randint(0, 5) for _ in range(40)]
    assert [load.level(k * 0.5 + 0.25) for k in reversed(range(40))] == expected[::-1]
    assert [load.level(k * 0.5) for k in range(40)] == expected
    assert {*expected} == {0, 1, 2, 3, 4, 5}


@given(RANDOM, st.integers(0, 3), st.floats(0, 10), st.floats(0, 3))
def test_stretching_is_the_inverse_of_computing_under_load(
    random: RandomLoad, rank: int, start_s: float, compute_s: float
) -> None:
    load = Load(LoadSpec(random=random, speeds=(2.0, 1.0, 3.0, 1.5)), rank)
    wall_s = load.stretch(start_s, compute_s)
    steps = 4000
    step_s = wall_s / steps
    done = sum(
        step_s / ((load.level(start_s + (k + 0.5) * step_s) + 1) * load.speed_factor) for k in range(steps)
    )
    # Each change of load within a step costs at most that step.
    blocks = wall_s / random.duration_s + 2
    assert done == pytest.approx(compute_s, abs=blocks * step_s + 1e-9)


@given(RANDOM, st.floats(0, 10), st.floats(0, 2), st.floats(0, 2))
def test_two_pieces_of_computing_take_as_long_as_both_at_once(
    random: RandomLoad, start_s: float, first_s: float, second_s: float
) -> None:
    load = Load(LoadSpec(random=random), 0)
    wall_s = load.stretch(start_s, first_s)
    assert wall_s + load.stretch(start_s + wall_s, second_s) == pytest.approx(
        load.stretch(start_s, first_s + second_s), abs=1e-9
    )


@given(st.integers(0, 10_000), st.sampled_from([0.1, 0.3, 0.7, 1e-3]))
def test_a_block_begins_where_its_multiple_of_the_duration_lies(block: int, duration_s: float) -> None:
    load = Load(LoadSpec(random=RandomLoad(5, duration_s, 1)), 0)
    draws = Random(1)
    expected = [draws.randint(0, 5) for _ in range(block + 1)][-1]
    assert load.level(block * duration_s) == expected
    assert load.stretch(block * duration_s, 0.0) == 0.0
