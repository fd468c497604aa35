"""What the partitioners ask of speed functions: speeds, and how they change, of all ranks at once."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from dlbrt.dist.layout import Floats

__all__ = ["ConstantSpeeds", "SpeedFunctions", "seconds"]


class SpeedFunctions(Protocol):
    """One speed function for each of p ranks, positive and continuous on x >= 0."""

    @property
    def ranks(self) -> int:
        """How many."""

    def speeds(self, x: Floats) -> Floats:
        """s_i(x_i) in units a second, for p numbers of units x."""

    def slopes(self, x: Floats) -> Floats:
        """s_i'(x_i); at a corner, that of the piece to its right."""


class ConstantSpeeds:
    """Speeds that do not depend on the size (Clarke et al., section 3): units a second, one for each rank."""

    def __init__(self, speeds: Floats) -> None:
        self._speeds = speeds

    @property
    def ranks(self) -> int:
        """How many."""
        return len(self._speeds)

    def speeds(self, x: Floats) -> Floats:  # noqa: ARG002
        """The same for every x."""
        return self._speeds

    def slopes(self, x: Floats) -> Floats:
        """None."""
        return np.zeros_like(x)


def seconds(functions: SpeedFunctions, x: Floats) -> Floats:
    """t_i(x_i) = x_i / s_i(x_i), 0 for no units."""
    return np.where(x > 0, x / functions.speeds(x), 0.0)
