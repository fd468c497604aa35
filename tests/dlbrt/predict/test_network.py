"""Message times, patterns fitted from samples, and the record of a network."""

from __future__ import annotations

import json
from dataclasses import asdict
from math import inf, nan

import pytest
from dlbrt.predict.network import Network, Pattern, fit
from dlbrt.predict.schemes import scheme
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet

SAMPLES = st.lists(st.tuples(st.integers(2, 64), st.floats(0, 1e3)), min_size=1, max_size=40)


def text_of(network: Network) -> str:
    return json.dumps(asdict(network))


def test_a_message_takes_latency_and_its_bytes_over_the_bandwidth() -> None:
    network = ethernet()
    assert network.message_s(0) == 2414.5e-6
    assert network.message_s(0.96e6) == pytest.approx(1 + 2414.5e-6)


@pytest.mark.parametrize(
    ("name", "ranks", "milliseconds"),
    [
        ("GCDLB", 4, 14.5),
        ("GDDLB", 4, 13.0),
        ("LCDLB", 2, 4.8),
        ("LDDLB", 2, 3.4),
        ("GCDLB", 16, 72.4),
        ("GDDLB", 16, 152.1),
        ("LCDLB", 8, 33.8),
        ("LDDLB", 8, 43.9),
    ],
)
def test_a_synchronization_of_each_strategy_on_the_ethernet(
    name: str, ranks: int, milliseconds: float
) -> None:
    """Figure 1.6's size: 4 and 16 ranks, the local strategies in two groups."""
    found = scheme(name).synchronization_s(ethernet(), ranks)
    assert round(found * 1e3, 1) == milliseconds


def test_samples_of_a_polynomial_give_it_back() -> None:
    network = ethernet()
    for pattern in (network.one_to_all, network.all_to_one, network.all_to_all):
        fitted = fit((p, pattern.seconds(p)) for p in range(2, 17))
        for p in range(2, 17):
            assert fitted.seconds(p) == pytest.approx(pattern.seconds(p), rel=1e-9)


def test_a_fit_is_as_near_in_proportion_for_few_ranks_as_for_many() -> None:
    """The samples lie 10 % above and below a polynomial in turn: no time is missed by half."""
    square = ethernet().all_to_all
    samples = [(p, square.seconds(p) * (1.1 if p % 2 else 0.9)) for p in range(2, 33)]
    fitted = fit(samples)
    for p in range(2, 33):
        assert fitted.seconds(p) == pytest.approx(square.seconds(p), rel=0.12)


def test_a_pattern_may_be_scaled_through_a_measured_time() -> None:
    pattern = Pattern((0.0, 1.0, 0.5), most=8, least_s=3.0)
    scaled = pattern.through(4, 0.6)
    assert [scaled.seconds(p) for p in (2, 4, 8, 16)] == pytest.approx([0.2, 0.6, 2.0, 7.2])
    assert pattern.through(4, 0.0).seconds(8) == 0
    with pytest.raises(ValueError, match="takes time among 1 ranks"):
        pattern.through(1, 0.6)


def test_a_coarse_network_follows_from_a_message_and_an_exchange() -> None:
    network = Network.coarse(1e-5, 1e9, 4, 1e-3)
    assert (network.latency_s, network.bandwidth) == (1e-5, 1e9)
    assert network.one_to_all.seconds(4) == network.all_to_one.seconds(4) == pytest.approx(3e-5)
    assert network.all_to_all.seconds(4) == pytest.approx(1e-3)


def test_in_a_coarse_network_no_pattern_takes_longer_than_the_exchange() -> None:
    network = Network.coarse(1e-3, 1e9, 5, 1e-4)
    assert network.latency_s == 1e-3
    assert network.one_to_all.seconds(5) == pytest.approx(1e-4)


@pytest.mark.parametrize(
    "samples",
    [[(2, 0.3)], [(5, 0.3)], [(2, 0.3), (4, 0.4)], [(2, 0.3), (3, 0.9), (8, 1.0)], [(4, 0.3), (4, 0.5)]],
)
def test_few_samples_are_met_exactly(samples: list[tuple[int, float]]) -> None:
    fitted = fit(samples)
    for p in {p for p, _ in samples}:
        times = [s for q, s in samples if q == p]
        assert fitted.seconds(p) == pytest.approx(sum(times) / len(times))


def test_one_number_of_ranks_alone_is_taken_as_so_much_for_each_other_rank() -> None:
    assert fit([(3, 0.5)]).seconds(9) == pytest.approx(2.0)


@given(SAMPLES)
def test_a_fit_is_never_below_its_cheapest_sample_and_does_not_fall_beyond_the_last(
    samples: list[tuple[int, float]],
) -> None:
    fitted = fit(samples)
    most = max(p for p, _ in samples)
    assert all(fitted.seconds(p) >= min(s for _, s in samples) for p in range(2, 100))
    assert all(fitted.seconds(p) >= fitted.seconds(most) for p in range(most, 200))
    assert fitted.seconds(1) == 0.0


def test_the_order_of_samples_does_not_matter() -> None:
    samples = [(p, 0.1 * p**1.5) for p in range(2, 12)]
    assert fit(samples) == fit(reversed(samples))


@pytest.mark.parametrize("samples", [[], [(1, 0.1)], [(2, -0.1)], [(2, nan)], [(2, inf)]])
def test_samples_that_are_none_are_refused(samples: list[tuple[int, float]]) -> None:
    with pytest.raises(ValueError, match="expected times of 0 or more for 2 ranks or more"):
        fit(samples)


@pytest.mark.parametrize("network", [Network.default(), ethernet(), ethernet(0.5, 0.0)])
def test_a_network_survives_json_to_the_last_bit(network: Network) -> None:
    assert Network.from_json(text_of(network)) == network


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"latency_s": 1}', text_of(Network.default()).replace("1000000000.0", "0")]
    + [
        text_of(Network.default()).replace("2e-05", word, 1)
        for word in ("NaN", "-1", "Infinity", '"x"', "null")
    ],
)
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected a"):
        Network.from_json(text)


def test_a_pattern_is_a_polynomial_in_the_number_of_ranks() -> None:
    assert Pattern((1.0, 2.0, 3.0)).seconds(4) == 1 + 2 * 4 + 3 * 16
    assert Pattern((-100.0, 1.0)).seconds(4) == 0.0
