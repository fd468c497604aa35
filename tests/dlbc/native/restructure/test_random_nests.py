"""Random nests give the same bytes, restructured; and the comparison sees what is wrong."""

from __future__ import annotations

import pytest

from dlbc.native.restructure import leaves
from tests.fuzz.random_nests import _compiled, failures


@pytest.mark.parametrize("block", range(10))
def test_random_nests_compute_the_same_bytes(block: int) -> None:
    found = [report for number in range(15 * block, 15 * block + 15) for _, report in failures(3, number)]
    assert len(found) > 4
    assert not any(found), next(filter(None, found))


def test_compiled_nests_compute_the_same_bytes() -> None:
    found = [report for number in range(4) for _, report in failures(5, number, _compiled)]
    assert found
    assert not any(found), next(filter(None, found))


def test_chains_in_another_order_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        leaves, "shifted", lambda name, amount: leaves.form(leaves.expression(f"{name} - {amount}"))
    )
    found = [report for number in range(60) for _, report in failures(3, number)]
    assert any(found)
