"""For all tests: settings of the runtime in the environment of the person testing do not reach them."""

from __future__ import annotations

import os

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what is emitted and explained in tests/cases anew"
    )


@pytest.fixture(autouse=True)
def _no_runtime_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DLB_")]:
        monkeypatch.delenv(name)
