"""On what the verdict over a loop rests: what was proved, by which means, under which conditions.

The ladder of the dependence test, from the cheapest means to the word of the user; explained to people by
`dlbc explain`, stated in the emitted program and in the statistics.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum

from dlbrt.records import dataclass

from dlbc.diagnostics import Diagnostic

__all__ = ["IndependenceProof", "ProofFailure", "ProofMethod", "ProofStatus", "status_of"]


class ProofMethod(Enum):
    """By what the stores into an array were found to be disjoint, in the order in which it is tried."""

    EQUAL = "equal subscripts"
    SETS = "integer sets"
    SOLVER = "solver"
    INSPECTOR = "inspector before the loop"
    ASSERTED = "the word of the user"


class ProofStatus(Enum):
    """How far a loop's independence is established."""

    PROVEN = "proven"
    GUARDED = "proven under a run-time guard"
    CONDITIONAL = "proven if outside functions have no side effects"
    ASSERTED = "asserted by the user"


@dataclass(frozen=True, slots=True)
class IndependenceProof:
    """The stores into ``array`` are disjoint between iterations.

    ``axis``: the dimension on which each iteration stores to rows of its own, None where they are disjoint
    element by element only. ``shared_rows``: whether an iteration may read rows that another one stores to
    (other elements of them). ``guards``: conditions on names from before the loop, as source text, on which
    it rests; ``tried``: one line for each means tried, with what came of it.
    """

    array: str
    method: ProofMethod
    axis: int | None
    shared_rows: bool = False
    guards: tuple[str, ...] = ()
    tried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProofFailure:
    """The stores into ``array`` were not found to be disjoint: why, and what was tried."""

    array: str
    finding: Diagnostic
    tried: tuple[str, ...] = ()


def status_of(
    proofs: Sequence[IndependenceProof], trusted: Sequence[str], outside: Sequence[str]
) -> ProofStatus:
    """How far independence is established: the weakest of verdicts, words of the user, functions not seen."""
    if trusted or any(v.method is ProofMethod.ASSERTED for v in proofs):
        return ProofStatus.ASSERTED
    if outside:
        return ProofStatus.CONDITIONAL
    looked = any(v.guards or v.method is ProofMethod.INSPECTOR for v in proofs)
    return ProofStatus.GUARDED if looked else ProofStatus.PROVEN
