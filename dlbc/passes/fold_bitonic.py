"""Decide bitonic folding: whether the iterations t and n - 1 - t are dealt together.

By default where their work is known, not uniform, and adds up to the same for all t (Zaki, Li and
Parthasarathy, section 1.5.3; the test is `dlbc.ir.cost.foldable`). The clause `fold` forces it unless the
work that is known says that pairs differ; `nofold`, `profile` and work that is given as a curve leave the
iterations in order.
"""

from __future__ import annotations

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic
from dlbc.ir.annotation import Annotation, CostForm
from dlbc.ir.cost import Cost, CostClass, FoldLegality, fold_legality
from dlbc.ir.cost_plan import FoldDecision
from dlbc.ir.space import IndexSpace

__all__ = ["fold_bitonic"]


def fold_bitonic(
    annotation: Annotation, cost: Cost | None, space: IndexSpace | None
) -> tuple[FoldDecision, FoldLegality | None, tuple[Diagnostic, ...]]:
    """The decision, what is known of pairs, and the diagnostic of a `fold` that cannot be legal.

    ``cost`` is the work of an iteration, the user's where there is one, None where it is not looked at.
    """
    folding = None if cost is None or space is None else fold_legality(cost, space)
    if annotation.fold is not None:
        if cost is not None and folding is not None and folding.refuted:
            work = f"`{annotation.cost.expression}`" if annotation.cost else _shown(cost)
            finding = report(
                "DLB126", annotation.fold, work=work, index=cost.index.name, kind=cost.class_text
            )
            return FoldDecision.NO, folding, (finding,)
        return FoldDecision.FORCED, folding, ()
    curve = annotation.cost is not None and annotation.cost.form is not CostForm.DENSITY
    if annotation.nofold or annotation.profile or curve or cost is None or folding is None:
        return FoldDecision.NO, folding, ()
    pays = folding.legal and cost.cost_class is not CostClass.UNIFORM
    return (FoldDecision.DEFAULT if pays else FoldDecision.NO), folding, ()


def _shown(cost: Cost) -> str:
    return f"`{cost.text}`" if cost.short else f"(a sum of {len(cost.work.terms) if cost.work else 0} terms)"
