"""For all tests: which examples are drawn, and no settings of the runtime from the tester's environment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support import processes, tier

# The suite draws the same examples each time, so that a change is judged by what it changes. To look for
# more: pytest --hypothesis-profile=search, which draws other and many more examples.
settings.register_profile("repeatable", derandomize=True)
settings.register_profile("search", max_examples=5000, deadline=None)
settings.load_profile("repeatable")

#: Without --full a test draws so many times fewer examples than it names, and these folders are left out.
FEWER = 8
FULL_ALONE = [
    Path(__file__).with_name(name)
    for name in ("bench", "browser", "lab", "papers", "release", "site", "slurm")
]
#: What needs Open MPI, in an environment of its own (`.ci/run --full`), is run only where it is named.
APART = Path(__file__).with_name("ulfm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write what is emitted and explained in tests/cases anew"
    )
    parser.addoption(
        "--full",
        action="store_true",
        help="run everything: all settings and examples, laboratory, benchmarks, browser, papers, site",
    )


def pytest_configure(config: pytest.Config) -> None:
    tier.run_full(config.getoption("--full"))
    processes.heed_signals()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out the folders of the full tier, where they are not asked for by name."""
    named = {part for argument in config.args for part in Path(argument.split("::")[0]).parts}
    left_out = collection_path == APART or (collection_path in FULL_ALONE and not tier.is_full())
    return True if left_out and collection_path.name not in named else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests of the full tier, where they are not asked for by name; draws fewer examples."""
    if not tier.is_full():
        named = tuple(argument for argument in config.args if "::" in argument)
        left_out = [
            item for item in items if item.get_closest_marker("full") and not item.nodeid.startswith(named)
        ]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]
    if tier.is_full() or settings.get_current_profile_name() != "repeatable":
        return
    for test in {item.function for item in items if getattr(item, "function", None)}:
        if (named := getattr(test, "_hypothesis_internal_use_settings", None)) is not None:
            few = max(10, named.max_examples // FEWER)
            test._hypothesis_internal_use_settings = settings(named, max_examples=few)


@pytest.fixture(autouse=True)
def _no_runtime_settings(
    monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> None:
    for name in [name for name in os.environ if name.startswith("DLB_")]:
        monkeypatch.delenv(name)
    # Nor what was stored of the network; what is compiled is kept for all tests, or every rank would compile.
    compiles = any(word in request.node.nodeid for word in ("jit", "compiled", "polybench"))
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base  # that of all workers
    place = shared / "compiled" if compiles else os.devnull
    monkeypatch.setenv("XDG_CACHE_HOME", str(place))
