"""Choose the help of a finding by what stands at its place: what to write instead, in the program's names.

The catalogue has a row per code, and in it a help for each case told apart here. Where none of them fits, the
help of the code stays as it is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from dlbc.analysis.context import AnalysisContext
from dlbc.analysis.remedies import compiled, effects, stores, values
from dlbc.analysis.remedies.bodies import Choice
from dlbc.analysis.uses import Node, every_node
from dlbc.diagnostics.catalogue import help_for
from dlbc.diagnostics.diagnostic import Diagnostic

_CHOICES: dict[str, Callable[[Node, AnalysisContext], Choice]] = {
    "DLB116": compiled.of_left,
    "DLB301": stores.of_proved,
    "DLB302": stores.of_possible,
    "DLB303": stores.of_fixed,
    "DLB304": stores.of_fixed,
    "DLB306": stores.of_stores,
    "DLB307": stores.of_fixed,
    "DLB310": values.of_carried,
    "DLB311": values.of_update,
    "DLB315": values.of_augmented,
    "DLB324": stores.of_accumulated,
    "DLB402": effects.of_files,
    "DLB407": effects.of_change,
    "DLB409": effects.of_shared,
    "DLB410": effects.of_argument,
    "DLB412": effects.of_unseen,
    "DLB417": effects.of_iterator,
    "DLB420": effects.of_growing,
}


def with_fitting_help(finding: Diagnostic, context: AnalysisContext) -> Diagnostic:
    """The finding with the help for its case, if there is one."""
    choose = _CHOICES.get(finding.code)
    if choose is None:
        return finding
    placed = (n for s in context.body for n in every_node(s) if isinstance(n, ast.expr | ast.stmt))
    node = next((n for n in placed if context.place_of(n) == finding.place), None)
    node = node.value if isinstance(node, ast.Expr) else node
    choice = None if node is None else choose(node, context)
    return (
        finding if choice is None else replace(finding, help=help_for(finding.code, choice[0], **choice[1]))
    )
