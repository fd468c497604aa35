"""The plan of one parallel loop: everything that emission needs, with no decision left to make.

Only `dlbc.passes.plan_loops` makes a `LoopPlan`, and only for a loop whose independence was established: a
loop that was not proved cannot reach emission.

A cost is evaluated once, before the loop: as a function of the index, which may be a vector of its values;
item by item, where the expression may not accept a vector; as cumulative work t(x), which may be needed
between values of the index; or as samples (x, t) through which a curve is fitted (Swartz, 3).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from enum import Enum

from dlbrt.contract import Distribution, Mode
from dlbrt.records import dataclass

from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Variable
from dlbc.algebra.iteration_cost import Cost, FoldLegality
from dlbc.algebra.work import WorkPolynomial
from dlbc.algebra.work_text import Notation, text_of
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.access import Access
from dlbc.ir.access_path import AccessPath, path_from
from dlbc.ir.annotation import ProfileClause
from dlbc.ir.chunk import ChunkPlan
from dlbc.ir.loop import AnnotatedLoop, ClassifiedVariable, IndependenceProof, ProofFailure, ProofStatus
from dlbc.source import SourcePlace

#: Operators for which a rank may start from an empty copy and combine it with the container afterwards.
_FROM_NOTHING = frozenset("+-|^&")


class CostShape(Enum):
    """How a cost is evaluated; the value is the keyword in the emitted call."""

    VECTOR = ""
    EACH = "each"
    CUMULATIVE = "cumulative"
    FIT = "fit"


class FoldDecision(Enum):
    """Whether iterations t and n - 1 - t are dealt together, and who decided it."""

    NO = "no"
    DEFAULT = "by default"
    FORCED = "by the clause `fold`"


@dataclass(frozen=True)
class CostPlan:
    """A cost as it is emitted: a derived one in the kernel, the user's at the call.

    ``target`` is the parameter of the function, or for EACH the target of the loop, as the user writes it;
    ``text`` is the expression of a clause. A derived cost has ``work`` over ``index`` instead. ``clamped``:
    it is an estimate that may fall below 1, so 1 is its lower bound. ``bound_calls``: names in it that stand
    for calls, with the calls. ``names``: what it reads from around the loop, except functions and imports of
    the module.
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
        """Whether the compiler derived it."""
        return self.work is not None

    @property
    def uses_numpy(self) -> bool:
        """Whether the compiler put functions of numpy into the expression."""
        return self.expression("np") != self.expression("numpy")

    def expression(self, numpy: str) -> str:
        """The expression; ``numpy`` is the name of the module there."""
        if self.work is None or self.index is None:
            return self.text
        if self.shape is not CostShape.VECTOR:
            least = text_of(self.work, self.index)
            return f"max({least}, 1)" if self.clamped else least
        found = text_of(self.work, self.index, Notation.NUMPY, numpy)
        return f"{numpy}.maximum({found}, 1)" if self.clamped else found


def target_text(node: ast.expr) -> str:
    """A loop's target as the user writes it: without the brackets of a tuple."""
    text = ast.unparse(node)
    return text[1:-1] if isinstance(node, ast.Tuple) and node.elts else text


