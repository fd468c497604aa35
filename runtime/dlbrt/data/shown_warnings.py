"""Whether warnings of the program have effects beyond a line on standard error."""

from __future__ import annotations

import warnings
from typing import Any


def _shown() -> tuple[Any, Any]:
    """The functions that show warnings; the second collects them, where they are collected."""
    return warnings.showwarning, getattr(warnings, "_showwarnmsg_impl", None)


_AT_START = _shown()


def collects_warnings() -> bool:
    """Whether the program shows warnings by a function of its own, or collects them."""
    return _shown() != _AT_START
