"""The plan of one parallel loop: everything that emission needs, and no decision left to make.

Only `dlbc.passes.plan_loops` has a `LoopPlan` made, and only of a loop whose independence was established:
a loop that was not proved cannot reach emission.
"""

from __future__ import annotations

from dlbrt.contract import Distribution, Mode
from dlbrt.records import dataclass

from dlbc.ir.annotation import ProfileClause
from dlbc.ir.cost_plan import CostPlan, FoldDecision
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.proof import IndependenceProof, ProofStatus
from dlbc.ir.reduction import OrderedContainer, Reduction
from dlbc.ir.variables import ClassifiedVariable

__all__ = ["ArrayPlan", "LoopPlan", "SpaceText"]


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """One row of the emitted array table.

    ``name`` is the expression that denotes the array (``Z``, ``self.A``). ``rows`` are the subscripts on
    ``axis`` that an iteration touches, as source text, affine in the loop's index variable; empty means
    the index variable itself. ``writes`` are those it stores to where they differ from ``rows``. Where
    ``inspect`` is set they need not be affine, and may be slices (``slice(p[i], p[i + 1])``): the runtime
    looks at them iteration by iteration before the loop. An array that is stored to with ``axis`` None is
    gathered element by element. ``in_place`` says that stores go through elements (``A[i][j] = e``), so that
    in a list the element object itself must change.
    """

    name: str
    distribution: Distribution
    axis: int | None
    mode: Mode
    rows: tuple[str, ...] = ()
    writes: tuple[str, ...] | None = None
    in_place: bool = False
    inspect: bool = False


@dataclass(frozen=True, slots=True)
class SpaceText:
    """How the iteration space is written at the call: an expression over the runtime's names.

    ``index`` is the variable that counts (`range`, `enumerate`), or None. ``text`` is the user's
    iterable as text with ``enumerate``/``zip``/``reversed`` replaced by ``dlbrt``'s of the same meaning.
    """

    text: str
    index: str | None


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """A loop that may run in parallel.

    ``parameters`` are the kernel's parameters in order of first appearance; ``conditional`` are the
    temporaries live after the loop that only some iterations set, ``definite`` those that each sets;
    ``targets_live`` says that the loop's targets are read afterwards and not rebound in the body.
    ``mangled`` maps private names of the enclosing class to their mangled form. ``guards`` are conditions,
    as source text over the parameters, that the runtime looks at before the loop. ``status``, ``verdicts``
    and ``outside`` (functions taken to have no side effects) say on what the plan rests; ``variables`` is the
    class of each variable. ``unsure`` are parameters that may have no value where the loop has no iteration.
    ``cost`` is what the kernel says of the work of its iterations, ``folded`` whether they are dealt in
    pairs, ``profile`` how their work is to be measured. ``seen_after_failure``: the values of reductions
    may be read even if an exception of the body ends the loop.
    """

    loop: AnnotatedLoop
    space: SpaceText
    parameters: tuple[str, ...]
    arrays: tuple[ArrayPlan, ...]
    iterations: Distribution
    definite: tuple[str, ...] = ()
    conditional: tuple[str, ...] = ()
    targets_live: bool = False
    strategy: str | None = None
    group: int | None = None
    mangled: tuple[tuple[str, str], ...] = ()
    reductions: tuple[Reduction, ...] = ()
    ordered: tuple[OrderedContainer, ...] = ()
    guards: tuple[str, ...] = ()
    status: ProofStatus = ProofStatus.PROVEN
    proofs: tuple[IndependenceProof, ...] = ()
    outside: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    variables: tuple[ClassifiedVariable, ...] = ()
    cost: CostPlan | None = None
    fold_decision: FoldDecision = FoldDecision.NO
    profile: ProfileClause | None = None
    seen_after_failure: bool = True

    @property
    def unfolds_for(self) -> tuple[Reduction, ...]:
        """The containers for whose copies the runtime leaves folding, since pairs come in short stretches."""
        return (
            tuple(r for r in self.reductions if r.uses_copies)
            if self.fold_decision is FoldDecision.DEFAULT
            else ()
        )