@dataclass(frozen=True)
class Reduction:
    """A name, or the value at an access path, that iterations update and do not otherwise read.

    ``name`` is the text of the path. ``operator``: ``+ - * & | ^ max min and or`` of the update (``-`` where
    any update subtracts), or the comparison ``< <= > >=`` of ``if new < name: name, companions = new, ...``.
    ``updates``: the statements.
    ``element``: elements of the object named are updated (``hist[b] += 1``), not the name.
    ``multiple_updates``: an iteration may update a name more than once, and its updates can be combined with
    each other first. ``integer``: each contribution is surely an integer. ``may_insert``: updates may add
    elements. ``any_order``: the user gave up iteration order. ``none_first``: any value is better than None.
    ``by``: the part of values that is compared.
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
    none_first: bool = False
    by: str = ""

    @property
    def uses_copies(self) -> bool:
        """Whether ranks add to copies of the container, if it holds integers; with `order=any`, numbers."""
        return self.element and self.operator in _FROM_NOTHING and (self.integer or self.any_order)


@dataclass(frozen=True)
class OrderedContainer:
    """A container that the body only adds to (``append update [key]=``); replayed in iteration order.

    ``by_item``: it adds to the items of the container too (``groups[k].append(e)``).
    """

    name: str
    effects: tuple[ast.expr | ast.stmt, ...]
    by_item: bool = False

    @property
    def read(self) -> tuple[ast.Call, ...]:
        """The calls that add to an item under a subscript, which is to be there."""
        calls = (e for e in self.effects if self.by_item and isinstance(e, ast.Call))
        return tuple(
            e for e in calls if isinstance(e.func, ast.Attribute) and isinstance(e.func.value, ast.Subscript)
        )

    @property
    def grows(self) -> bool:
        """Whether iterations read items that others may have put into it."""
        return 0 < len(self.read) < len(self.effects)


@dataclass(frozen=True)
class IterationContributions:
    """The contributions of a loop's iterations.

    ``maybe_stores``: names whose elements are stored to by subscripts alone; if iterations are proved to
    store to elements of their own, these are plain stores. ``explained``: names carried from one iteration
    to the next that a reduction or a diagnostic explains. ``nodes``: calls and targets of the body that
    contribute, or whose refusal is reported; ``mentions``: the names in them of what has a path. ``roots``:
    the names with which the expressions begin of all that contributions are made to.
    ``arrays``: those of ``maybe_stores`` that are only stored to, and surely are arrays or lists.
    ``dictionaries``: containers that surely are dictionaries.
    """

    reductions: tuple[Reduction, ...] = ()
    ordered: tuple[OrderedContainer, ...] = ()
    maybe_stores: frozenset[str] = frozenset()
    explained: frozenset[str] = frozenset()
    nodes: frozenset[ast.AST] = frozenset()
    mentions: frozenset[ast.AST] = frozenset()
    arrays: frozenset[str] = frozenset()
    dictionaries: frozenset[str] = frozenset()
    roots: frozenset[ast.AST] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """The names that reductions bind, companions included."""
        bound = (r for r in self.reductions if not r.element)
        return tuple(name for r in bound for name in (r.name, *r.companions))

    @property
    def containers(self) -> tuple[str, ...]:
        """The names of objects that contributions change in place."""
        return (*(r.name for r in self.reductions if r.element), *(o.name for o in self.ordered))

    @property
    def paths(self) -> tuple[AccessPath, ...]:
        """The paths, each with at least one step, of values in objects that contributions change."""
        found = map(path_from, (*self.names, *self.containers))
        return tuple(path for path in found if path.steps)

    @property
    def item_calls(self) -> frozenset[ast.AST]:
        """Calls that add to an element of a container, which may be one of the iteration's own."""
        return frozenset(call for container in self.ordered for call in container.read)

    def explains(self, access: Access) -> bool:
        """Whether an access is part of a contribution."""
        node = access.start
        return access.array in self.containers or node in self.mentions or node in self.item_calls

    def without(self, names: frozenset[str], accesses: Sequence[Access]) -> IterationContributions:
        """The contributions without those to these names, to which some of the accesses are plain stores."""
        return IterationContributions(
            tuple(r for r in self.reductions if r.name not in names),
            tuple(o for o in self.ordered if o.name not in names),
            self.maybe_stores - names,
            self.explained,
            self.nodes,
            self.mentions - {access.start for access in accesses if access.array in names},
            self.arrays - names,
            self.dictionaries - names,
            self.roots,
        )


