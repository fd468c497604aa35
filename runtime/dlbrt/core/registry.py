"""Strategies by name.

A module in `dlbrt.core.strategies` with an attribute ``STRATEGY``, or several in ``STRATEGIES``, registers
itself.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil

from dlbrt.core import strategies
from dlbrt.core.agent import PeerStrategy
from dlbrt.core.strategy import Strategy

__all__ = ["AUTO", "BEFORE_CHOICE", "STATIC", "names", "pooled", "strategy", "synchronizing"]

#: Not a strategy: one is chosen at the first synchronization.
AUTO = "auto"

#: In place of balancing: shares stay as they are dealt.
STATIC = "none"

#: How ranks balance until then.
BEFORE_CHOICE = "GDDLB"


@functools.cache
def _all() -> dict[str, Strategy | PeerStrategy]:
    modules = (
        importlib.import_module(f"{strategies.__name__}.{info.name}")
        for info in pkgutil.iter_modules(strategies.__path__)
    )
    found = (each for module in modules for each in getattr(module, "STRATEGIES", None) or (module.STRATEGY,))
    return {each.name: each for each in found}


def names() -> tuple[str, ...]:
    """The names of the strategies that there are, ``auto`` apart."""
    return tuple(_all())


def strategy(name: str) -> Strategy | PeerStrategy:
    """The strategy of that name. Raises KeyError for an unknown one."""
    return _all()[name]


def synchronizing(name: str) -> Strategy:
    """The strategy of that name, under which ranks synchronize; KeyError if there is none."""
    found = strategy(name)
    if isinstance(found, PeerStrategy):
        raise KeyError(f"under {name} ranks do not synchronize")
    return found


def pooled(name: str) -> PeerStrategy | None:
    """The strategy of that name if what its first shares leave is in a pool at rank 0."""
    found = strategy(name) if name in _all() else None
    return found if isinstance(found, PeerStrategy) and found.pooled else None
