"""Records of the module logging while ranks share a loop: handled at rank 0, in iteration order.

Handlers belong to the program: they hold streams, files and objects of rank 0, and workers have none. So on
every rank a logger's ``handle`` writes the record to the journal, and the replay hands it to the logger of
that name at rank 0. The law of queue handlers holds: a record is settled when it is made, since its arguments
may change before it is shown.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dlbrt.reductions.operations import RECORD

if TYPE_CHECKING:
    from logging import Logger, LogRecord

_UNCHANGING = (str, int, float, complex, bytes, type(None))


def divert_records(log: Callable[[tuple[Any, ...]], None], restoring: contextlib.ExitStack) -> None:
    """Have ``log`` take the records of all loggers until ``restoring`` is closed."""
    logging = sys.modules.get("logging")
    if logging is None:
        return

    def to_journal(_: Logger, record: LogRecord) -> None:
        log((RECORD, _settled(record)))

    restoring.callback(setattr, logging.Logger, "handle", logging.Logger.handle)
    logging.Logger.handle = to_journal


def handle(record: LogRecord) -> None:
    """Have the logger of this process that made the record, or would have, filter and show it."""
    import logging

    logging.getLogger(record.name).handle(record)


def _settled(record: LogRecord) -> LogRecord:
    """The record, which nothing that it refers to changes any more and which can leave its rank."""
    import logging

    if record.exc_info:
        record.exc_text = record.exc_text or logging.Formatter().formatException(record.exc_info)
        record.exc_info = None
    arguments = record.args if isinstance(record.args, tuple) else (record.args,)
    if not isinstance(record.msg, str) or not all(type(each) in _UNCHANGING for each in arguments):
        with contextlib.suppress(Exception):  # a text that does not fit its arguments: handlers report it
            record.msg, record.args = record.getMessage(), None
    return record
