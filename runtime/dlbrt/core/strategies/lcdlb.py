"""``LCDLB``, local centralized (Zaki et al., section 1.2.1).

As `GCDLB` within each of the groups; the one balancer serves them in turn.
"""

from __future__ import annotations

from dlbrt.core.family import Interrupting
from dlbrt.core.strategy import Strategy

__all__ = ["STRATEGY"]

STRATEGY: Strategy = Interrupting("LCDLB", local=True, central=True)
