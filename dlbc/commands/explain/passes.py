"""The efficiency of an elimination on P ranks: a routine whose loops begin further on from pass to pass.

By the formulas of Ciegis et al. (sections 3 and 4), without communication, for rows in blocks, in blocks of
which the slowest rank has the first, and in turn.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from dlbrt.records import dataclass

from dlbc.algebra.integer_form import IntegerForm, Variable, VariableKind
from dlbc.algebra.work_text import Notation, text_of
from dlbc.commands.explain.iterations import find_iterations
from dlbc.commands.explain.loop_numbers import LoopNumbers, NumberError
from dlbc.commands.explain.ranks import MOST_SUMMED, RankSpec, wanted
from dlbc.commands.explain.remarks import Fact
from dlbc.cost.evaluate import function_of
from dlbc.cost.evaluate_expressions import Names
from dlbc.cost.limits import EvaluationError
from dlbc.ir.plan import LoopReport
from dlbc.ir.routine import RoutinePlan

if TYPE_CHECKING:
    from dlbrt.data.layout import Floats


@dataclass(frozen=True, slots=True)
class _Passes:
    """The passes of a loop over ``rows`` rows: where each begins, and what a row costs in it."""

    rows: int
    firsts: range
    costs: Floats
    note: str = ""


def describe_passes(plan: RoutinePlan, report: LoopReport, ranks: RankSpec) -> Iterator[Fact]:
    """Each way to deal the rows of one of the routine's loops, and its efficiency over all passes."""
    passes = _passes(plan, report, ranks)
    if isinstance(passes, str):
        yield Fact("DLB671", "", passes, node=report.loop.node.iter)
        return
    for name, found in _efficiencies(passes, ranks):
        text = f"efficiency {found:.1%} over {len(passes.firsts)} passes"
        yield Fact("DLB670", name, text, node=report.loop.node.iter)
    if passes.note:
        yield Fact("DLB671", "", passes.note, node=report.loop.node.iter)


def passes_as_json(plan: RoutinePlan, report: LoopReport, ranks: RankSpec) -> dict[str, Any]:
    """The same for JSON."""
    passes = _passes(plan, report, ranks)
    if isinstance(passes, str):
        return {"ranks": ranks.count, "weights": ranks.weights, "why": passes, "estimates": []}
    found = [{"distribution": name, "efficiency": each} for name, each in _efficiencies(passes, ranks)]
    return {"ranks": ranks.count, "weights": ranks.weights, "why": "", "estimates": found}


def _efficiencies(passes: _Passes, ranks: RankSpec) -> Iterator[tuple[str, float]]:
    import numpy as np
    from dlbrt.partition.elimination import efficiency
    from dlbrt.partition.proportional import block_rows, scattered_owners, slowest_first

    rates = ranks.weights or (1.0,) * ranks.count
    rows = block_rows(passes.rows, rates)
    dealt = {"blocks": np.repeat(np.arange(ranks.count), rows)}
    if ranks.weights:
        order = np.array(slowest_first(rates))
        dealt["blocks, slowest rank first"] = np.repeat(order, np.array(rows)[order])
    in_turn = np.arange(passes.rows) % ranks.count
    dealt["in turn"] = scattered_owners(passes.rows, rates) if ranks.weights else in_turn
    for name, owners in dealt.items():
        yield name, efficiency(owners, passes.firsts, passes.costs, rates)


def _passes(plan: RoutinePlan, report: LoopReport, ranks: RankSpec) -> _Passes | str:
    """The passes; or why they are not known."""
    numbers = LoopNumbers(report.loop, report.space, ranks.numbers)
    assert isinstance(plan.routine.node, ast.For)
    assert isinstance(report.loop.node.iter, ast.Call)
    start, stop, *_ = report.loop.node.iter.args
    try:
        outer = find_iterations(plan.routine.node.iter, numbers)
        end = numbers.whole(stop, "the last row")
    except NumberError as error:
        return str(error)
    if outer is None or end is None:
        return "the number of passes is not known before the program runs" + wanted(numbers.missing)
    if len(outer.values) * ranks.count > MOST_SUMMED or end > MOST_SUMMED:
        return f"not summed, {len(outer.values)} passes on {ranks.count} ranks are more than {MOST_SUMMED}"
    more = _offset(start)
    values = [k for k in outer.values if k + more < end]
    if not values:
        return "there are no iterations"
    first = values[0] + more
    firsts = range(0, values[-1] + more - first + 1, outer.values.step)
    costs = _costs(plan, report, numbers, range(values[0], values[-1] + 1, outer.values.step))
    if costs is None:
        import numpy as np

        note = "what a row costs in a pass is not known: all passes count alike"
        return _Passes(end - first, firsts, np.ones(len(firsts)), note)
    return _Passes(end - first, firsts, costs)


def _offset(start: ast.expr) -> int:
    """By how much a pass begins after its number: the c of ``k + c``."""
    match start:
        case ast.BinOp(right=ast.Constant(value=int(more))):
            return more
    return 0


def _costs(plan: RoutinePlan, report: LoopReport, numbers: LoopNumbers, values: range) -> Floats | None:
    """What a row costs in each of these passes, if that depends on known numbers and the pass alone."""
    import numpy as np

    cost = report.partition_cost
    if cost is None or cost.work is None or cost.work.elements or cost.pointwise:
        return None
    assert isinstance(plan.routine.node, ast.For)
    number = Variable(VariableKind.PARAMETER, ast.unparse(plan.routine.node.target))
    known = numbers.parameters.items()
    work = cost.work.replaced({v: IntegerForm.literal(value) for v, value in known if v != number})
    if not work.variables <= {number} or not cost.short:
        return None
    index = Variable(VariableKind.INDEX, "k")
    text = text_of(work.replaced({number: IntegerForm.of(index)}), index, Notation.NUMPY, "np")
    body = ast.parse(text, mode="eval").body
    try:
        found = function_of(("k",), body, Names(modules={"np": "numpy"}))(np.asarray(values))
    except EvaluationError:
        return None
    each: Floats = np.broadcast_to(np.asarray(found, dtype=np.float64), len(values))
    return each if (each > 0).all() else None
