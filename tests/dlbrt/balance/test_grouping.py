"""The option `group`: what its words mean, and the groups that come of them."""

from __future__ import annotations

import pytest
from dlbrt.contract import GROUP_FLAGS, GROUP_KINDS, OptionError
from dlbrt.predict.groups import GroupKind, GroupRules, Groups, GroupSpec, parse_group
from hypothesis import given
from hypothesis import strategies as st

ONE_HOST = ["a"] * 4
TWO_HOSTS = ["a", "b", "a", "b"]


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("3", GroupSpec(3)),
        (" 4 , speed,exchange ", GroupSpec(4, GroupKind.SPEED, GroupRules(exchange=True))),
        ("dynamic,masters,near", GroupSpec(None, GroupKind.NEAR, GroupRules(masters=True, dynamic=True))),
        ("block", GroupSpec(None, GroupKind.BLOCK)),
    ],
)
def test_words_come_in_any_order(text: str, spec: GroupSpec) -> None:
    assert parse_group(text, 4) == spec


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("5", "found '5'$"),
        ("2,3", "found '3' in '2,3'$"),
        ("near,speed", "found 'speed' in 'near,speed'$"),
        ("exchange,exchange", "nothing twice; found 'exchange' in"),
        ("dynamc", "found 'dynamc'; did you mean dynamic"),
        ("2,", "found '' in '2,'$"),
    ],
)
def test_what_is_malformed_is_named(text: str, said: str) -> None:
    with pytest.raises(OptionError, match=said):
        parse_group(text, 4)


def test_the_contract_has_every_word() -> None:
    assert tuple(kind.value for kind in GroupKind) == GROUP_KINDS
    assert tuple(GroupRules.__dataclass_fields__) == GROUP_FLAGS


@pytest.mark.parametrize(
    ("text", "hosts", "speeds", "groups"),
    [
        ("exchange", ONE_HOST, (), ((0, 1), (2, 3))),
        ("exchange", TWO_HOSTS, (), ((0, 2), (1, 3))),
        ("near", TWO_HOSTS, (), ((0, 2), (1, 3))),
        ("block", TWO_HOSTS, (), ((0, 1), (2, 3))),
        ("2", ONE_HOST, (1.0, 1.0, 1.0, 1.0), ((0, 1), (2, 3))),
        ("2", ONE_HOST, (4.0, 4.0, 1.0, 1.0), ((0, 2), (1, 3))),
        ("2,block", ONE_HOST, (4.0, 4.0, 1.0, 1.0), ((0, 1), (2, 3))),
        ("speed", ONE_HOST, (4.0, 4.0, 1.0, 1.0), ((0, 2), (1, 3))),
        ("speed", ONE_HOST, (), ((0, 1), (2, 3))),
        ("3", ONE_HOST, (), ((0, 1), (2, 3))),
    ],
)
def test_groups_are_formed_as_asked(
    text: str, hosts: list[str], speeds: tuple[float, ...], groups: Groups
) -> None:
    assert parse_group(text, 4).formed(hosts, speeds) == groups


def test_the_clause_goes_before_the_run() -> None:
    assert parse_group("2", 4).formed(ONE_HOST, (), 1) == ((0,), (1,), (2,), (3,))
    assert GroupSpec().formed(ONE_HOST, (), 9) == ((0, 1, 2, 3),)


def test_speeds_are_missed_only_where_they_are_asked_for() -> None:
    assert parse_group("speed", 4).lacks_speeds(())
    assert not parse_group("speed", 4).lacks_speeds((1.0, 2.0))
    assert not parse_group("2", 4).lacks_speeds(())


@given(
    ranks=st.integers(1, 12),
    size=st.none() | st.integers(1, 12),
    kind=st.none() | st.sampled_from(list(GroupKind)),
    data=st.data(),
)
def test_every_rank_is_in_one_group(
    ranks: int, size: int | None, kind: GroupKind | None, data: st.DataObject
) -> None:
    hosts = data.draw(st.lists(st.sampled_from("abc"), min_size=ranks, max_size=ranks))
    speeds = data.draw(st.lists(st.floats(0.1, 9.0), min_size=ranks, max_size=ranks) | st.just([]))
    groups = GroupSpec(size, kind).formed(hosts, speeds)
    assert sorted(rank for group in groups for rank in group) == list(range(ranks))
    assert groups == GroupSpec(size, kind).formed(hosts, speeds)
