"""What is said of a routine: what stays on the ranks, and where its sequential code brings it home."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from dlbc.explain.describe import Section
from dlbc.ir.routine import ModRef, RoutinePlan, Wrap, WrapKind
from dlbc.source import Source

__all__ = ["describe_routine", "header_of", "routine_object"]

#: What happens at a place, by what is done there.
_ACCESS_TEXT = {
    (ModRef.REF, WrapKind.ROWS): "reads these rows: those out of date at rank 0 are fetched",
    (ModRef.REF, WrapKind.EXPRESSION): "read: whatever of it is out of date at rank 0 is fetched",
    (ModRef.MOD, WrapKind.ROWS): "changes these rows: rank 0 alone has them then",
    (ModRef.MOD, WrapKind.CHANGED_ROWS): "changes these rows: rank 0 alone has them then",
    (ModRef.MOD, WrapKind.EXPRESSION): "may be changed, with all that it reaches: rank 0 alone has it then",
    (ModRef.MOD, WrapKind.BEFORE): "changed, if it is an array: rank 0 alone has it then",
}
Row = tuple[str, str]


def header_of(source: Source, node: ast.For | ast.While) -> str:
    """The line of a loop, marked where it goes on."""
    head = node.test if isinstance(node, ast.While) else node.iter
    text = source.line(node.lineno)[source.place_of(node).column - 1 :].rstrip()
    return text + (" ..." if (head.end_lineno or node.lineno) > node.lineno else "")


def describe_routine(plan: RoutinePlan) -> tuple[Section, ...]:
    """All sections that have something to say."""
    clause = plan.routine.annotation.iterate
    assert clause is not None
    balanced = f"by {clause.model} speed functions, within {clause.tolerance:.0%}, looked at after every " + (
        "pass" if clause.every == 1 else f"{clause.every} passes"
    )
    sections = (
        Section("balanced", ((balanced, ""),)),
        Section("stays on the ranks", tuple((name, "") for name in plan.resident)),
        Section("comes home", tuple(_met(plan))),
        Section(
            "taken for plain", tuple((n, "looked at where the routine begins") for n in plan.maybe_scalar)
        ),
        Section("not seen through", tuple((text, _line(node)) for text, node in plan.unseen)),
    )
    return tuple(section for section in sections if section.rows)


def _met(plan: RoutinePlan) -> Iterator[Row]:
    """The places in the order of the text."""
    for wrap in plan.wraps:
        yield f"{_line(wrap.node)}  {_text(wrap)}", _ACCESS_TEXT[wrap.mod_ref, wrap.kind]


def _line(node: ast.expr) -> str:
    return f"line {node.lineno}"


def _text(wrap: Wrap) -> str:
    return " ".join(ast.unparse(wrap.node).split())


def routine_object(source: Source, plan: RoutinePlan) -> dict[str, Any]:
    """The same for tools."""
    place = source.place_of(plan.routine.node)
    return {
        "line": place.line,
        "column": place.column,
        "header": header_of(source, plan.routine.node),
        "resident": plan.resident,
        "plain": plan.maybe_scalar,
        "places": [
            {
                "line": wrap.node.lineno,
                "touch": wrap.mod_ref.mode,
                "text": _text(wrap),
                "rows": wrap.kind in (WrapKind.ROWS, WrapKind.CHANGED_ROWS),
            }
            for wrap in plan.wraps
        ],
        "unseen": [{"line": node.lineno, "text": text} for text, node in plan.unseen],
    }
