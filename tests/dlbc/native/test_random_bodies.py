"""Chunk functions of random bodies do what Python does; and the comparison sees what is wrong."""

from __future__ import annotations

from collections import Counter

import pytest

from dlbc.native.extents import Linear
from dlbc.native.lower_elements import ElementLowering
from tests.fuzz.random_bodies import failure
from tests.support.tier import part


@pytest.mark.parametrize("block", part(range(6), 3))
def test_random_bodies_are_done_as_python_does_them(block: int) -> None:
    counts: Counter[str] = Counter()
    found = [failure(3, number, counts) for number in range(40 * block, 40 * block + 40)]
    assert not any(found), next(filter(None, found))
    assert counts["compiled"] > 25
    assert counts["iterations done"] > 100


def _is_seen() -> bool:
    return any(failure(7, number, Counter()) for number in range(100))


def test_subscripts_that_are_not_tested_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElementLowering, "_is_in_range", lambda *_: True)
    assert _is_seen()


def test_tests_that_ask_too_little_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    below = ElementLowering._below
    one = Linear.literal(1)
    monkeypatch.setattr(
        ElementLowering, "_below", lambda self, length, form, *rest: below(self, length, form - one, *rest)
    )
    assert _is_seen()


def test_numbers_that_are_wrongly_taken_for_not_negative_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElementLowering, "_has_no_minus", lambda *_: True)
    assert _is_seen()


def test_rows_that_are_not_put_back_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ElementLowering, "_updates", lambda *_: False)
    monkeypatch.setattr(ElementLowering, "_store", lambda *_: None)
    assert _is_seen()
