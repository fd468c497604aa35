"""How a speed function is made of the points measured (Clarke et al., sections 3, 5.2, 6.2)."""

from __future__ import annotations

from enum import Enum

__all__ = ["ModelKind"]


class ModelKind(Enum):
    """The clause ``model`` of an annotation ``iterate``, by the word that stands there."""

    CONSTANT = "constant"  # the speed measured last, whatever the size: the baseline
    PIECEWISE = "piecewise"  # linear between the points, its shape repaired where lines would meet it twice
    AKIMA = "akima"  # Akima's spline, of any shape
