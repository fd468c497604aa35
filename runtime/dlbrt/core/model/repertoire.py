"""All strategies that the model knows beyond the paper's, in the contract's order."""

from __future__ import annotations

from dlbrt.core.chunks.table import RULES
from dlbrt.core.model.dealing import SelfSchedulingModel
from dlbrt.core.model.diffusing import DiffusionModel
from dlbrt.core.model.screening import Estimated
from dlbrt.core.model.stealing import StealingModel

__all__ = ["OTHERS"]

OTHERS: tuple[Estimated, ...] = (
    DiffusionModel(),
    *(SelfSchedulingModel(name) for name in RULES),
    StealingModel(),
)
