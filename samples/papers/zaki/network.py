"""The network of the paper's measurements."""

from __future__ import annotations

from dlbrt.predict.network import Network, Pattern

__all__ = ["ethernet"]


def ethernet(dense: float = 0.2, switch_s: float = 5e-3) -> Network:
    """The paper's latency and bandwidth, and patterns of the size of its figure 1.6.

    One-to-all and all-to-one take L (P - 1), all-to-all ``dense`` L P (P - 1). For tests and simulations.
    """
    latency_s = 2414.5e-6
    line = Pattern((-latency_s, latency_s))
    square = Pattern((0.0, -dense * latency_s, dense * latency_s))
    return Network(latency_s, 0.96e6, line, line, square, switch_s)