@dataclass(frozen=True, slots=True)
class ArrayPlan:
    """One row of the emitted array table.

    ``name`` is the expression that denotes the array (``Z``, ``self.A``). ``rows``: the subscripts on
    ``axis`` that an iteration touches, as source text, affine in the loop's index variable; empty means the
    index variable itself. ``writes``: the rows that it stores to, where they differ from ``rows``. With
    ``inspect`` they need not be affine, and may be slices (``slice(p[i], p[i + 1])``): the runtime inspects
    them iteration by iteration before the loop. An array that is stored to with ``axis`` None is gathered
    element by element. ``in_place``: stores go through elements (``A[i][j] = e``), so in a list the element
    object itself changes. ``overwritten``: conditions, as source text, under which an iteration that ends has
    overwritten its whole row before it reads any of it; none where that is never known.
    """

    name: str
    distribution: Distribution
    axis: int | None
    mode: Mode
    rows: tuple[str, ...] = ()
    writes: tuple[str, ...] | None = None
    in_place: bool = False
    inspect: bool = False
    overwritten: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SpaceText:
    """How the iteration space is written at the call.

    ``index`` is the variable that counts (`range`, `enumerate`), or None. ``text`` is the user's iterable,
    with ``enumerate``, ``zip`` and ``reversed`` replaced by ``dlbrt``'s functions of the same meaning.
    ``items`` are the names of what an iteration takes, in order.
    """

    text: str
    index: str | None
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LoopPlan:
    """A loop that may run in parallel.

    ``parameters``: the kernel's parameters in order of first appearance. ``conditional``: the temporaries
    live after the loop that only some iterations set; ``definite``: those that each iteration sets.
    ``targets_live``: the loop's targets are read afterwards and not rebound in the body. ``mangled``: private
    names of the enclosing class, with their mangled form. ``guards``: conditions, as source text over the
    parameters, that the runtime checks before the loop. ``status``, ``proofs`` and ``watched`` (calls, with
    their lines, of which the runtime looks what they change): the grounds of the plan. ``seeds``: names, and
    numbers of sequences that the loop runs over, where nothing is to be looked at as long as they hold seeds
    and numbers. ``seeded``: global random generators that each iteration seeds before it draws.
    ``variables``: the class of each variable.
    ``unsure``: parameters that may have no value, which is an error only where an iteration reads them.
    ``cost``: the work of the iterations, as the kernel has it. ``fold_decision``: whether they are dealt in
    pairs. ``profile``: how their work is measured. ``seen_after_failure``: what the loop leaves may be read
    even if an exception of the body ends it. ``items``: the sequences that the loop runs over whose items an
    iteration changes in place, each with its number among those sequences. ``chunk``: how they are compiled.
    """

    loop: AnnotatedLoop
    space: SpaceText
    parameters: tuple[str, ...]
    arrays: tuple[ArrayPlan, ...]
    iterations: Distribution
    items: tuple[tuple[str, int], ...] = ()
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
    watched: tuple[tuple[str, int], ...] = ()
    seeds: tuple[str | int, ...] = ()
    seeded: tuple[str, ...] = ()
    unsure: tuple[str, ...] = ()
    variables: tuple[ClassifiedVariable, ...] = ()
    cost: CostPlan | None = None
    fold_decision: FoldDecision = FoldDecision.NO
    profile: ProfileClause | None = None
    seen_after_failure: bool = True
    chunk: ChunkPlan | None = None

    @property
    def unfolds_for(self) -> tuple[Reduction, ...]:
        """The containers whose copies make the runtime give up folding, since pairs form short runs."""
        folded = self.fold_decision is FoldDecision.DEFAULT
        return tuple(r for r in self.reductions if folded and r.uses_copies)


class ReportDetail(Enum):
    """What reports are made for: proofs alone, plans to emit, or all that is known of costs too."""

    PROOFS = "verdicts"
    PLANS = "plans"
    COSTS = "costs"


@dataclass(frozen=True)
class LoopReport:
    """The result for one loop, as `dlbc explain` shows it; ``plan`` is None where the loop is refused.

    ``proofs`` and ``failures``: those of the arrays that it stores into. ``trusted``: private objects that
    exist outside the loop. ``unseen``: functions whose code is not seen, with a place; ``watched``: as in
    `LoopPlan`. ``prints``: the body, or a function that it may call, writes to standard output. ``asserted``:
    functions that write to files, allowed by the user. ``cost``: the derived cost of an iteration.
    ``fold_legality``: whether pairs of iterations cost the same, by the user's cost if there is one.
    ``cost_omitted``: why the derived cost is not in the plan. ``partition_cost``: the cost by which the loop
    is partitioned, as far as it can be read. ``space``: the values of the index, where a variable counts.
    ``by_name``: methods of the file, with a place, called on objects that may be of other classes.
    """

    loop: AnnotatedLoop
    plan: LoopPlan | None
    findings: tuple[Diagnostic, ...]
    proofs: tuple[IndependenceProof, ...] = ()
    failures: tuple[ProofFailure, ...] = ()
    trusted: tuple[str, ...] = ()
    unseen: tuple[tuple[str, SourcePlace], ...] = ()
    watched: tuple[tuple[str, int], ...] = ()
    prints: bool = False
    asserted: tuple[str, ...] = ()
    cost: Cost | None = None
    fold_legality: FoldLegality | None = None
    cost_omitted: str = ""
    partition_cost: Cost | None = None
    space: IndexSpace | None = None
    by_name: tuple[tuple[str, SourcePlace], ...] = ()
