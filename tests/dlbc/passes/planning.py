"""Plan the loops of a program text, as the pipeline does."""

from __future__ import annotations

import ast

from dlbrt.contract import Distribution, Mode

from dlbc.diagnostics.diagnostic import Diagnostic, Severity
from dlbc.ir.loop import Module
from dlbc.ir.plan import ArrayPlan, LoopPlan
from dlbc.parse.find_loops import find_loops
from dlbc.passes.plan_loops import report_loops
from dlbc.source import Source


def results_of(text: str) -> list[tuple[LoopPlan | None, tuple[Diagnostic, ...]]]:
    module = Module(Source("case.py", text.encode(), text), ast.parse(text))
    loops, _, problems = find_loops(module)
    assert not [p for p in problems if p.severity is Severity.ERROR], problems
    return [(report.plan, report.findings) for report in report_loops(module, loops)]


def plan_of(text: str) -> LoopPlan:
    [(plan, findings)] = results_of(text)
    assert plan is not None, findings
    return plan


def codes_of(text: str) -> list[str]:
    return [d.code for _, findings in results_of(text) for d in findings]


def table(plan: LoopPlan) -> list[str]:
    """The array table in short: ``Z BLOCK 0 rw rows=i-1,i writes=i in_place``."""
    return [_row(a) for a in plan.arrays]


def _row(plan: ArrayPlan) -> str:
    parts = [
        plan.name,
        plan.distribution.value,
        *([] if plan.axis is None else [str(plan.axis)]),
        plan.mode.value,
    ]
    parts += ["rows=" + ",".join(plan.rows)] if plan.rows else []
    parts += ["writes=" + ",".join(plan.writes)] if plan.writes is not None else []
    return " ".join(parts + (["in_place"] if plan.in_place else []))


__all__ = ["Distribution", "Mode", "codes_of", "plan_of", "results_of", "table"]
