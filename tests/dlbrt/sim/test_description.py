"""Machines as they are written down: what their keys mean, and what is said of those that are none."""

from __future__ import annotations

import tomllib

import pytest
from dlbrt.balance.messages import Profile
from dlbrt.contract import OptionError
from dlbrt.emulation import Cliff, LoadSpec, RandomLoad
from dlbrt.predict.groups import parse_group
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim.description import DescriptionError, MachineDescription, NetworkDescription, read_machine
from dlbrt.sim.machine import load_for, reseeded, speeds_for


def read(text: str) -> MachineDescription:
    return read_machine(tomllib.loads(text))


def wrong(text: str) -> list[str]:
    with pytest.raises(DescriptionError) as caught:
        read(text)
    return str(caught.value).splitlines()


def test_processors_of_one_host() -> None:
    alike = read("processors = 3\nspeed = 0.5\n").machine(3)
    assert alike.speeds == (0.5, 0.5, 0.5)
    assert alike.groups == ((0, 1), (2,))
    assert read("processors = [1, 2.5]\n").machine(2).speeds == (1.0, 2.5)


def test_hosts_one_after_the_other() -> None:
    found = read("[[hosts]]\ncount = 2\nprocessors = [1, 0.5]\n[[hosts]]\nspeed = 2\n")
    assert [p.host for p in found.processors] == ["host 0", "host 0", "host 1", "host 1", "host 2"]
    machine = found.machine(5)
    assert machine.speeds == (1.0, 0.5, 1.0, 0.5, 2.0)
    assert machine.groups == ((0, 1), (2, 3), (4,))
    assert found.machine(3).groups == ((0, 1), (2,))
    assert found.machine(5, parse_group("5,exchange", 5)).groups == ((0, 1, 2, 3, 4),)
    assert found.machine(5, parse_group("5,exchange", 5)).rules.exchange
    assert found.machine(5, size=3).groups == ((0, 1, 2), (3, 4))


def test_more_ranks_than_processors() -> None:
    with pytest.raises(
        DescriptionError, match="at most 2 ranks, as many as the machine has processors; found 3"
    ):
        read("processors = 2\n").machine(3)
    assert MachineDescription().machine(5).speeds == (1.0,) * 5


def test_cliffs_and_load_are_those_of_the_processors() -> None:
    cliff = "cliff = { units = 40, factor = 3, width = 1 }"
    found = read(f"load = 'fixed:0,1'\n[[hosts]]\nprocessors = 3\n[[hosts]]\n{cliff}\n")
    assert found.machine(4).load == LoadSpec((0, 1, 0, 1), cliffs=(None, None, None, Cliff(40, 3, 1)))
    assert found.machine(3).load == LoadSpec((0, 1, 0))
    random = read("processors = 2\nload = 'random:max=5,duration=0.5,seed=7'\n").machine(2)
    assert random.load.random == RandomLoad(5, 0.5, 7)


def test_a_network_by_latency_and_bandwidth() -> None:
    network = read("processors = 64\n[network]\nlatency_s = 1e-4\nbandwidth = 1e6\n").machine(64).network
    assert (network.latency_s, network.bandwidth, network.switch_s) == (1e-4, 1e6, 0.0)
    for ranks, rounds in ((2, 1), (4, 2), (8, 3), (16, 4), (32, 5), (64, 6)):
        assert network.one_to_all.seconds(ranks) == pytest.approx(rounds * 1e-4, rel=0.35)
        profiles_s = (ranks - 1) * Profile.width() * 8 / 1e6
        assert network.all_to_all.seconds(ranks) == pytest.approx(rounds * 1e-4 + profiles_s, rel=0.1)
    assert network.all_to_one == network.all_to_all
    assert NetworkDescription.of(network).among(8) == network


@pytest.mark.parametrize("ranks", [1, 2, 3, 10**6])
def test_the_default_network_is_there_for_any_number(ranks: int) -> None:
    network = NetworkDescription().among(ranks)
    assert network.latency_s == Network.default().latency_s
    assert network.one_to_all.seconds(max(2, ranks)) > 0
    assert network.one_to_all.seconds(1) == 0


