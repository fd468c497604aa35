"""What is said of arrays, variables and reductions; one table or sentence for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dlbrt.contract import MIN_PAIRS, Distribution, Mode

from dlbc.algebra.iteration_cost import Cost, CostClass
from dlbc.ir.annotation import Annotation, CostClause, CostForm, ProfileClause
from dlbc.ir.loop import ClassifiedVariable, VariableClass
from dlbc.ir.plan import ArrayPlan, CostPlan, CostShape, FoldDecision, LoopPlan, LoopReport, Reduction

_MODES = {Mode.READ: "read", Mode.WRITE: "overwritten", Mode.UPDATE: "read and stored to"}

#: What is sent of an array that is dealt.
_SENT = {
    Mode.READ: "scattered: to each rank the rows that its iterations read",
    Mode.WRITE: "gathered: nothing goes out, the rows stored to come back",
    Mode.UPDATE: "scattered and gathered: to each rank the rows of its iterations, back those stored to",
}


def describe_arrays(plan: LoopPlan) -> Iterator[tuple[str, str]]:
    """Rows for each array of the table, in its order."""
    variables = {v.name: v for v in plan.variables}
    for array in plan.arrays:
        name = written_name(array.name, plan)
        for number, words in enumerate(_array_words(array, variables[name])):
            yield ("" if number else name), words


def written_name(name: str, plan: LoopPlan) -> str:
    """The name as the user writes it: private names of classes are mangled in the plan."""
    back = {mangled: written for written, mangled in plan.mangled}
    return ".".join(back.get(part, part) for part in name.split("."))


def _array_words(array: ArrayPlan, variable: ClassifiedVariable) -> Iterator[str]:
    """Distribution, use, rows and transport of one array."""
    axis = "" if array.axis is None else f" axis {array.axis}"
    yield ", ".join([array.distribution.value + axis, *_reach(variable), _MODES[array.mode]])
    if array.rows:
        looked = ", looked at before the loop" if array.inspect else ""
        yield f"rows of an iteration: {' and '.join(array.rows)}{looked}"
    if array.writes is not None:
        yield f"of them stored to: {' and '.join(array.writes)}"
    for row in variable.rows_of_all:
        yield f"row {row} of {variable.name} is read by all iterations, sent once to each rank"
    yield _sent(array)


def _reach(variable: ClassifiedVariable) -> Iterator[str]:
    """How far an iteration reaches beyond its own row."""
    sides = ((variable.halo_below, "below"), (variable.halo_above, "above"))
    halo = [f"{rows} {side}" for rows, side in sides if rows]
    if halo:
        yield f"halo {', '.join(halo)}"


def _sent(array: ArrayPlan) -> str:
    if array.axis is not None and array.distribution is not Distribution.WHOLE:
        return _SENT[array.mode]
    if array.mode is Mode.READ:
        return "broadcast: every rank gets all of it"
    back = "elements that a rank changed" if array.axis is None else "rows stored to"
    return f"broadcast: every rank gets all of it, the {back} come back"


def describe_variable(variable: ClassifiedVariable) -> str:
    """The class, with what belongs to it."""
    word = variable.variable_class.value
    match variable.variable_class:
        case VariableClass.DISTRIBUTED:
            return ", ".join([word, f"axis {variable.axis}", *_reach(variable)])
        case VariableClass.BROADCAST:
            return f"{word}, {'whole' if variable.whole_array else 'by value'}"
        case VariableClass.REDUCTION:
            return (
                f"{word}, {variable.operator}"
                if variable.operator
                else f"{word}, goes with {variable.companion_of}"
            )
        case VariableClass.LOOP:
            return f"{word}, its last value is read after the loop" if variable.live else word
        case VariableClass.LASTPRIVATE:
            return f"{word}: private, and read after the loop"
        case _:
            return word


def describe_reduction(reduction: Reduction) -> str:
    """How contributions are combined, and what is promised of the result."""
    what = f"elements by {reduction.operator}" if reduction.element else f"by {reduction.operator}"
    if reduction.companions:
        what += f", with {', '.join(reduction.companions)}"
    return f"{what}: {_promise(reduction)}"


def _promise(reduction: Reduction) -> str:
    if reduction.any_order:
        return "combined as shares come (`order=any`), so rounding may differ between runs"
    if reduction.companions:
        return "iteration order decides between equals, as in the sequential program"
    if reduction.element and reduction.integer:
        return "integers are added up on each rank, exactly; others in iteration order, bit-identical"
    if reduction.multiple_updates:
        return "shares of iterations combined in iteration order, the same for every number of ranks"
    return "combined in iteration order, bit-identical to the sequential program"


# ------------------------------------------------------------------------------
# What is said of the work of iterations: what it is, whose word that is, and how the loop is cut by it.

_GIVEN = {
    CostForm.DENSITY: "is the work of an iteration",
    CostForm.CUMULATIVE: "is the work of the iterations up to a value of the index",
    CostForm.FIT: "are times of the iterations below values of the index; a curve is fitted through them",
}


#: How iterations are dealt that were to be folded, and are not.
_SINGLY = {Distribution.BLOCK: "in parts of equal work", Distribution.CYCLIC: "in turn"}


def describe_cost(report: LoopReport) -> Iterator[tuple[str, str]]:
    """Rows: the work, the user's word on it, how the loop is cut, and why not otherwise."""
    plan, annotation = report.plan, report.loop.annotation
    if plan is None:
        return
    if annotation.cost is not None and plan.cost is not None:
        each = ", item by item" if plan.cost.shape is CostShape.EACH else ""
        text = f"`{annotation.cost.expression}` {_GIVEN[annotation.cost.form]}"
        yield "given", f"{text}; evaluated once before the loop{each}"
    if report.cost is not None:
        yield from _work_words(report.cost, given=annotation.cost is not None)
    yield from _shares(report, plan)
    if annotation.profile is not None:
        yield "profile", _profile_words(annotation.profile)
    if annotation.jit is not None:
        yield "jit", "accepted, without effect in this version"


