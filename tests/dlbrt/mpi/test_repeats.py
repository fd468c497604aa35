"""Calls told as repetitions: both sides keep the same."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

from dlbrt.core.model.network import Network
from dlbrt.core.parameters import Parameters
from dlbrt.dist.deal import Deal
from dlbrt.dist.layout import block
from dlbrt.dist.units import Units
from dlbrt.mpi.call import Call
from dlbrt.mpi.repeats import Again, Repeats
from dlbrt.mpi.state import Surroundings
from hypothesis import given
from hypothesis import strategies as st


def call(serial: int, n: int, **changes: Any) -> Call:
    made = Call(
        serial=serial,
        key="1",
        kernel=None,
        body=None,
        headers=(),
        deal=Deal(Units(0, n), block(n, 2)),
        strategy="GDDLB",
        groups=(),
        rules=None,  # type: ignore[arg-type]
        network=Network.default(),
        within=(),
        measured=0,
        parameters=Parameters(),
        exchange_s=1e-4,
        surroundings=None,
        settings=None,
        dropped=(),
        shown=None,  # type: ignore[arg-type]
    )
    return replace(made, **changes)


CALLS = st.builds(
    lambda n, key, changes: (n, {"key": key} | changes),
    st.integers(0, 12),
    st.sampled_from("ab"),
    st.sampled_from([{}, {"body": b"x"}, {"kernel": b"k"}, {"dropped": (3,)}, {"settings": b"s"}]),
)


@given(st.lists(CALLS, max_size=60))
def test_what_arrives_is_what_was_told(told: list[tuple[int, dict[str, Any]]]) -> None:
    ours, theirs = Repeats(), Repeats()
    for serial, (n, changes) in enumerate(told):
        meant = call(serial, n, **changes)
        arrived = pickle.loads(pickle.dumps(ours.shortened(meant)))
        assert theirs.restored(arrived) == meant


def test_a_repetition_is_short_and_news_are_not_kept() -> None:
    repeats = Repeats()
    assert isinstance(repeats.shortened(call(1, 8)), Call)
    assert repeats.shortened(call(2, 8)) == Again(2, None, "1", 0)
    assert repeats.shortened(call(3, 8, body=b"another")) == Again(3, b"another", "1", 0)
    assert isinstance(repeats.shortened(call(4, 9)), Call)
    assert isinstance(repeats.shortened(call(5, 8, kernel=b"k")), Call)
    assert isinstance(repeats.shortened(call(6, 8, surroundings=Surroundings)), Call)
    assert repeats.shortened(call(7, 9)) == Again(7, None, "1", 1)
