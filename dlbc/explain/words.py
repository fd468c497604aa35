"""What is said of arrays, variables and reductions; one table or sentence for each kind."""

from __future__ import annotations

from collections.abc import Iterator

from dlbrt.contract import Distribution, Mode

from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.ir.reduction import Reduction
from dlbc.ir.variables import ClassifiedVariable, VariableClass

__all__ = ["describe_arrays", "describe_reduction", "describe_variable", "written_name"]

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
