"""``LDDLB``, local distributed (Zaki et al., section 1.2.1).

As `GDDLB` within each of the groups, which know nothing of one another.
"""

from __future__ import annotations

from dlbrt.core.family import Interrupting
from dlbrt.core.strategy import Strategy

__all__ = ["STRATEGY"]

STRATEGY: Strategy = Interrupting("LDDLB", local=True)
