"""Strategies by name, imported when they are needed; here those of Zaki, Li, Parthasarathy, and `none`.

A program loads only the strategies that it runs under, and the modules these need.

The four strategies of the paper differ along two axes: among which ranks they balance, and where they decide
(section 1.2.1). A rank out of work interrupts, shares follow measured speed, and the rule for new shares is
the same for all (`dlbrt.balance.decision`).

``GDDLB``, global distributed. The first rank to finish interrupts all others; profiles are exchanged all to
all; the balancer is replicated, so that every rank computes the same new shares and no instructions are sent.

``GCDLB``, global centralized. The first rank to finish interrupts all others; every rank sends its profile to
one balancer, rank 0, which computes as well; it decides for all and sends them its instructions.

``LDDLB``, local distributed: as ``GDDLB`` within each group; groups know nothing of one another.

``LCDLB``, local centralized: as ``GCDLB`` within each group; the one balancer serves the groups in turn.

``periodic``, a baseline: global distributed, profiles exchanged at a fixed period. After data-parallel C,
Dome, and Siegell (section 1.1.1, references 8, 1 and 12): what is left is shared by the rates measured in the
last period; no rank interrupts, and a rank that runs out of work waits for the next exchange. So it differs
from ``GDDLB`` only in when ranks exchange.

Law of ``periodic``. A rank counts the period (`Parameters.period_s`) from its own last synchronization. It
gives its profile when the period is over, looking between chunks of iterations, or when it runs out; the last
profile completes the exchange. Before a rank gives a profile by the clock, it has done a unit of work, or
rested for a period of emulated load, of which there is finitely much. So no window lasts for ever, and there
are finitely many windows, whatever is decided.

``none``: the initial partition stands. Every other strategy is compared with this baseline.
"""

from __future__ import annotations

import functools

from dlbrt.balance.agent import PeerStrategy
from dlbrt.balance.decision import Decision, DecisionInputs, decide
from dlbrt.balance.strategy import Periodicity, Strategy
from dlbrt.standard_library import import_apart

#: Not a strategy: see `dlbrt.balance.chooser`.
AUTO = "auto"

#: No balancing: shares stay as they are dealt.
STATIC = "none"

#: How ranks balance under `AUTO` until a strategy is chosen.
UNCHOSEN = "steal"

#: Strategy -> the module of `dlbrt.balance` that has it among its ``STRATEGIES``.
_MODULES = {
    "affinity": "baselines",
    "diffusion": "diffusing",
    "GCDLB": "strategies",
    "GDDLB": "strategies",
    "gradient": "baselines",
    "LCDLB": "strategies",
    "LDDLB": "strategies",
    "none": "strategies",
    "periodic": "strategies",
    **dict.fromkeys(("SS", "FSC", "mFSC", "GSS", "TSS", "FAC", "FAC2", "WF"), "self_scheduling"),
    **dict.fromkeys(("AWF", "AWF_B", "AWF_C", "AWF_D", "AWF_E", "AF"), "self_scheduling"),
    "steal": "stealing",
}


def names() -> tuple[str, ...]:
    """The names of all strategies, without ``auto``."""
    return tuple(_MODULES)


@functools.cache
def strategy(name: str) -> Strategy | PeerStrategy:
    """The strategy of that name; KeyError for an unknown one."""
    module = import_apart(f"dlbrt.balance.{_MODULES[name]}")
    found: dict[str, Strategy | PeerStrategy] = {each.name: each for each in module.STRATEGIES}
    return found[name]


def preload() -> None:
    """Import what a loop under `AUTO` begins with."""
    import_apart("dlbrt.balance.chooser")
    import_apart("dlbrt.balance.handover")
    strategy(UNCHOSEN)


def synchronizing(name: str) -> Strategy:
    """The strategy of that name under which ranks synchronize; KeyError if there is none."""
    found = strategy(name)
    if isinstance(found, PeerStrategy):
        raise KeyError(f"under {name} ranks do not synchronize")
    return found


def pooled(name: str) -> PeerStrategy | None:
    """The strategy of that name, if the units that its first shares leave are in a pool at rank 0."""
    found = strategy(name) if name in _MODULES else None
    return found if isinstance(found, PeerStrategy) and found.pooled else None


class _Proportional(Strategy):
    """Shares in proportion to speed, if moving to them pays."""

    def decide(self, inputs: DecisionInputs) -> Decision | None:
        return decide(inputs)


class _Static(Strategy):
    def decide(self, inputs: DecisionInputs) -> Decision | None:  # noqa: ARG002
        return None


STRATEGIES: tuple[Strategy, ...] = (
    _Proportional("GCDLB", central=True),
    _Proportional("GDDLB"),
    _Proportional("LCDLB", local=True, central=True),
    _Proportional("LDDLB", local=True),
    _Proportional("periodic", interrupts=False, periodicity=Periodicity.ALWAYS),
    _Static(STATIC, interrupts=False, interrupts_early=False),
)
