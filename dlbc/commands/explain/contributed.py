"""What it costs to take in order what iterations contribute, beyond their work: an order of magnitude.

With a million iterations on two ranks 1.4 to 1.9 microseconds were measured for an item of a container, 0.4
to 0.8 for an operand of a sum, and 0.1 for a value that is compared (Python 3.11, an AMD EPYC).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.commands.explain.prediction import OPERATION_S
from dlbc.ir.plan import LoopPlan

_ADDED_S, _SUMMED_S, _COMPARED_S = 1.5e-6, 0.6e-6, 0.1e-6

#: The operators of sums and products, and of bits.
_ARITHMETIC = frozenset("+-*|^&")

#: So often inner loops are taken to turn, compared with each other.
_TURNS = 10

_OPERATIONS = (
    *(ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.AugAssign),
    *(ast.Subscript, ast.Attribute, ast.Call, ast.For, ast.While, ast.comprehension),
)

_TURNING = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def contributed_s(plan: LoopPlan, iterations: int, alone_s: float | None) -> float:
    """Seconds that it takes, beyond the work, to take in order what iterations contribute.

    Inner loops contribute as often as they turn, which is estimated from ``alone_s``, the seconds of all
    iterations one after the other.
    """
    weights = dict(_weighted(plan.loop.node.body, 1))
    operations = sum(weight for node, weight in weights.items() if isinstance(node, _OPERATIONS))

    def times(node: ast.AST) -> float:
        weight = weights.get(node, 1)
        if weight == 1 or not alone_s:
            return iterations
        return max(iterations, alone_s / OPERATION_S * weight / operations)

    added = sum(_ADDED_S * times(effect) for each in plan.ordered for effect in each.effects)
    for each in plan.reductions:
        if each.uses_copies or (each.any_order and not each.element):
            continue
        price_s = _COMPARED_S if each.operator not in _ARITHMETIC else _SUMMED_S
        price_s = _ADDED_S if each.element else price_s
        if each.multiple_updates:  # combined at the end of each iteration
            added += price_s * iterations
        else:
            added += sum(price_s * times(update) for update in each.updates)
    return added


def _weighted(nodes: list[ast.stmt] | list[ast.AST], weight: int) -> Iterator[tuple[ast.AST, int]]:
    """The nodes of statements, each with how often it is executed."""
    for node in nodes:
        yield node, weight
        inner = weight * _TURNS if isinstance(node, _TURNING) else weight
        yield from _weighted([*ast.iter_child_nodes(node)], inner)
