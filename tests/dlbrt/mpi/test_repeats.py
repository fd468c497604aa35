"""Calls told as repetitions: both sides keep the same."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

from dlbrt.data.layout import InitialPartition, block
from dlbrt.data.work_table import Units
from dlbrt.mpi.call import CallCache, LoopCall, RepeatedCall
from dlbrt.mpi.values.program_state import ProcessEnvironment
from dlbrt.parameters import Parameters
from dlbrt.predict.network import Network
from hypothesis import given
from hypothesis import strategies as st


def call(serial: int, n: int, **changes: Any) -> LoopCall:
    made = LoopCall(
        serial=serial,
        key="1",
        kernel=None,
        body=None,
        headers=(),
        deal=InitialPartition(Units(0, n), block(n, 2)),
        strategy="GDDLB",
        groups=(),
        rules=None,  # type: ignore[arg-type]
        network=Network.default(),
        within=(),
        measured=0,
        parameters=Parameters(),
        exchange_s=1e-4,
        environment=None,
        settings=None,
        dropped=(),
        output_properties=None,  # type: ignore[arg-type]
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
    ours, theirs = CallCache(), CallCache()
    for serial, (n, changes) in enumerate(told):
        meant = call(serial, n, **changes)
        arrived = pickle.loads(pickle.dumps(ours.shortened(meant)))
        assert theirs.restored(arrived) == meant


def test_a_repetition_is_short_and_news_are_not_kept() -> None:
    repeats = CallCache()
    assert isinstance(repeats.shortened(call(1, 8)), LoopCall)
    assert repeats.shortened(call(2, 8)) == RepeatedCall(2, None, "1", 0)
    assert repeats.shortened(call(3, 8, body=b"another")) == RepeatedCall(3, b"another", "1", 0)
    assert isinstance(repeats.shortened(call(4, 9)), LoopCall)
    assert isinstance(repeats.shortened(call(5, 8, kernel=b"k")), LoopCall)
    assert isinstance(repeats.shortened(call(6, 8, environment=ProcessEnvironment)), LoopCall)
    assert repeats.shortened(call(7, 9)) == RepeatedCall(7, None, "1", 1)
