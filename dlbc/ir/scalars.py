"""What flow analysis finds of the names that a loop body binds."""

from __future__ import annotations

from dlbrt.records import dataclass

from dlbc.ir.uses import Use

__all__ = ["ScalarFacts"]


@dataclass(frozen=True)
class ScalarFacts:
    """``definite``: bound in every iteration on every path. ``carried``: reads that may see an
    older value.
    """

    definite: frozenset[str]
    carried: tuple[Use, ...]
