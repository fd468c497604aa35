"""Records of the module logging go to the journal, settled, and from there to the program's handlers."""

from __future__ import annotations

import contextlib
import io
import logging
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from dlbrt.reductions.log_records import divert_records, handle
from dlbrt.reductions.operations import RECORD


@pytest.fixture
def shown() -> Iterator[io.StringIO]:
    """What the logger ``own`` shows."""
    stream, logger = io.StringIO(), logging.getLogger("own")
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.Formatter("%(levelname)s %(message)s"))
    logger.addHandler(handler)
    logger.propagate = False
    yield stream
    logger.removeHandler(handler)
    logger.propagate = True


def logged(*calls: tuple[Any, ...]) -> list[Any]:
    """The entries of these warnings, whose arguments change afterwards."""
    log: list[Any] = []
    with contextlib.ExitStack() as restoring:
        divert_records(log.append, restoring)
        for call in calls:
            logging.getLogger("own").warning(*call)
            for argument in call:
                if isinstance(argument, list):
                    argument.append("later")
    return log


def test_records_are_shown_by_the_handlers_when_they_are_replayed(shown: io.StringIO) -> None:
    log = logged(("plain",), ("number %d of %s", 3, "x"), ("list %s", [1]), (["no", "text"],))
    assert shown.getvalue() == ""
    assert {entry[0] for entry in log} == {RECORD}
    for _, record in pickle.loads(pickle.dumps(log)):
        handle(record)
    expected = ["plain", "number 3 of x", "list [1]", "['no', 'text']"]
    assert shown.getvalue().splitlines() == [f"WARNING {each}" for each in expected]


def test_a_traceback_goes_with_its_record(shown: io.StringIO) -> None:
    log: list[Any] = []
    with contextlib.ExitStack() as restoring:
        divert_records(log.append, restoring)
        try:
            [][1]
        except IndexError:
            logging.getLogger("own").exception("no item")
    handle(pickle.loads(pickle.dumps(log[0][1])))
    lines = shown.getvalue().splitlines()
    assert (lines[0], lines[1], lines[-1]) == (
        "ERROR no item",
        "Traceback (most recent call last):",
        "IndexError: list index out of range",
    )


def test_a_text_that_does_not_fit_its_arguments_is_left_to_the_handlers(shown: io.StringIO) -> None:
    (entry,) = logged(("%d items", [1]))
    assert entry[1].msg == "%d items"
    assert shown.getvalue() == ""


def test_afterwards_records_are_shown_at_once(shown: io.StringIO) -> None:
    logged(("unseen",))
    logging.getLogger("own").warning("seen")
    assert shown.getvalue() == "WARNING seen\n"
