"""The self-scheduling rules by the names that users give them (`dlbrt.contract.STRATEGIES`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

from dlbrt.core.chunks.adaptive import PerBatch, PerChunk
from dlbrt.core.chunks.adaptive_factoring import AdaptiveFactoring
from dlbrt.core.chunks.factoring import Factoring, Factoring2
from dlbrt.core.chunks.fixed import fsc, mfsc, ss
from dlbrt.core.chunks.guided import Guided
from dlbrt.core.chunks.loop import Fact, Loop
from dlbrt.core.chunks.measured import Basis
from dlbrt.core.chunks.rule import Rule
from dlbrt.core.chunks.trapezoid import Trapezoid
from dlbrt.core.chunks.weighted import AcrossSteps, Weighted
from dlbrt.records import dataclass

__all__ = ["RULES", "Entry", "make"]


@dataclass(frozen=True, slots=True)
class Entry:
    """How a rule is made, what must be known of the loop for it, and what it uses if it is known."""

    make: Callable[[Loop], Rule]
    needs: tuple[Fact, ...] = ()
    uses: tuple[Fact, ...] = ()


#: AWF is told as weights those of the time steps before (`weighted.Steps.weights`).
RULES: Mapping[str, Entry] = MappingProxyType(
    {
        "SS": Entry(ss),
        "FSC": Entry(fsc, needs=(Fact.OVERHEAD, Fact.DEVIATION)),
        "mFSC": Entry(mfsc),
        "GSS": Entry(Guided),
        "TSS": Entry(Trapezoid),
        "FAC": Entry(Factoring, needs=(Fact.VARIATION,)),
        "FAC2": Entry(Factoring2),
        "WF": Entry(Weighted, uses=(Fact.WEIGHTS,)),
        "AWF": Entry(AcrossSteps, uses=(Fact.WEIGHTS,)),
        "AWF_B": Entry(partial(PerBatch, basis=Basis.COMPUTE), uses=(Fact.WEIGHTS,)),
        "AWF_C": Entry(partial(PerChunk, basis=Basis.COMPUTE), uses=(Fact.WEIGHTS,)),
        "AWF_D": Entry(partial(PerBatch, basis=Basis.TOTAL), uses=(Fact.WEIGHTS,)),
        "AWF_E": Entry(partial(PerChunk, basis=Basis.TOTAL), uses=(Fact.WEIGHTS,)),
        "AF": Entry(AdaptiveFactoring),
    }
)


def make(name: str, loop: Loop) -> Rule:
    """The rule of that name; KeyError for an unknown one, ValueError where what it needs is not known."""
    return RULES[name].make(loop)
