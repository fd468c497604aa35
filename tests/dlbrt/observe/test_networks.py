"""Networks kept in a file: whom a calibration serves, what comes back, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest
from dlbrt.contract import OptionError
from dlbrt.observe.networks import (
    Calibration,
    NetworkSite,
    PatternSamples,
    default_path,
    find,
    from_json,
    read,
    settled,
    table,
    to_json,
    update,
)
from dlbrt.predict.network import Network, Networks
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet

MPICH = "MPICH Version:      5.0.2\nMPICH Release date: today\n\0"
SAMPLES = PatternSamples(
    ((2, 1e-5), (3, 2e-5), (4, 3.1e-5)), ((2, 1e-5), (3, 2e-5), (4, 3e-5)), ((2, 2e-5), (3, 6e-5), (4, 1e-4))
)
NEAR = Network.default()
FAR = ethernet()


def calibration(*hosts: str, library: str = MPICH, whole: Network = FAR) -> Calibration:
    return Calibration(NetworkSite.of(hosts, library), Networks(whole, (("a", NEAR),)), SAMPLES)


def test_a_site_is_the_number_of_ranks_of_each_host_and_the_library_by_its_first_line() -> None:
    site = NetworkSite.of(["b", "a", "b"], MPICH)
    assert site == NetworkSite((("a", 1), ("b", 2)), "MPICH Version: 5.0.2")
    assert site == NetworkSite.of(["b", "b", "a"], "MPICH Version: 5.0.2")
    assert site.size == 3
    assert NetworkSite.of(["a"], "").mpi == ""


@pytest.mark.parametrize(
    ("hosts", "library", "serves"),
    [
        ("aabb", MPICH, True),
        ("baba", MPICH, True),
        ("ab", MPICH, True),
        ("aab", MPICH, True),
        ("aaab", MPICH, False),
        ("aa", MPICH, False),
        ("aabbc", MPICH, False),
        ("aabb", "Open MPI v5.0.1", False),
    ],
)
def test_more_ranks_on_the_same_hosts_serve_fewer(hosts: str, library: str, serves: bool) -> None:
    assert NetworkSite.of("aabb", MPICH).serves(NetworkSite.of(hosts, library)) == serves


def test_the_one_of_the_fewest_ranks_is_found() -> None:
    known = [calibration(*"aaab"), calibration(*"aab"), calibration(*"aaaabb")]
    assert find(known, NetworkSite.of("ab", MPICH)) == known[1]
    assert find(known, NetworkSite.of("abbb", MPICH)) is None
    assert find([], NetworkSite.of("ab", MPICH)) is None


def test_a_group_on_one_host_has_the_network_of_that_host() -> None:
    networks = Networks(FAR, (("a", NEAR),))
    groups = ((0, 1), (2, 3), (4, 5))
    assert networks.of_groups(groups, "aabbab") == (NEAR, FAR, FAR)
    assert Networks(FAR).of_groups(groups, "aabbab") == ()


def test_samples_are_fitted_each_for_itself() -> None:
    network = SAMPLES.network(1e-6, 1e9, 2e-6)
    assert (network.latency_s, network.bandwidth, network.switch_s) == (1e-6, 1e9, 2e-6)
    for name in ("one_to_all", "all_to_one", "all_to_all"):
        for ranks, seconds in getattr(SAMPLES, name):
            assert getattr(network, name).seconds(ranks) == pytest.approx(seconds)


TIMES = st.lists(st.floats(0, 10), min_size=1, max_size=9)


@given(TIMES, TIMES, TIMES, st.dictionaries(st.text(max_size=4), st.integers(1, 40), min_size=1, max_size=3))
def test_json_gives_the_same_back(
    one: list[float], gather: list[float], among: list[float], hosts: dict[str, int]
) -> None:
    samples = PatternSamples(*(tuple(enumerate(times, 2)) for times in (one, gather, among)))
    networks = Networks(samples.network(1 / 3, 1e9 / 7, 0.1), tuple((host, NEAR) for host in hosts))
    found = Calibration(NetworkSite(tuple(sorted(hosts.items())), "mpi"), networks, samples)
    assert from_json(to_json(found)) == found


def repetition(latency_s: float, bandwidth: float, exchange_s: float) -> Calibration:
    whole = replace(NEAR, latency_s=latency_s, bandwidth=bandwidth)
    samples = replace(SAMPLES, all_to_all=((2, 5.0), (4, exchange_s)))
    return replace(calibration(*"aabb", whole=whole), samples=samples)


@pytest.mark.parametrize(
    ("repeated", "middle", "spread"),
    [
        ([(1.0, 8.0, 3.0), (1.0, 8.0, 3.0), (1.0, 8.0, 3.0)], 0, 1.0),
        ([(1.0, 8.0, 3.0), (1.5, 8.0, 1.0), (1.0, 8.0, 2.0)], 2, 3.0),
        ([(1.0, 8.0, 3.0), (5.0, 8.0, 4.0), (1.0, 8.0, 2.0)], 0, 5.0),
        ([(1.0, 8.0, 3.0), (1.0, 2.0, 2.0), (1.0, 8.0, 1.0)], 1, 4.0),
        ([(1.0, 8.0, 0.0), (1.0, 8.0, 0.0), (1.0, 8.0, 0.0)], 0, 1.0),
        ([(1.0, 8.0, 0.0), (1.0, 8.0, 1.0), (1.0, 8.0, 2.0)], 1, inf),
    ],
)
def test_of_repetitions_the_middle_one_counts_and_the_largest_factor(
    repeated: list[tuple[float, float, float]], middle: int, spread: float
) -> None:
    measured = [repetition(*each) for each in repeated]
    found = settled(measured, "2026-11-23")
    assert found == replace(measured[middle], date="2026-11-23", spread=spread)
    kept = from_json(to_json(found))
    assert kept == replace(found, spread=None if spread == inf else spread)


def test_an_entry_without_date_and_spread_is_read(tmp_path: Path) -> None:
    path = tmp_path / "networks.json"
    path.write_text(changed(lambda d: (entry(d).pop("date"), entry(d).pop("spread"))))
    assert read(path) == (calibration("a", "b"),)


def test_a_file_keeps_one_of_a_site_the_newest_first(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "networks.json"
    assert read(path) == ()
    first, other, again = calibration(*"ab"), calibration(*"aabb"), calibration(*"ba", whole=NEAR)
    for found in (first, other, again):
        update(path, found)
    assert read(path) == (again, other)
    assert [entry.name for entry in path.parent.iterdir()] == ["networks.json"]


def test_the_oldest_are_forgotten(tmp_path: Path) -> None:
    path = tmp_path / "networks.json"
    for number in range(66):
        update(path, calibration(f"host{number}"))
    assert [found.site.ranks for found in read(path)] == [((f"host{n}", 1),) for n in range(65, 1, -1)]


def test_the_file_lies_in_the_cache_directory() -> None:
    assert default_path({"XDG_CACHE_HOME": "/c"}, windows=False) == Path("/c/dlb/networks.json")
    named = {"XDG_CACHE_HOME": "relative", "HOME": "/h"}
    assert default_path(named, windows=False) == Path("/h/.cache/dlb/networks.json")


def test_without_a_home_there_is_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    assert default_path({}, windows=False) is None


def changed(change: Callable[[dict[str, Any]], object]) -> str:
    document = {"format": "dlb networks", "version": 2, "networks": [json.loads(to_json(calibration(*"ab")))]}
    change(document)
    return json.dumps(document)


def entry(document: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = document["networks"][0]
    return found


FOREIGN = {
    "not JSON": "{",
    "another object": "[]",
    "a file of speeds": changed(lambda d: d.update(format="dlb learned")),
    "an earlier version": changed(lambda d: d.update(version=1)),
    "a later version": changed(lambda d: d.update(version=3)),
    "no networks": changed(lambda d: d.pop("networks")),
    "a host without ranks": changed(lambda d: entry(d)["hosts"].update(a=0)),
    "half a rank": changed(lambda d: entry(d)["hosts"].update(a=1.5)),
    "a library that is a number": changed(lambda d: entry(d).update(mpi=3)),
    "no bandwidth": changed(lambda d: entry(d)["network"].update(bandwidth=0)),
    "a latency that is none": changed(lambda d: entry(d)["network"].update(latency_s=float("nan"))),
    "a network within that is none": changed(lambda d: entry(d)["within"].update(a={})),
    "samples of one rank": changed(lambda d: entry(d)["samples"].update(all_to_all=[[1, 0.5]])),
    "a negative time": changed(lambda d: entry(d)["samples"].update(all_to_all=[[2, -0.5]])),
    "no samples": changed(lambda d: entry(d)["samples"].update(all_to_all=[])),
}


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN.keys())
def test_what_is_not_ours_is_refused_and_stays(content: str, tmp_path: Path) -> None:
    path = tmp_path / "networks.json"
    path.write_text(content)
    with pytest.raises(
        OptionError, match=r"expected networks that `dlbc calibrate` has measured; found .*json"
    ):
        read(path)
    with pytest.raises(OptionError, match="calibrate again"):
        update(path, calibration("a", "b"))
    assert path.read_text() == content


def test_an_unchanged_document_is_read(tmp_path: Path) -> None:
    path = tmp_path / "networks.json"
    path.write_text(changed(lambda d: None))
    assert read(path) == (calibration("a", "b"),)


def test_the_table_shows_what_was_measured_and_fitted() -> None:
    found = calibration(*"aabb", whole=SAMPLES.network(3.5e-6, 2.5e9, 1e-6))
    assert "\n".join(table(found)) == (
        "4 ranks (a: 2, b: 2), MPICH Version: 5.0.2\n"
        "latency   3.5 us\n"
        "bandwidth 2500 MB/s\n"
        "request   1 us of the central balancer\n"
        "\n"
        "ranks     one-to-all [us]  fitted     all-to-one [us]  fitted     all-to-all [us]  fitted\n"
        "    2                10.0    10.0                10.0    10.0                20.0    20.0\n"
        "    3                20.0    20.0                20.0    20.0                60.0    60.0\n"
        "    4                31.0    31.0                30.0    30.0               100.0   100.0\n"
        "\n"
        "among the 2 ranks of a:\n"
        "latency   20 us\n"
        "bandwidth 1000 MB/s\n"
        "request   0 us of the central balancer\n"
        "one-to-all 20.0 us, all-to-one 20.0 us, all-to-all 44.0 us"
    )
