"""What is decoded is what was encoded, of the same types, whatever class of the core it is of."""

from __future__ import annotations

import inspect
import json
import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from importlib import import_module
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from dlbrt.balance import actions, events
from dlbrt.balance.actions import Action, ExchangeProfiles
from dlbrt.balance.decision import Decision
from dlbrt.balance.events import Event, ProfilesExchanged, Worked
from dlbrt.balance.group_state import BalancingContext
from dlbrt.balance.messages import Profile
from dlbrt.chunks.statistics import LoopStatistic
from dlbrt.data.spans import Spans
from dlbrt.data.transfer import Assignment
from dlbrt.data.work_table import Units
from dlbrt.observe.trace_codec import CodecError, Decoder, Encoder
from dlbrt.parameters import Parameters
from hypothesis import given
from hypothesis import strategies as st
from papers.zaki.network import ethernet

NUMBERS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
VALUES = st.recursive(
    NUMBERS,
    lambda each: st.one_of(
        st.lists(each),
        st.lists(each).map(tuple),
        st.dictionaries(st.integers() | st.text(), each),
        st.frozensets(st.integers() | st.text()),
        st.builds(range, st.integers(), st.integers(), st.integers(1)),
        st.builds(Assignment, st.integers(), st.integers(), st.integers()),
        st.builds(
            Worked, st.floats(), st.integers(), st.floats(), st.lists(st.tuples(st.integers(), st.floats()))
        ),
        st.sampled_from(LoopStatistic),
    ),
)


def through(value: Any) -> Any:
    """What comes back from a file."""
    encoder = Encoder()
    text = json.dumps([encoder.encode(value), encoder.shared, encoder.modules], allow_nan=False)
    found, shared, modules = json.loads(text)
    return Decoder(shared, modules).decode(found)


def bits(value: Any) -> Any:
    """The value with its types, floats by their bits."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else struct.pack("d", value)
    if isinstance(value, tuple | list):
        return type(value), [bits(each) for each in value]
    if isinstance(value, dict):
        return [(bits(key), bits(each)) for key, each in value.items()]
    if hasattr(value, "__dataclass_fields__"):
        return type(value), [bits(getattr(value, each.name)) for each in fields(value)]
    return type(value), value


@given(VALUES)
def test_every_value_comes_back_to_the_bit(value: Any) -> None:
    assert bits(through(value)) == bits(value)


def test_numbers_of_numpy_come_back_as_those_of_python() -> None:
    assert bits(through((np.float64(0.1), np.int64(3), np.bool_(True)))) == bits((0.1, 3, True))


def example(hint: Any) -> Any:
    """A value of that type, dataclasses by their fields; nothing in it is its default."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint in (int, float, str, bool):
        return {int: 7, float: 0.1, str: "GDDLB", bool: True}[hint]
    if isinstance(hint, UnionType):
        return example(next(part for part in parts if part is not type(None)))
    if origin is tuple or hint is tuple:
        return (example(parts[0]),) if parts[1:] == (...,) else tuple(map(example, parts))
    if origin is Literal:
        return parts[0]
    if origin is not None:  # sequences and the like
        return tuple(example(part) for part in parts[:1])
    if hint is Spans:
        return Spans((range(3, 9), range(20, 50, 3)))
    return hint(
        **{name: example(each) for name, each in get_type_hints(hint).items() if name in made_with(hint)}
    )


def made_with(kind: Any) -> Any:
    if is_dataclass(kind):
        return [each.name for each in fields(kind) if each.init]
    return inspect.signature(kind).parameters


def told() -> Iterator[Any]:
    for module, kinds in ((events, get_args(Event)), (actions, get_args(Action))):
        assert {kind.__name__ for kind in kinds} == {
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        }
        yield from kinds


@pytest.mark.parametrize("kind", list(told()), ids=lambda kind: kind.__name__)
def test_every_event_and_action_comes_back(kind: type) -> None:
    value = example(kind)
    assert bits(through(value)) == bits(value)


