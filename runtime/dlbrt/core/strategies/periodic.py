"""``periodic``, a baseline: global distributed, profiles exchanged at a fixed period.

After data-parallel C, Dome, and Siegell (Zaki et al., section 1.1.1, references 8, 1 and 12): what is
left is shared by the rates measured in the last period; nobody interrupts, and a rank that runs out of
work waits for the next exchange. The rule for new shares is that of `dlbrt.core.decision`, so `periodic`
differs from `GDDLB` in nothing but when ranks exchange.

Law. A rank counts the period (`Parameters.period_s`) from its own last synchronization. It gives its
profile when that is over, looking between chunks of iterations, or when it runs out; the exchange is
complete with the last. Before it gives one by the clock it has done a unit of work, or rested for a
period of emulated load, of which there is finitely much. So no window lasts for ever, and there are
finitely many, whatever is decided.
"""

from __future__ import annotations

from dlbrt.core.family import Interrupting
from dlbrt.core.strategy import Clocked, Strategy

__all__ = ["STRATEGY"]

STRATEGY: Strategy = Interrupting("periodic", interrupts=False, clocked=Clocked.ALWAYS)