def test_patterns_as_they_are_given() -> None:
    text = (
        "processors = 2\n[network]\nswitch_s = 5e-3\none_to_all = [-1e-3, 1e-3]\n"
        "all_to_one = { coefficients = [0, 2e-3], most = 4, least_s = 1e-6 }\n"
    )
    network = read(text).machine(2).network
    assert network.one_to_all == Pattern((-1e-3, 1e-3))
    assert network.all_to_one == Pattern((0.0, 2e-3), 4, 1e-6)
    assert network.all_to_all == NetworkDescription().among(2).all_to_all
    assert network.switch_s == 5e-3


COUNT = "expected a whole number from 1 to 4194304"
PROCESSORS = f"processors: {COUNT}, or a list of speeds above 0"
SPEED = "expected a speed above 0, from 1e-15 to 1e+15"
UNKNOWN = "unknown key; expected one of"
NETWORK = "latency_s, bandwidth, switch_s, one_to_all, all_to_one, all_to_all"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", f"{PROCESSORS}, or tables [[hosts]]; found nothing"),
        (
            "procesors = 3",
            f"procesors: {UNKNOWN} processors, speed, cliff, hosts, network, load; did you mean",
        ),
        ("processors = 0", f"{PROCESSORS}; found 0"),
        ("processors = true", f"{PROCESSORS}; found True"),
        ("processors = 1.5", f"{PROCESSORS}; found 1.5"),
        ("processors = 5000000", f"{PROCESSORS}; found 5000000"),
        ("processors = []", f"{PROCESSORS}; found []"),
        ("processors = [1, -1]", f"processors[1]: {SPEED}; found -1"),
        ("processors = [1, 'a']", f"processors[1]: {SPEED}; found 'a'"),
        ("[[hosts]]\n[[hosts]]\nprocessors = [0]", f"hosts[1].processors[0]: {SPEED}; found 0"),
        ("processors = [1, 2]\nspeed = 2", "speed: expected none beside a list of speeds; found 2"),
        ("processors = 2\nspeed = -1", "speed: expected a speed above 0, from 1e-15 to 1e+15; found -1"),
        ("processors = 2\nspeed = inf", "speed: expected a speed above 0, from 1e-15 to 1e+15; found inf"),
        (
            "processors = 2\nspeed = 'fast'",
            "speed: expected a speed above 0, from 1e-15 to 1e+15; found 'fast'",
        ),
        ("processors = 2\nload = 3", "load: expected a load as --load takes it; found 3"),
        ("processors = 2\nload = 'much'", "load: DLB_LOAD (--load): expected fixed:"),
        ("processors = 2\nload = 'fixed:1,2,3'", "expected 2 values, one per rank; found 3 values"),
        ("hosts = 3", "hosts: expected tables, each under [[hosts]]; found 3"),
        ("hosts = []", "hosts: expected tables, each under [[hosts]]; found []"),
        (
            "processors = 2\n[[hosts]]",
            "processors: expected it in the tables [[hosts]], which are there; found 2",
        ),
        ("[[hosts]]\ncount = 0", f"hosts[0].count: {COUNT}; found 0"),
        (
            "[[hosts]]\n[[hosts]]\nspeeds = 2",
            f"hosts[1].speeds: {UNKNOWN} count, processors, speed, cliff; did",
        ),
        ("[[hosts]]\ncount = 4194304\nprocessors = 2", "hosts: expected at most 4194304 processors in all"),
    ],
)
def test_what_is_wrong_with_processors_is_said(text: str, line: str) -> None:
    [found] = wrong(text)
    assert line in found


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("cliff = 3", "cliff: expected a table; found 3"),
        (
            "cliff = { units = 0, factor = 2 }",
            "cliff.units: expected a number of units, from 1 to 1e+15; found 0",
        ),
        (
            "cliff = { units = 9 }",
            "cliff.factor: expected how many times slower, from 1 to 1e+15; found nothing",
        ),
        (
            "cliff = { units = 9, factor = 0.5 }",
            "cliff.factor: expected how many times slower, from 1 to 1e+15",
        ),
        (
            "cliff = { units = 9, factor = 2, width = 0 }",
            "cliff.width: expected a part of the units above 0",
        ),
        ("cliff = { units = 9, factor = 2, wide = 1 }", f"cliff.wide: {UNKNOWN} units, factor, width; did"),
        ("network = 'fast'", "network: expected a table; found 'fast'"),
        ("[network]\nlatency = 1", f"network.latency: {UNKNOWN} {NETWORK}; did you mean latency_s?"),
        (
            "[network]\nlatency_s = 0",
            "network.latency_s: expected seconds above 0, from 1e-15 to 1e+15; found 0",
        ),
        (
            "[network]\nbandwidth = nan",
            "network.bandwidth: expected bytes a second above 0, from 1e-15 to 1e+15; found nan",
        ),
        ("[network]\nswitch_s = -1", "network.switch_s: expected seconds, from 0 to 1e+15; found -1"),
        ("[network]\nall_to_all = [1, 'x']", "network.all_to_all[1]: expected a finite number; found 'x'"),
        ("[network]\nall_to_all = [inf]", "network.all_to_all[0]: expected a finite number; found inf"),
        (
            "[network.all_to_all]\ncoefficients = [1, nan]",
            "network.all_to_all.coefficients[1]: expected a finite number; found nan",
        ),
        ("[network]\nall_to_all = []", "network.all_to_all: expected a list of finite numbers"),
        ("[network]\nall_to_all = 3", "network.all_to_all: expected a table; found 3"),
        (
            "[network.all_to_all]\nmost = 3",
            "network.all_to_all.coefficients: expected a list of finite numbers",
        ),
        (
            "[network.all_to_all]\ncoefficients = [1]\nmost = -1",
            "all_to_all.most: expected a number of ranks",
        ),
        ("[network.all_to_all]\ncoefficients = [1]\nleast_s = -1", "all_to_all.least_s: expected seconds"),
    ],
)
def test_what_is_wrong_with_cliffs_and_networks_is_said(text: str, line: str) -> None:
    [found] = wrong(f"processors = 2\n{text}\n")
    assert line in found


