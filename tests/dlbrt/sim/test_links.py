"""Messages go side by side, but one at a time from and to each rank."""

from __future__ import annotations

import pytest
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Transfer
from dlbrt.predict.network import Network, Pattern
from dlbrt.sim.action_executor import Links, PendingRedistribution

FREE = Pattern(())
NETWORK = Network(0.5, 10.0, FREE, FREE, FREE)


def transfer(source: int, target: int, units: int = 10) -> Transfer:
    return Transfer(source, target, Spans.of(range(units)))


def test_a_message_takes_its_latency_and_its_bytes() -> None:
    assert Links(NETWORK, 4, 1.0).send(1, [transfer(1, 2, 15)], 3.0) == {2: 3.0 + 0.5 + 1.5}


def test_two_from_one_rank_follow_one_another_and_two_to_one_as_well() -> None:
    links = Links(NETWORK, 4, 1.0)
    plan = [transfer(1, 2), transfer(1, 3), transfer(2, 3)]
    assert links.send(1, plan, 0.0) == {2: 1.5, 3: 3.0}
    assert links.send(2, plan, 0.0) == {3: 4.5}


def test_what_goes_to_rank_0_is_there_already() -> None:
    links = Links(NETWORK, 4, 1.0)
    assert links.send(1, [transfer(1, 0)], 2.0) == {}
    assert links.size(1, [transfer(1, 0), transfer(1, 2)]) == 10


def test_a_rank_goes_on_when_all_that_it_gives_and_takes_has_gone_over() -> None:
    links, movement = Links(NETWORK, 4, 1.0), PendingRedistribution([transfer(1, 2), transfer(1, 3)])
    assert movement.join(3, 1.0, links) == []
    assert movement.join(0, 1.0, links) == [(0, 1.0)]
    assert movement.join(1, 2.0, links) == [(1, 5.0), (3, 5.0)]
    assert movement.join(2, 9.0, links) == [(2, 9.0)]
    assert movement.arrived == pytest.approx({3: 1.0, 0: 1.0, 1: 2.0, 2: 9.0})
