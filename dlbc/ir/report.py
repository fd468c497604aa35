"""What came of one annotated loop, planned or refused: what `dlbc explain` tells."""

from __future__ import annotations

from dataclasses import dataclass

from dlbc.diagnostics import Diagnostic
from dlbc.ir.cost import Cost, Folding
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import LoopPlan
from dlbc.ir.proof import Refusal, Verdict
from dlbc.source import Place

__all__ = ["LoopReport"]


@dataclass(frozen=True)
class LoopReport:
    """One loop; ``plan`` is None where it is refused.

    ``verdicts`` and ``refusals`` are those of the arrays that it stores into, ``trusted`` the private objects
    that exist outside the loop, ``unseen`` the places of outside functions by name. ``prints``: the body, or
    a function that it may call, writes to standard output. ``asserted``: what writes to files, by the word of
    the user. ``cost``: what an iteration costs, where it was asked for; ``folding``: whether pairs of
    iterations cost the same.
    """

    loop: AnnotatedLoop
    plan: LoopPlan | None
    findings: tuple[Diagnostic, ...]
    verdicts: tuple[Verdict, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    trusted: tuple[str, ...] = ()
    unseen: tuple[tuple[str, Place], ...] = ()
    prints: bool = False
    asserted: tuple[str, ...] = ()
    cost: Cost | None = None
    folding: Folding | None = None
