"""Every strategy has a sentence, which `dlbc explain` and the page of strategies share."""

from __future__ import annotations

from pathlib import Path

import pytest
from dlbrt.contract import BASELINES, STRATEGIES

from dlbc.commands.explain.describe import SUMMARIES

PAGE = " ".join((Path(__file__).parents[2] / "docs" / "strategies.md").read_text(encoding="utf-8").split())


def test_all_strategies_have_one_in_the_order_of_the_contract() -> None:
    assert tuple(SUMMARIES) == (*STRATEGIES, *BASELINES)


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_page_says_the_same(name: str) -> None:
    assert f"* `{name}`: {SUMMARIES[name].removesuffix(', to compare with')}" in PAGE
