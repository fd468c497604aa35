"""The emulated memory of a processor: speed over the units held, level up to a cliff, and slow beyond it.

What Clarke, Lastovetsky and Rychkov met (figures 5, 9 and 12): a processor is as fast as ever while its share
of the matrix fits into memory, and falls off steeply where it begins to page.
"""

from __future__ import annotations

from dlbrt.records import dataclass

__all__ = ["WIDTH", "Cliff"]

#: How far the fall of the speed reaches, as a part of the units that fit.
WIDTH = 0.15


@dataclass(frozen=True, slots=True)
class Cliff:
    """Up to ``units`` fit, and with ``width`` times as many more the processor is ``factor`` times slower.

    In between the time of a unit rises smoothly (3 u^2 - 2 u^3). Units and width above 0, factor at least 1.
    """

    units: float
    factor: float
    width: float = WIDTH

    def slowdown(self, held: float) -> float:
        """How many times longer each unit takes while so many are held."""
        u = min(max((held - self.units) / (self.width * self.units), 0.0), 1.0)
        return 1 + (self.factor - 1) * u * u * (3 - 2 * u)
