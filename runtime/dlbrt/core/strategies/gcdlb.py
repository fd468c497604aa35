"""``GCDLB``, global centralized (Zaki et al., section 1.2.1).

The first rank to finish interrupts all others; every rank sends its profile to one balancer, rank 0, which
computes as well; it decides for all and sends them its instructions.
"""

from __future__ import annotations

from dlbrt.core.family import Interrupting
from dlbrt.core.strategy import Strategy

__all__ = ["STRATEGY"]

STRATEGY: Strategy = Interrupting("GCDLB", central=True)