def test_every_word_comes_back() -> None:
    words = import_module("dlbrt.balance.messages")
    for kind in get_args(words.Message):
        assert through(example(kind)) == example(kind)


def test_the_terms_of_a_loop_come_back() -> None:
    network = ethernet()
    terms = {"unit_bytes": 3.5, "group_exchange_s": {(0, 1): 0.2}, "exchanges": network.all_to_all}
    context = BalancingContext(Units(0, 9, True), Parameters(), 0.1, **terms)  # type: ignore[arg-type]
    assert bits(through((context, network))) == bits((context, network))


def test_what_is_long_and_comes_again_is_kept_once() -> None:
    profiles = (Profile(3, 0.5), Profile(4, 0.25))
    again = (Profile(3, 0.5), Profile(4, 0.25))
    encoder = Encoder()
    found = [
        encoder.encode(each)
        for each in (ExchangeProfiles(1, profiles[0], (0, 1)), ProfilesExchanged(0.5, profiles))
    ]
    before = len(encoder.shared)
    encoder.forget()
    found.append(encoder.encode(ProfilesExchanged(0.5, again)))
    assert len(encoder.shared) == before
    assert found[1] == found[2]
    decoder = Decoder(encoder.shared, encoder.modules)
    assert [decoder.decode(each) for each in found][1:] == [ProfilesExchanged(0.5, profiles)] * 2


@dataclass(frozen=True)
class Elsewhere:
    number: int


@pytest.mark.parametrize(
    "value", [Elsewhere(1), object(), 1j, Encoder()], ids=lambda value: type(value).__name__
)
def test_a_value_of_no_class_of_the_core_is_refused(value: Any) -> None:
    with pytest.raises(CodecError, match=r"cannot be written|is no value of the core"):
        Encoder().encode((1, value))


BROKEN = [
    ({"Worked": {"now": 1.0}}, "its fields differ"),
    ({"Worked": 3}, "expected a Worked"),
    ({"Worked": {"now": "x", "units": 1, "compute_s": 1, "progress": []}}, "a Worked whose now is .*float"),
    (
        {"Worked": {"now": 1.0, "units": True, "compute_s": 1, "progress": []}},
        "a Worked whose units is .*int",
    ),
    ({"Worked": {"now": 1.0, "units": 1, "compute_s": 1, "progress": [3]}}, "a Worked whose progress is "),
    ({"Worked": {}, "TimeElapsed": {}}, "one member"),
    ({"PoolEmpty": {}}, "without a module"),
    ({"same": 3}, "one of 0 values"),
    ({"same": "x"}, "an integer"),
    ({"float": "0x1p3"}, "expected inf"),
    ({"range": [1, 2]}, "expected a range"),
    ({"range": [1, 2, 0]}, "expected a range"),
    ({"Spans": [1, 2]}, "triples"),
    ({"Spans": [1, 2.5, 1]}, "an integer"),
    ({"LoopStatistic": "NONE"}, "expected a LoopStatistic"),
    ({"dict": [[{"list": []}, 1]]}, "expected a dict"),
]


@pytest.mark.parametrize(("found", "said"), BROKEN, ids=[str(found) for found, _ in BROKEN])
def test_what_is_no_value_is_told(found: Any, said: str) -> None:
    modules = {
        "Worked": "balance.events",
        "TimeElapsed": "balance.events",
        "Spans": "data.spans",
        "LoopStatistic": "chunks.statistics",
    }
    with pytest.raises(CodecError, match=said):
        Decoder([], modules).decode(found)


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("Popen", "subprocess"),
        ("Options", "options"),
        ("Worked", "balance.nowhere"),
        ("Balancer", "balance.balancer"),
        ("ChunkSequence", "balance.events"),
        ("Any", "core.__init__.os"),
        ("Worked", 3),
        ("Decision", "balance.events"),
    ],
)
def test_nothing_but_values_of_the_core_comes_out_of_a_file(name: str, module: Any) -> None:
    with pytest.raises(CodecError, match=f"this version has no {name}"):
        Decoder([], {name: module})
    assert Decision.__module__ == "dlbrt.balance.decision"
