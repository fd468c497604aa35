"""The plan of one parallel loop: everything that emission needs, and no decision left to make.

Only `dlbc.passes.plan_loops` has a `LoopPlan` made, and only of a loop whose independence was established:
a loop that was not proved cannot reach emission.
"""

from __future__ import annotations

import ast
from enum import Enum

from dlbrt.contract import Distribution, Mode
from dlbrt.records import dataclass

from dlbc.algebra.integer_form import IndexSpace, Variable
from dlbc.algebra.iteration_cost import Cost, FoldLegality
from dlbc.algebra.work import WorkPolynomial
from dlbc.algebra.work_text import Notation, text_of
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.annotation import ProfileClause
from dlbc.ir.loop import AnnotatedLoop, ClassifiedVariable, IndependenceProof, ProofFailure, ProofStatus
from dlbc.source import SourcePlace

# ------------------------------------------------------------------------------
# What a program says of the work of a loop's iterations, and whether they are dealt in pairs.
#
# A cost is evaluated once, before the loop: as a function of the index, which may be a vector of its values;
# item by item, where the expression cannot be seen to take a vector; as cumulative work t(x), which may be
# asked for between values of the index; or as samples (x, t) through which a curve is fitted (Swartz, 3).


class CostShape(Enum):
    """How a cost is evaluated; the value is the keyword of the call that says so."""

    VECTOR = ""
    EACH = "each"
    CUMULATIVE = "cumulative"
    FIT = "fit"


class FoldDecision(Enum):
    """Whether the iterations t and n - 1 - t go together, and by whose word."""

    NO = "no"
    DEFAULT = "by default"
    FORCED = "by the clause `fold`"


@dataclass(frozen=True)
class CostPlan:
    """A cost as it is emitted: a derived one in the kernel, the user's at the call.

    ``target`` is the parameter of the function, of EACH the target of the loop, both as the user writes them;
    ``text`` the expression of a clause. A derived cost has ``work`` over ``index`` in its place; where it is
    an estimate that may fall below 1 (``floored``) it is kept from that. ``bound`` are names in it that stand
    for calls, with these. ``names`` are what it reads from around the loop, functions and imports of the
    module apart.
    """

    shape: CostShape
    target: str
    text: str = ""
    work: WorkPolynomial | None = None
    index: Variable | None = None
    clamped: bool = False
    bound_calls: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()

    @property
    def derived(self) -> bool:
        """Whether the compiler found it, not the user."""
        return self.work is not None

    @property
    def uses_numpy(self) -> bool:
        """Whether the expression calls functions of numpy that the user did not write."""
        return self.expression("np") != self.expression("numpy")

    def expression(self, numpy: str) -> str:
        """The expression, with numpy under this name."""
        if self.work is None or self.index is None:
            return self.text
        if self.shape is not CostShape.VECTOR:
            least = text_of(self.work, self.index)
            return f"max({least}, 1)" if self.clamped else least
        found = text_of(self.work, self.index, Notation.NUMPY, numpy)
        return f"{numpy}.maximum({found}, 1)" if self.clamped else found


def target_text(node: ast.expr) -> str:
    """A loop's target as one writes it: without the brackets of a tuple."""
    text = ast.unparse(node)
    return text[1:-1] if isinstance(node, ast.Tuple) and node.elts else text


# ------------------------------------------------------------------------------
# Values that iterations contribute to, and effects that are kept in iteration order.

#: Operators by which a copy that begins as nothing is put to the container afterwards.
_FROM_NOTHING = frozenset("+-|^&")


@dataclass(frozen=True)
class Reduction:
    """A name that iterations update and do not otherwise read.

    ``operator``: ``+ - * & | ^ max min and or`` of the update (``-`` where any update subtracts), or the
    comparison ``< <= > >=`` of ``if new < name: name, companions = new, ...``. ``element``: elements of the
    object named are updated (``hist[b] += 1``), not the name. ``several``: an iteration may update a name
    more than once, and its share can be put together before it is combined. ``integer``: each contribution
    is surely an integer. ``grows``: updates may add elements. ``any_order``: the user gave up iteration
    order. ``updates`` are the statements.
    """

    name: str
    operator: str
    updates: tuple[ast.stmt, ...]
    element: bool = False
    multiple_updates: bool = False
    integer: bool = False
    any_order: bool = False
    may_insert: bool = False
    companions: tuple[str, ...] = ()

    @property
    def uses_copies(self) -> bool:
        """Whether ranks add to copies of the container, if it holds integers; with `order=any`, numbers."""
        return self.element and self.operator in _FROM_NOTHING and (self.integer or self.any_order)


@dataclass(frozen=True)
class OrderedContainer:
    """A container that the body only adds to (``append extend add [key]=``); replayed in iteration order."""

    name: str
    effects: tuple[ast.expr | ast.stmt, ...]


@dataclass(frozen=True)
class IterationContributions:
    """What the iterations of a loop contribute to.

    ``disputed``: names whose elements are stored to by subscripts alone: if iterations are proved to store to
    elements of their own these are stores like others, and no contributions. ``settled``: names carried from
    one iteration to the next that are explained here, by a reduction or by a diagnostic. ``claimed``: calls
    that are such a contribution. ``arrays``: those of the disputed that are only stored to, and surely are
    arrays or lists. ``hashed``: containers that surely are dictionaries.
    """

    reductions: tuple[Reduction, ...] = ()
    ordered: tuple[OrderedContainer, ...] = ()
    maybe_stores: frozenset[str] = frozenset()
    explained: frozenset[str] = frozenset()
    contributing_calls: frozenset[ast.AST] = frozenset()
    arrays: frozenset[str] = frozenset()
    dictionaries: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that are bound: those of reductions, and what goes with them."""
        bound = (r for r in self.reductions if not r.element)
        return tuple(name for r in bound for name in (r.name, *r.companions))

    @property
    def containers(self) -> tuple[str, ...]:
        """The names of objects that are changed in place."""
        return (*(r.name for r in self.reductions if r.element), *(o.name for o in self.ordered))

    def without(self, names: frozenset[str]) -> IterationContributions:
        """The rest, where the objects of these names take plain stores."""
        return IterationContributions(
            tuple(r for r in self.reductions if r.name not in names),
            tuple(o for o in self.ordered if o.name not in names),
            self.maybe_stores - names,
            self.explained,
            self.contributing_calls,
            self.arrays - names,
            self.dictionaries - names,
        )


# ------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------
# What came of one annotated loop, planned or refused: what `dlbc explain` tells.


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
