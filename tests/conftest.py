"""For all tests: which examples are drawn, and no settings of the runtime from the tester's environment."""

from __future__ import annotations

import os

import pytest
from hypothesis import settings

# The suite draws the same examples each time, so that a change is judged by what it changes. To look for
# more: pytest --hypothesis-profile=search, which draws other and many more examples.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("search", max_examples=5000, deadline=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what is emitted and explained in tests/cases anew"
    )
    parser.addoption(
        "--every-setting",
        action="store_true",
        help="run each program of tests/mpi/programs under all settings",
    )


@pytest.fixture(autouse=True)
def _no_runtime_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DLB_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)  # nor what was stored of the network
