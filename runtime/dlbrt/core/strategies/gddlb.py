"""``GDDLB``, global distributed (Zaki et al., section 1.2.1).

The first rank to finish interrupts all others; profiles are exchanged all to all; the balancer is
replicated, so that every rank computes the same new shares and no instructions are sent.
"""

from __future__ import annotations

from dlbrt.core.family import Interrupting
from dlbrt.core.strategy import Strategy

__all__ = ["STRATEGY"]

STRATEGY: Strategy = Interrupting("GDDLB")