@pytest.mark.parametrize(
    "pattern", ["[3, -1]", "{ coefficients = [3, -1], most = 4 }", "{ coefficients = [3, -1], most = 1 }"]
)
def test_patterns_take_no_negative_time(pattern: str) -> None:
    [found] = wrong(f"processors = 8\n[network]\nall_to_one = {pattern}\n")
    said = "network.all_to_one: expected times of 0 s or more for 2 to 8 ranks; found -1 s for 4: change the "
    assert found.startswith(said)


@pytest.mark.parametrize(
    ("ranks", "pattern"),
    [
        (3, "[3, -1]"),
        (8, "{ coefficients = [3, -1], most = 3 }"),
        (8, "{ coefficients = [3, -1], most = 8, least_s = 0.5 }"),
    ],
)
def test_polynomials_may_be_negative_where_no_time_is(ranks: int, pattern: str) -> None:
    found = read(f"processors = {ranks}\n[network]\nall_to_one = {pattern}\n").machine(ranks).network
    assert min(found.all_to_one.seconds(p) for p in range(2, ranks + 1)) >= 0


def test_all_that_is_wrong_is_said_at_once() -> None:
    found = wrong("[[hosts]]\ncount = 0\nspeed = -1\n[network]\nlatency_s = 'x'\n")
    assert [line.partition(":")[0] for line in found] == [
        "hosts[0].count",
        "hosts[0].speed",
        "network.latency_s",
    ]


def test_lists_are_repeated() -> None:
    assert load_for(" fixed:0,3 ", 4).levels == (0, 3, 0, 3)
    assert load_for("none", 3) == LoadSpec()
    assert load_for("random:max=5,duration=0.5", 3).random == RandomLoad(5, 0.5, 0)
    assert speeds_for("1,2@50:4", 4) == LoadSpec(
        speeds=(1, 2, 1, 2), cliffs=(None, Cliff(50, 4), None, Cliff(50, 4))
    )
    for text, ranks in (("fixed:0,3", 3), ("fixed:0,3", 1)):
        with pytest.raises(OptionError, match=f"expected {ranks} values, one per rank"):
            load_for(text, ranks)
    with pytest.raises(OptionError, match="expected 3 values"):
        speeds_for("1,2", 3)


def test_loads_after_another_share_no_draws() -> None:
    load = LoadSpec(random=RandomLoad(5, 0.5, 7))
    seeds = [reseeded(load, number, 4).random for number in range(3)]
    assert [found.seed for found in seeds if found] == [7, 11, 15]
    assert reseeded(LoadSpec((1, 2)), 3, 2) == LoadSpec((1, 2))
