"""Strategies by name: a table of the modules that have them, imported when a strategy is asked for.

So a program loads the strategies that it runs under, and what they are made of, and no others.
"""

from __future__ import annotations

import functools
from importlib import import_module

from dlbrt.core.agent import PeerStrategy
from dlbrt.core.strategy import Strategy

__all__ = ["AUTO", "BEFORE_CHOICE", "STATIC", "names", "pooled", "preload", "strategy", "synchronizing"]

#: Not a strategy: one is chosen at the first synchronization.
AUTO = "auto"

#: In place of balancing: shares stay as they are dealt.
STATIC = "none"

#: How ranks balance until then.
BEFORE_CHOICE = "GDDLB"


#: Strategy -> the module of `dlbrt.core.strategies` that has it among its ``STRATEGIES``.
_MODULES = {
    "affinity": "affinity",
    "diffusion": "diffusion",
    "GCDLB": "interrupting",
    "GDDLB": "interrupting",
    "gradient": "gradient",
    "LCDLB": "interrupting",
    "LDDLB": "interrupting",
    "none": "interrupting",
    "periodic": "interrupting",
    "SS": "self_scheduling",
    "FSC": "self_scheduling",
    "mFSC": "self_scheduling",
    "GSS": "self_scheduling",
    "TSS": "self_scheduling",
    "FAC": "self_scheduling",
    "FAC2": "self_scheduling",
    "WF": "self_scheduling",
    "AWF": "self_scheduling",
    "AWF_B": "self_scheduling",
    "AWF_C": "self_scheduling",
    "AWF_D": "self_scheduling",
    "AWF_E": "self_scheduling",
    "AF": "self_scheduling",
    "steal": "steal",
}


def names() -> tuple[str, ...]:
    """The names of the strategies that there are, ``auto`` apart."""
    return tuple(_MODULES)


@functools.cache
def strategy(name: str) -> Strategy | PeerStrategy:
    """The strategy of that name. Raises KeyError for an unknown one."""
    module = import_module(f"dlbrt.core.strategies.{_MODULES[name]}")
    found: dict[str, Strategy | PeerStrategy] = {each.name: each for each in module.STRATEGIES}
    return found[name]


def preload() -> None:
    """Import what a loop under `AUTO` begins with."""
    import_module("dlbrt.core.chooser")
    strategy(BEFORE_CHOICE)


def synchronizing(name: str) -> Strategy:
    """The strategy of that name, under which ranks synchronize; KeyError if there is none."""
    found = strategy(name)
    if isinstance(found, PeerStrategy):
        raise KeyError(f"under {name} ranks do not synchronize")
    return found


def pooled(name: str) -> PeerStrategy | None:
    """The strategy of that name if what its first shares leave is in a pool at rank 0."""
    found = strategy(name) if name in _MODULES else None
    return found if isinstance(found, PeerStrategy) and found.pooled else None