def _work_words(cost: Cost, given: bool) -> Iterator[tuple[str, str]]:
    name = f"W({cost.index.name})"
    if cost.work is None:
        if not given:
            yield name, f"not derived: {cost.why}"
        return
    text = cost.text if cost.short else f"a sum of {len(cost.work.terms)} terms"
    unused = "; not used, the cost is given" if given else ""
    counted = "counted" if cost.exact else "estimated"
    yield name, f"{text} operations: {cost.class_text}, {counted}{unused}"
    for note in dict.fromkeys(cost.notes):
        yield "", note


def _shares(report: LoopReport, plan: LoopPlan) -> Iterator[tuple[str, str]]:
    """How the loop is cut at its start."""
    if plan.fold_decision is not FoldDecision.NO:
        yield (
            "folded",
            f"iterations t and n-1-t are dealt together, {plan.fold_decision.value}; {_pairs(report)}",
        )
        yield from (("", line) for line in _unfolded(plan))
        return
    yield "shares", _cut(report, plan)
    if reason := _not_folded(report):
        yield "not folded", reason


def _unfolded(plan: LoopPlan) -> Iterator[str]:
    """When a run deals singly all the same (`dlbrt.mpi.partitioner`)."""
    if plan.fold_decision is FoldDecision.DEFAULT:
        yield f"singly with fewer than {MIN_PAIRS} pairs for each rank, {_SINGLY[plan.iterations]}"
    for container in plan.unfolds_for:
        holds = "numbers" if container.any_order else "integers"
        name = written_name(container.name, plan)
        yield f"singly where {name} holds {holds}, likewise: ranks add to copies, best in long stretches"


def _pairs(report: LoopReport) -> str:
    folding = report.fold_legality
    if folding is None or (report.cost is not None and report.cost.work is None):
        return "what pairs cost is not known"
    return "pairs cost the same" if folding.legal else folding.why


def _cut(report: LoopReport, plan: LoopPlan) -> str:
    later = "" if report.loop.annotation.profile is None else ", until measured"
    if plan.iterations is Distribution.CYCLIC:
        return f"dealt in turn, whatever an iteration costs{later}"
    if plan.cost is not None:
        return f"parts of equal work{later}"
    if report.cost is not None and report.cost.cost_class is CostClass.UNIFORM:
        taken = "cost" if report.cost.exact else "are taken to cost"
        return f"equal parts, iterations {taken} the same{later}"
    known = report.cost is not None and report.cost.work is not None
    unused = f"; the work is not used, {report.cost_omitted}" if known and report.cost_omitted else ""
    return f"equal parts, until the speed of each rank is measured{unused}"


def _not_folded(report: LoopReport) -> str:
    """Why not, where one may wonder."""
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


def _profile_words(clause: ProfileClause) -> str:
    return (
        f"the first pass is measured by groups of {clause.group} iterations, later ones are cut by that; "
        f"every {clause.every} passes they are cut anew if ranks differ by more than {clause.threshold:.0%}"
    )


def cost_object(report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    """For tools: the derived work, the clause, and what stands in the kernel."""
    return {
        "derived": None if report.cost is None else _derived(report.cost),
        "given": None if (clause := report.loop.annotation.cost) is None else _given(clause),
        "evaluated": None if plan.cost is None else _emitted(plan.cost),
        "omitted": report.cost_omitted,
    }


def _derived(cost: Cost) -> dict[str, Any]:
    return {
        "index": cost.index.name,
        "expression": cost.text if cost.work is not None else None,
        "class": cost.cost_class.value,
        "degree": cost.degree,
        "exact": cost.exact,
        "why": cost.why,
        "notes": list(dict.fromkeys(cost.notes)),
    }


def _given(clause: CostClause) -> dict[str, Any]:
    return {"form": clause.form.name.lower(), "expression": clause.expression}


def _emitted(cost: CostPlan) -> dict[str, Any]:
    return {
        "form": cost.shape.name.lower(),
        "target": cost.target,
        "expression": cost.expression("np"),
        "where": dict(cost.bound_calls),
    }


def folding_object(report: LoopReport, plan: LoopPlan) -> dict[str, Any]:
    """For tools: whether pairs are dealt, and what is known of them."""
    return {
        "folded": plan.fold_decision is not FoldDecision.NO,
        "forced": plan.fold_decision is FoldDecision.FORCED,
        "legal": None if report.fold_legality is None else report.fold_legality.legal,
        "why": "" if plan.fold_decision is not FoldDecision.NO else _not_folded(report),
    }


def profile_object(clause: ProfileClause | None) -> dict[str, Any] | None:
    """For tools: the clause `profile`."""
    if clause is None:
        return None
    return {"group": clause.group, "every": clause.every, "threshold": clause.threshold}
