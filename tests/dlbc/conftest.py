"""For the compiler's tests: where the cases lie, and the transformation of one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

CASES = Path(__file__).parents[1] / "cases"


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
