"""All strategies that the model knows beyond the paper's, in the contract's order."""

from __future__ import annotations

from dlbrt.core.chunks.table import RULES
from dlbrt.core.model.dealing import Dealing
from dlbrt.core.model.diffusing import Diffusing
from dlbrt.core.model.screening import Estimated
from dlbrt.core.model.stealing import Stealing

__all__ = ["OTHERS"]

OTHERS: tuple[Estimated, ...] = (Diffusing(), *(Dealing(name) for name in RULES), Stealing())
