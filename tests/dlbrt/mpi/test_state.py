"""What the program set before a loop holds on every rank: captured, carried, put in force."""

from __future__ import annotations

import contextlib
import decimal
import logging
import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from dlbrt.data import shown_warnings
from dlbrt.data.shown_warnings import collects_warnings
from dlbrt.mpi.values.objects import KnownObjects
from dlbrt.mpi.values.program_state import capture, logging_settings


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    before = capture()
    categories = list(warnings.filters)
    yield
    before.environment.apply()
    before.settings.apply()
    warnings.filters[:] = categories  # type: ignore[index]


def test_unchanged_state_is_equal() -> None:
    assert capture() == capture()


def test_surroundings_are_put_in_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OF_THE_PROGRAM", "é")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    state = capture()
    monkeypatch.undo()
    assert "OF_THE_PROGRAM" not in os.environ
    state.environment.apply()
    assert os.environ["OF_THE_PROGRAM"] == "é"
    assert Path.cwd() == tmp_path.resolve()
    assert str(tmp_path) in sys.path


def test_settings_are_put_in_force_functions_and_own_warnings_included() -> None:
    class OwnWarning(UserWarning):
        pass

    with (
        np.errstate(divide="raise"),
        np.printoptions(formatter={"float": lambda x: f"<{x:.1f}>"}),
        decimal.localcontext(prec=7, traps=[decimal.Inexact]),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("error", OwnWarning)
        sys.setrecursionlimit(1357)
        objects = KnownObjects()
        data = objects.dumps(capture().settings)
    objects.loads(data).apply()
    assert np.geterr()["divide"] == "raise"
    assert str(np.array([0.25])) == "[<0.2>]"
    assert decimal.getcontext().prec == 7
    assert decimal.getcontext().traps[decimal.Inexact]
    assert sys.getrecursionlimit() == 1357
    with contextlib.suppress(OwnWarning):
        warnings.warn("raised", OwnWarning, stacklevel=1)
        pytest.fail("the warning was not turned into an error")
    np.set_printoptions(formatter=None)
    decimal.setcontext(decimal.DefaultContext.copy())


def test_a_changed_filter_counts_where_a_warning_was_shown_before() -> None:
    def warn() -> None:
        warnings.warn("again", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("default")
        with pytest.warns(UserWarning, match="again"):
            warn()
        warnings.simplefilter("error")
        state = capture()
        warnings.simplefilter("ignore")
        warn()
        state.settings.apply()
        with pytest.raises(UserWarning):
            warn()


def test_which_records_are_made_is_the_same_on_every_rank() -> None:
    logger = logging.getLogger("of the program")
    try:
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        logging.disable(logging.INFO)
        settings = logging_settings()
        assert settings is not None
        logger.setLevel(logging.ERROR)
        logger.propagate = True
        logging.disable(logging.NOTSET)
        settings.apply()
        assert (logger.level, logger.propagate, logging.root.manager.disable) == (10, False, 20)
        assert logging_settings() == settings
    finally:
        logging.disable(logging.NOTSET)
        logger.setLevel(logging.NOTSET)


def test_a_program_that_shows_warnings_itself_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shown_warnings, "_AT_START", shown_warnings._shown())
    assert not collects_warnings()
    with warnings.catch_warnings(record=True):
        assert collects_warnings()
    monkeypatch.setattr(warnings, "showwarning", print)
    assert collects_warnings()
