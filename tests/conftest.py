"""For all tests: settings of the runtime in the environment of the person testing do not reach them."""

from __future__ import annotations

import os

import pytest


@pytest.fixture(autouse=True)
def _no_runtime_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("DLB_")]:
        monkeypatch.delenv(name)
