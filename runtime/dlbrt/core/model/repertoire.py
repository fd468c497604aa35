"""All strategies that the model knows beyond the paper's, in the contract's order."""

from __future__ import annotations

from dlbrt.core.chunks.table import RULES
from dlbrt.core.model.dealing import Dealing
from dlbrt.core.model.diffusing import Diffusing
from dlbrt.core.model.screening import Candidate
from dlbrt.core.model.stealing import Stealing

__all__ = ["CANDIDATES"]

CANDIDATES: tuple[Candidate, ...] = (Diffusing(), *(Dealing(name) for name in RULES), Stealing())
