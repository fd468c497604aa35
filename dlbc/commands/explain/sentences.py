"""The sentences on arrays, variables, reductions and the cost of iterations, and the cost as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from dlbrt.contract import MIN_PAIRS, Distribution, Mode

from dlbc.algebra.iteration_cost import Cost, CostClass
from dlbc.commands.explain.remarks import Fact
from dlbc.ir.annotation import Annotation, CostForm, ProfileClause
from dlbc.ir.loop import ClassifiedVariable, VariableClass
from dlbc.ir.plan import ArrayPlan, CostPlan, CostShape, FoldDecision, LoopPlan, LoopReport, Reduction
from dlbc.source import Source

_MODES = {Mode.READ: "read", Mode.WRITE: "overwritten", Mode.UPDATE: "read and stored to"}

#: What is sent of an array that is distributed by rows.
_SENT = {
    Mode.READ: "scattered: each rank gets the rows that its iterations read",
    Mode.WRITE: "gathered: nothing is sent out, the stored rows come back",
    Mode.UPDATE: "scattered and gathered: each rank gets its iterations' rows, the stored rows come back",
}


def describe_arrays(plan: LoopPlan) -> Iterator[Fact]:
    """The facts on each array of the table, in its order."""
    variables = {v.name: v for v in plan.variables}
    for array in plan.arrays:
        name = written_name(array.name, plan)
        for code, text in _array_lines(plan, array, variables[name]):
            yield Fact(code, name, text, _ROWS_ALONE if code == "DLB621" else "")


#: What to try where an array is whole on each rank.
_ROWS_ALONE = "where every access selects rows by the loop variable, on one axis, rows alone are sent"


def written_name(name: str, plan: LoopPlan) -> str:
    """The name as the user writes it: private names of classes are mangled in the plan."""
    back = {mangled: written for written, mangled in plan.mangled}
    return re.sub(r"\w+", lambda part: back.get(part[0], part[0]), name)


def _array_lines(plan: LoopPlan, array: ArrayPlan, variable: ClassifiedVariable) -> Iterator[tuple[str, str]]:
    """Codes and sentences: distribution, use, rows and transport of one array."""
    axis = "" if array.axis is None else f" axis {array.axis}"
    text = ", ".join([array.distribution.value + axis, *_halo(variable), _MODES[array.mode]])
    if array.distribution is Distribution.WHOLE:
        yield "DLB621", f"{text}; {_why_whole(plan, array)}"
    else:
        yield "DLB620", text
    if array.rows:
        inspected = ", inspected before the loop" if array.inspect else ""
        yield "DLB623", f"rows of an iteration: {' and '.join(array.rows)}{inspected}"
    if array.overwritten:
        yield "DLB622", f"overwritten, and then not sent, if {' and '.join(array.overwritten)}"
    if array.writes is not None:
        yield "DLB623", f"of these stored to: {' and '.join(array.writes)}"
    for row in variable.rows_of_all:
        yield "DLB624", f"row {row} of {variable.name} is read by all iterations, sent once to each rank"
    yield "DLB625", _sent(array)


def _why_whole(plan: LoopPlan, array: ArrayPlan) -> str:
    """Why an array is not distributed (`dlbc.passes.infer_distribution`)."""
    for clause in plan.loop.annotation.distributions:
        if clause.distribution is Distribution.WHOLE and array.name in (clause.arrays or (array.name,)):
            return "by the clause `WHOLE`"
    if array.mode is Mode.READ:
        return "there is no axis of which each iteration reads a few rows, by its index"
    if array.axis is None:
        return "iterations store to elements of the same rows"
    return "an iteration may also access rows that others store to"


def _halo(variable: ClassifiedVariable) -> Iterator[str]:
    """The rows beyond its own that an iteration uses."""
    sides = ((variable.halo_below, "below"), (variable.halo_above, "above"))
    halo = [f"{rows} {side}" for rows, side in sides if rows]
    if halo:
        yield f"halo {', '.join(halo)}"


def _sent(array: ArrayPlan) -> str:
    if array.axis is not None and array.distribution is not Distribution.WHOLE:
        return _SENT[array.mode]
    if array.mode is Mode.READ:
        return "broadcast: every rank gets all of it"
    back = "elements that a rank changed" if array.axis is None else "stored rows"
    return f"broadcast: every rank gets all of it, the {back} come back"


def describe_variables(plan: LoopPlan) -> Iterator[Fact]:
    """The class of each variable."""
    for variable in plan.variables:
        yield Fact("DLB630", variable.name, describe_variable(variable))


def describe_variable(variable: ClassifiedVariable) -> str:
    """The class, with its details."""
    name = variable.variable_class.value
    match variable.variable_class:
        case VariableClass.DISTRIBUTED:
            return ", ".join([name, f"axis {variable.axis}", *_halo(variable)])
        case VariableClass.BROADCAST:
            return f"{name}, {'whole' if variable.whole_array else 'by value'}"
        case VariableClass.REDUCTION:
            return f"{name}, {variable.operator or f'goes with {variable.companion_of}'}"
        case VariableClass.LOOP:
            return f"{name}, its last value is read after the loop" if variable.live else name
        case VariableClass.LASTPRIVATE:
            return f"{name}: private, and read after the loop"
        case _:
            return name


def describe_reductions(plan: LoopPlan) -> Iterator[Fact]:
    """Each reduction, at its first update."""
    for reduction in plan.reductions:
        text = describe_reduction(reduction)
        yield Fact("DLB631", written_name(reduction.name, plan), text, node=reduction.updates[0])


def describe_reduction(reduction: Reduction) -> str:
    """How contributions are combined, and what is guaranteed of the result."""
    what = f"elements by {reduction.operator}" if reduction.element else f"by {reduction.operator}"
    if reduction.companions:
        what += f", with {', '.join(reduction.companions)}"
    return f"{what}: {_promise(reduction)}"


def _promise(reduction: Reduction) -> str:
    if reduction.any_order:
        return "combined as partial results arrive (`order=any`), so rounding may differ between runs"
    if reduction.companions:
        return "iteration order decides between equals, as in the sequential program"
    if reduction.element and reduction.integer:
        return "integers are added up on each rank, exactly; others in iteration order, bit-identical"
    if reduction.multiple_updates:
        exact = reduction.integer or reduction.operator not in "+-*"
        bits = "" if exact else "; the last bits of a float may differ from plain Python's"
        return f"results of iterations combined in iteration order, the same for every number of ranks{bits}"
    return "combined in iteration order, bit-identical to the sequential program"


# The cost of iterations

_GIVEN = {
    CostForm.DENSITY: "is the work of an iteration",
    CostForm.CUMULATIVE: "is the work of the iterations up to a value of the index",
    CostForm.FIT: "are times of the iterations below values of the index; a curve is fitted to them",
}

#: How the iterations of a folded loop are dealt in a run that does not fold it.
_SINGLY = {Distribution.BLOCK: "in parts of equal work", Distribution.CYCLIC: "in turn"}


def describe_cost(report: LoopReport) -> Iterator[Fact]:
    """The work, given or derived, how the loop is cut, and why not otherwise."""
    plan, annotation = report.plan, report.loop.annotation
    if plan is None:
        return
    if annotation.cost is not None and plan.cost is not None:
        each = ", item by item" if plan.cost.shape is CostShape.EACH else ""
        text = f"`{annotation.cost.expression}` {_GIVEN[annotation.cost.form]}"
        text = f"{text}; evaluated once before the loop{each}"
        yield Fact("DLB640", "given", text, node=annotation.cost.place)
    if report.cost is not None:
        yield from _derived_work(report.cost, given=annotation.cost is not None)
    yield from _shares(report, plan)
    if (clause := annotation.profile) is not None:
        text = (
            f"the first pass is measured by groups of {clause.group} iterations, later ones are cut by these "
            f"times; every {clause.every} passes they are cut anew if ranks differ by more than "
            f"{clause.threshold:.0%}"
        )
        yield Fact("DLB617", "profile", text, node=clause.place)
    yield from _compiled(plan)


def _compiled(plan: LoopPlan) -> Iterator[Fact]:
    """What of the loop is compiled, in which order, and what that does to the last bits."""
    clause = plan.loop.annotation.jit
    if clause is None:
        return

    def fact(code: str, text: str) -> Fact:
        return Fact(code, "jit", text, node=clause.place)

    if plan.chunk is None:
        yield fact("DLB652", "the loop runs as Python; DLB116 says why")
        return
    *better, _ = plan.chunk.forms
    order = "compiled by numba, in the order of the source"
    yield fact("DLB650", order + (", and restructured:" if better else ""))
    for form in better:
        yield from (fact("DLB651", line) for line in form.what)
    yield from (fact("DLB653", f"not restructured: {reason}") for reason in plan.chunk.reasons)
    yield from (fact("DLB654", note) for note in plan.chunk.differing)
    if plan.chunk.columns:
        yield fact("DLB655", "what iterations contribute is combined by Python, in their order")


def _derived_work(cost: Cost, given: bool) -> Iterator[Fact]:
    name = f"W({cost.index.name})"
    if cost.work is None:
        if not given:
            yield Fact("DLB642", name, f"not derived: {cost.why}", _STATE_IT)
        return
    text = cost.text if cost.short else f"a sum of {len(cost.work.terms)} terms"
    unused = "; not used, since the cost is given" if given else ""
    counted = "counted" if cost.exact else "estimated"
    yield Fact("DLB641", name, f"{text} operations: {cost.class_text}, {counted}{unused}")
    for note in dict.fromkeys(cost.notes):
        yield Fact("DLB643", name, note)


#: What to try where the cost of iterations is not known.
_STATE_IT = "`cost(EXPR)` states the work of an iteration, `profile` measures it"


def _shares(report: LoopReport, plan: LoopPlan) -> Iterator[Fact]:
    """How the loop is cut when it starts."""
    if plan.fold_decision is not FoldDecision.NO:
        folded = f"iterations t and n-1-t are dealt together, {plan.fold_decision.value}"
        yield Fact("DLB612", "folded", f"{folded}; {_pairs(report)}", node=report.loop.annotation.fold)
        yield from (Fact("DLB613", "folded", line) for line in _unfolded(plan))
        return
    yield _cut(report, plan)
    if reason := _not_folded(report):
        yield Fact("DLB614", "not folded", reason, node=report.loop.annotation.nofold)


def _unfolded(plan: LoopPlan) -> Iterator[str]:
    """When a run deals the iterations singly all the same (`dlbrt.mpi.root.partitioner`)."""
    if plan.fold_decision is FoldDecision.DEFAULT:
        yield f"singly if there are fewer than {MIN_PAIRS} pairs per rank, {_SINGLY[plan.iterations]}"
    for container in plan.unfolds_for:
        holds = "numbers" if container.any_order else "integers"
        name = written_name(container.name, plan)
        yield f"singly, likewise, if {name} holds {holds}: ranks add to copies, best in long runs"


def _pairs(report: LoopReport) -> str:
    folding = report.fold_legality
    if folding is None or (report.cost is not None and report.cost.work is None):
        return "the cost of pairs is not known"
    return "pairs cost the same" if folding.legal else folding.why


def _cut(report: LoopReport, plan: LoopPlan) -> Fact:
    later = "" if report.loop.annotation.profile is None else ", until measured"

    def known(text: str) -> Fact:
        return Fact("DLB615", "shares", text)

    if plan.iterations is Distribution.CYCLIC:
        return known(f"dealt in turn, whatever an iteration costs{later}")
    if plan.cost is not None:
        return known(f"parts of equal work{later}")
    if report.cost is not None and report.cost.cost_class is CostClass.UNIFORM:
        cost = "cost" if report.cost.exact else "are assumed to cost"
        return known(f"equal parts, iterations {cost} the same{later}")
    derived = report.cost is not None and report.cost.work is not None
    unused = f"; the work is not used, {report.cost_omitted}" if derived and report.cost_omitted else ""
    text = f"equal parts, until the speed of each rank is measured{unused}"
    return Fact("DLB616", "shares", text, "" if later else _STATE_IT)


def _not_folded(report: LoopReport) -> str:
    """Why the loop is not folded; empty if there is nothing to explain."""
    annotation, folding = report.loop.annotation, report.fold_legality
    if annotation.nofold is not None:
        return "by the clause `nofold`"
    if folding is None or _uniform(report, annotation):
        return ""
    if not folding.legal:
        return folding.why
    return "the work is to be measured" if annotation.profile is not None else ""


def _uniform(report: LoopReport, annotation: Annotation) -> bool:
    known = report.cost is not None and annotation.cost is None
    return known and report.cost.cost_class in (CostClass.UNIFORM, CostClass.UNKNOWN)  # type: ignore[union-attr]


def cost_object(source: Source, report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    """For JSON: the derived work, the clause, and the emitted expression."""
    clause = report.loop.annotation.cost
    given = None if clause is None else {"form": clause.form.name.lower(), "expression": clause.expression}
    return {
        "derived": None if report.cost is None else _derived(source, report.cost),
        "given": given,
        "evaluated": None if plan.cost is None else _emitted(plan.cost),
        "omitted": source.by_cells(report.cost_omitted),
    }


def _derived(source: Source, cost: Cost) -> dict[str, Any]:
    return {
        "index": cost.index.name,
        "expression": cost.text if cost.work is not None else None,
        "class": cost.cost_class.value,
        "degree": cost.degree,
        "exact": cost.exact,
        "why": source.by_cells(cost.why),
        "notes": list(dict.fromkeys(map(source.by_cells, cost.notes))),
    }


def _emitted(cost: CostPlan) -> dict[str, Any]:
    return {
        "form": cost.shape.name.lower(),
        "target": cost.target,
        "expression": cost.expression("np"),
        "where": dict(cost.bound_calls),
    }


def folding_object(report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    """For JSON: whether pairs are dealt, and what is known of them."""
    return {
        "folded": plan.fold_decision is not FoldDecision.NO,
        "forced": plan.fold_decision is FoldDecision.FORCED,
        "legal": None if report.fold_legality is None else report.fold_legality.legal,
        "why": "" if plan.fold_decision is not FoldDecision.NO else _not_folded(report),
    }


def profile_object(clause: ProfileClause | None) -> dict[str, Any] | None:
    """For JSON: the clause `profile`."""
    if clause is None:
        return None
    return {"group": clause.group, "every": clause.every, "threshold": clause.threshold}
