"""The self-scheduling rules by the names that users give them (`dlbrt.contract.STRATEGIES`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from dlbrt.chunks.adaptive import AdaptiveFactoring, PerBatch, PerChunk
from dlbrt.chunks.rule import Rule
from dlbrt.chunks.rules import AcrossSteps, Factoring, Factoring2, Guided, Trapezoid, Weighted, fsc, mfsc, ss
from dlbrt.chunks.statistics import Basis, LoopStatistic, ScheduledLoop
from dlbrt.records import dataclass


@dataclass(frozen=True, slots=True)
class RuleEntry:
    """How a rule is made, what it needs to be known of the loop, and what it uses if it is known."""

    make: Callable[[ScheduledLoop], Rule]
    needs: tuple[LoopStatistic, ...] = ()
    uses: tuple[LoopStatistic, ...] = ()


#: The weights of AWF are those of the time steps before (`dlbrt.chunks.rules.Steps.weights`).
RULES: Mapping[str, RuleEntry] = MappingProxyType(
    {
        "SS": RuleEntry(ss),
        "FSC": RuleEntry(fsc, needs=(LoopStatistic.OVERHEAD, LoopStatistic.DEVIATION)),
        "mFSC": RuleEntry(mfsc),
        "GSS": RuleEntry(Guided),
        "TSS": RuleEntry(Trapezoid),
        "FAC": RuleEntry(Factoring, needs=(LoopStatistic.VARIATION,)),
        "FAC2": RuleEntry(Factoring2),
        "WF": RuleEntry(Weighted, uses=(LoopStatistic.WEIGHTS,)),
        "AWF": RuleEntry(AcrossSteps, uses=(LoopStatistic.WEIGHTS,)),
        "AWF_B": RuleEntry(partial(PerBatch, basis=Basis.COMPUTE), uses=(LoopStatistic.WEIGHTS,)),
        "AWF_C": RuleEntry(partial(PerChunk, basis=Basis.COMPUTE), uses=(LoopStatistic.WEIGHTS,)),
        "AWF_D": RuleEntry(partial(PerBatch, basis=Basis.TOTAL), uses=(LoopStatistic.WEIGHTS,)),
        "AWF_E": RuleEntry(partial(PerChunk, basis=Basis.TOTAL), uses=(LoopStatistic.WEIGHTS,)),
        "AF": RuleEntry(AdaptiveFactoring),
    }
)
