"""Write what a program says of the work of a loop's iterations: in the kernel, or at the call."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import count

from dlbc.emit.choose_names import GeneratedNames
from dlbc.emit.lay_out import INDENT, on_lines, work_called
from dlbc.ir.cost_plan import CostPlan, CostShape, FoldDecision
from dlbc.ir.mangling import swapped
from dlbc.ir.plan import LoopPlan

__all__ = ["cost_at_call", "work_in_kernel"]


def work_in_kernel(plan: LoopPlan, names: GeneratedNames) -> Iterator[str]:
    """What the kernel says of the work of its iterations."""
    if plan.cost is not None and plan.cost.derived:
        yield work_called("cost", _cost(plan.cost, names, dict(plan.mangled)), len(names.dlb))
    if plan.profile is not None:
        clause = plan.profile
        yield f"profile(group={clause.group}, every={clause.every}, threshold={clause.threshold!r})"
    if plan.fold_decision is not FoldDecision.NO:
        yield "folded(always=True)" if plan.fold_decision is FoldDecision.FORCED else "folded()"


def cost_at_call(cost: CostPlan, names: GeneratedNames, width: int) -> str:
    """The user's word on the work, among the arguments of the call: there its names are the program's own."""
    parts = _cost(cost, names, {})
    if cost.shape is CostShape.VECTOR:
        parts = (f"cost={parts[0]}",)
    if len(INDENT) + len("".join(parts)) < width:
        return "".join(parts)
    first, *others = on_lines(parts, 1, width)
    return "\n".join([first.strip(), *others])


def _cost(cost: CostPlan, names: GeneratedNames, mangled: dict[str, str]) -> tuple[str, ...]:
    """The argument of the call, a function that is evaluated before the loop, in parts where it may break."""
    text, target = swapped(cost.expression(names.numpy), mangled), swapped(cost.target, mangled)
    match cost.shape:
        case CostShape.VECTOR:
            return (f"lambda {target}: {text}",)
        case CostShape.CUMULATIVE:
            return (f"cumulative=lambda {target}: {text}",)
        case CostShape.FIT:
            return (f"fit=lambda: {text}",)
    bound = [(name, swapped(call, mangled)) for name, call in cost.bound_calls]
    every = ast.walk(ast.parse(f"[({target}), {text}, {', '.join(call for _, call in bound)}]"))
    taken = {node.id for node in every if isinstance(node, ast.Name)}
    items = next(name for name in _names_for_items() if name not in taken)
    calls = (f" for {name} in [{call}]" for name, call in bound)
    return (f"each=lambda {items}: [", text, f" for {target} in {items}", *calls, "]")


def _names_for_items() -> Iterator[str]:
    yield "items"
    yield from (f"items_{number}" for number in count(2))
