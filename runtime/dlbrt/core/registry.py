"""Strategies by name. A module in `dlbrt.core.strategies` with an attribute ``STRATEGY`` registers itself."""

from __future__ import annotations

import functools
import importlib
import pkgutil

from dlbrt.core import strategies
from dlbrt.core.strategy import Strategy

__all__ = ["AUTO", "BEFORE_CHOICE", "STATIC", "names", "strategy"]

#: Not a strategy: one is chosen at the first synchronization.
AUTO = "auto"

#: In place of balancing: shares stay as they are dealt.
STATIC = "none"

#: How ranks balance until then.
BEFORE_CHOICE = "GDDLB"


@functools.cache
def _all() -> dict[str, Strategy]:
    modules = (
        importlib.import_module(f"{strategies.__name__}.{info.name}")
        for info in pkgutil.iter_modules(strategies.__path__)
    )
    return {module.STRATEGY.name: module.STRATEGY for module in modules}


def names() -> tuple[str, ...]:
    """The names of the strategies that there are, ``auto`` apart."""
    return tuple(_all())


def strategy(name: str) -> Strategy:
    """The strategy of that name. Raises KeyError for an unknown one."""
    return _all()[name]
