"""What came of one annotated loop, planned or refused: what `dlbc explain` tells."""

from __future__ import annotations

from enum import Enum

from dlbrt.records import dataclass

from dlbc.diagnostics import Diagnostic
from dlbc.ir.cost import Cost, FoldLegality
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import LoopPlan
from dlbc.ir.proof import IndependenceProof, ProofFailure
from dlbc.ir.space import IndexSpace
from dlbc.source import SourcePlace

__all__ = ["LoopReport", "ReportDetail"]


class ReportDetail(Enum):
    """What reports are made for: verdicts alone, plans to emit, or everything that is known of costs."""

    PROOFS = "verdicts"
    PLANS = "plans"
    COSTS = "costs"


@dataclass(frozen=True)
class LoopReport:
    """One loop; ``plan`` is None where it is refused.

    ``verdicts`` and ``refusals`` are those of the arrays that it stores into, ``trusted`` the private objects
    that exist outside the loop, ``unseen`` the places of outside functions by name. ``prints``: the body, or
    a function that it may call, writes to standard output. ``asserted``: what writes to files, by the word of
    the user. ``cost``: what an iteration costs, where that was derived; ``folding``: whether pairs of
    iterations cost the same, by the user's cost where there is one; ``omitted``: why the cost that was
    derived is not in the plan. ``known`` is the cost that the loop is cut by, as
    far as it can be read; ``space`` are the values of the index, where one counts.
    """

    loop: AnnotatedLoop
    plan: LoopPlan | None
    findings: tuple[Diagnostic, ...]
    proofs: tuple[IndependenceProof, ...] = ()
    failures: tuple[ProofFailure, ...] = ()
    trusted: tuple[str, ...] = ()
    unseen: tuple[tuple[str, SourcePlace], ...] = ()
    prints: bool = False
    asserted: tuple[str, ...] = ()
    cost: Cost | None = None
    fold_legality: FoldLegality | None = None
    cost_omitted: str = ""
    partition_cost: Cost | None = None
    space: IndexSpace | None = None
