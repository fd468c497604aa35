"""Choose whether the derived work goes into the kernel, and whether iterations are dealt in pairs.

The kernel evaluates the work before the loop. It is left out where partitioning by it gains nothing
(uniform), where it would take long to read or to evaluate, and where a name that it reads might have another
meaning before the loop, or no value. A function of the program that it calls must be pure, since it is called
more often than in the sequential program.

Bitonic folding deals iterations t and n - 1 - t together (Zaki, Li and Parthasarathy, section 1.5.3). By
default this is done where the work is known, not uniform, and its sum over a pair is the same for all t;
`dlbc.algebra.iteration_cost.fold_legality` tests that. The clause `fold` forces it, unless the known work
shows that pairs differ. `nofold`, `profile` and work given as a curve keep the iterations in order.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, count
from math import lcm

from dlbrt.records import dataclass

from dlbc.algebra.bounds import Assumptions
from dlbc.algebra.index_space import IndexSpace
from dlbc.algebra.integer_form import Apply, IntegerForm, Operator, Variable, VariableKind
from dlbc.algebra.iteration_cost import Cost, CostClass, FoldLegality, fold_legality, index_range
from dlbc.algebra.work import ONE_WORK, Factor, Indicator, WorkPolynomial
from dlbc.algebra.work_text import text_of
from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.control_flow import jumps_out
from dlbc.analysis.effects import FunctionSummary
from dlbc.analysis.enclosing_statements import maybe_unbound
from dlbc.analysis.names import stays
from dlbc.analysis.uses import UseKind, names_in, uses_of
from dlbc.diagnostics.catalogue import report
from dlbc.diagnostics.diagnostic import Diagnostic
from dlbc.ir.annotation import Annotation, CostForm
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.plan import CostPlan, CostShape, FoldDecision, target_text


@dataclass(frozen=True)
class KernelCost:
    """The derived cost as the kernel has it, or why it has none."""

    plan: CostPlan | None
    why: str = ""


def choose_cost(
    context: AnalysisContext, cost: Cost, space: IndexSpace | None, stored: frozenset[str]
) -> KernelCost:
    """The choice for one loop; ``stored``: the arrays and containers that the loop changes."""
    if cost.work is None:
        return KernelCost(None, "it is not known")
    if cost.cost_class is CostClass.UNIFORM or space is None:
        return KernelCost(None, "it is the same for all iterations")
    read = tuple(_names_read(cost.work))
    reason = _hindrance(context, cost, cost.work, stored) or _unbound(read, context.loop)
    if reason:
        return KernelCost(None, reason)
    outside = tuple(name for name in read if not stays(name, context.loop, context.module))
    work, floored = cost.work, False
    if not _at_least_one(work, index_range(space)):
        work, floored = (work + ONE_WORK, False) if cost.exact else (work, True)
    plan = CostPlan(CostShape.VECTOR, cost.index.name, "", work, cost.index, floored, names=outside)
    return KernelCost(_item_by_item(plan, work, context.loop) if cost.pointwise else plan)


def _item_by_item(plan: CostPlan, work: WorkPolynomial, loop: AnnotatedLoop) -> CostPlan:
    """The plan for work with calls: each call is made once per item."""
    calls = [c for c in _applications(work) if c.operator is Operator.CALL and not _within(c)]
    target = target_text(loop.node.target)
    taken = {*_names_read(work), plan.target, *(u.name for u in uses_of(loop.node.target))}
    fresh = (name for name in chain(["value"], (f"value_{k}" for k in count(2))) if name not in taken)
    named = dict(zip(sorted(set(calls), key=str), fresh, strict=False))
    changed = work.replaced({call: IntegerForm.parameter(name) for call, name in named.items()})
    bound = tuple(
        (name, text_of(WorkPolynomial.of(call), Variable(VariableKind.INDEX, plan.target)))
        for call, name in named.items()
    )
    return replace(plan, shape=CostShape.EACH, target=target, work=changed, bound_calls=bound)


def _within(call: Apply) -> bool:
    """Whether the arguments contain another call."""
    inner = (a for operand in call.operands for a in _applications(WorkPolynomial.from_form(operand)))
    return any(a.operator is Operator.CALL for a in inner)


def _hindrance(context: AnalysisContext, cost: Cost, work: WorkPolynomial, stored: frozenset[str]) -> str:
    """Why the work itself cannot be evaluated before the loop; or empty."""
    if not cost.short:
        return "it is too long to be evaluated"
    inner = any(v.kind is VariableKind.INNER or v.out_of_scope for v in work.variables)
    if inner or cost.index.name != context.names.index:
        return "it depends on more than the index"
    if changed := sorted(work.elements & stored):
        return f"it depends on `{changed[0]}`, which the loop changes"
    if cost.pointwise:
        if not (context.module.builtin("max") and context.module.builtin("min")):
            return "the program has a `max` or `min` of its own"
        for name in sorted(_functions(work)):
            if not _computes_alone(name, context):
                return f"it calls `{name}`, which may do more than compute"
    return ""


def _unbound(read: tuple[str, ...], loop: AnnotatedLoop) -> str:
    for name in read:
        if maybe_unbound(name, loop) and name not in _read_always(loop.node.body):
            return f"`{name}` may have no value where the loop is met"
    return ""


def _read_always(body: list[ast.stmt]) -> frozenset[str]:
    """Names that every iteration reads at its top level, before anything can end it."""
    found: set[str] = set()
    for statement in body:
        for head in _heads(statement):
            found |= {u.name for u in uses_of(head) if u.kind is UseKind.LOAD and u.sure}
        if jumps_out(statement):
            break
    return frozenset(found)


def _heads(statement: ast.stmt) -> list[ast.AST]:
    """The parts of a statement that are always evaluated."""
    match statement:
        case ast.If(test=test) | ast.While(test=test):
            return [test]
        case ast.For(iter=iterable):
            return [iterable]
        case ast.With(items=items):
            return [items[0].context_expr]
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr() | ast.Return() | ast.Delete():
            return [statement]
    return []


def _names_read(work: WorkPolynomial) -> list[str]:
    """The names in the work except the index: those of ``self.n``, ``A.shape[1]``, ``ix[i]``, ``f(i)``."""
    texts = [v.name for v in work.variables if v.kind is VariableKind.PARAMETER]
    texts += [atom.name for atom in _applications(work)]
    return sorted({name for text in texts for name in names_in(text)})


def _functions(work: WorkPolynomial) -> frozenset[str]:
    return frozenset(atom.name for atom in _applications(work) if atom.operator is Operator.CALL)


def _applications(work: WorkPolynomial) -> Iterator[Apply]:
    """The elements and calls in the work that have a name, in operands and conditions too."""
    waiting: list[Factor] = list(work.factors)
    while waiting:
        factor = waiting.pop()
        if isinstance(factor, Indicator):
            waiting += factor.form.atoms
        elif isinstance(factor, Apply):
            waiting += [atom for operand in factor.operands for atom in operand.atoms]
            if factor.name:
                yield factor


def _computes_alone(name: str, context: AnalysisContext) -> bool:
    """Whether the function and its callees have no side effect, as far as their code is seen."""
    summaries = context.summaries
    roots = frozenset(f for f in context.module.functions.get(name, ()) if f in summaries.of)
    return bool(roots) and all(_is_pure(summaries.of[f]) for f in summaries.reachable(roots))


def _is_pure(function: FunctionSummary) -> bool:
    outward = function.side_effects or function.calls_values or function.unseen or function.prints
    return not (outward or function.mutated_parameters or function.mutated_shared or function.rebinds)


def _at_least_one(work: WorkPolynomial, given: Assumptions) -> bool:
    """Whether each iteration costs at least 1: every other term is at least 0, or the facts prove it.

    Otherwise the step of the loop itself is counted as well, and an estimate is kept from falling below 1:
    iterations assumed to cost nothing would all go to one rank.
    """
    work = work - ONE_WORK
    if all(k >= 0 and all(_nonnegative(f, given) for f in factors) for factors, k in work.terms):
        return True
    whole = work * lcm(*(k.denominator for _, k in work.terms))
    plain = [(tuple(f for f in fs if not isinstance(f, Indicator)), int(k)) for fs, k in whole.terms]
    return not any(isinstance(f, Indicator) for f in whole.factors) and given.proves(
        IntegerForm(tuple(plain))
    )


def _nonnegative(factor: Factor, given: Assumptions) -> bool:
    return isinstance(factor, Indicator) or given.proves(IntegerForm.of(factor))


def fold_bitonic(
    annotation: Annotation, cost: Cost | None, space: IndexSpace | None
) -> tuple[FoldDecision, FoldLegality | None, tuple[Diagnostic, ...]]:
    """The decision, the legality of pairs, and the diagnostic of a `fold` that cannot be legal.

    ``cost`` is the work of an iteration, by the user's clause if there is one; None where it is not needed.
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
