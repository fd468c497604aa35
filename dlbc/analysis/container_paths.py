"""Arrays found under a key, in a field or as a part, which the body does not change: `state["v"]`, `z.real`.

Such a path is an array of its own, as `self.A` is: `bufs[t % 2][i]` is element i of the array `bufs[t % 2]`.
Whether two paths lead to one array, the runtime sees before the loop. A bracket counts as a key only if every
bracket there is one: with `A[k][i]` in the body, for a `k` that changes, `A[0][i]` is an element of `A`.

An array that is subscripted as in `A[..., i]` alone has the path `A[...]`: its axes count from the end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dlbc.analysis.uses import every_node, is_chain
from dlbc.ir.access_path import bracket_text
from dlbc.ir.region import CodeRegion, Expansion

Step = ast.Attribute | ast.Subscript

#: Parts of an array that share its memory, element by element.
_PARTS = ("real", "imag")


def find_paths(region: CodeRegion) -> frozenset[str]:
    """The paths that end in a key or a part, as text, in the region and in the calls that it expands."""
    # Names that only a callee has cannot stand in a path.
    own = region.own.union(region.outer, *(e.kept for e in region.expansions.values()))
    chains = [chain for chain in _chains(region) if chain[0] not in own]
    found: set[str] = set()
    while new := set(_next_paths(chains, own, found)) - found:
        found |= new
    return frozenset(found)


def steps_of(node: ast.expr, expansions: Mapping[ast.AST, Expansion]) -> tuple[ast.expr, list[Step]]:
    """The expression that a chain of attributes and brackets begins with, and its steps.

    An expanded call in it counts as what it picks out.
    """
    steps: list[Step] = []
    while isinstance(node := picked_out(node, expansions), ast.Attribute | ast.Subscript):
        steps, node = [node, *steps], node.value
    return node, steps


def picked_out(node: ast.expr, expansions: Mapping[ast.AST, Expansion]) -> ast.expr:
    """What an expanded call returns, if it only picks it out; else the node itself."""
    expansion = expansions.get(node)
    picked = None if expansion is None or len(expansion.body) > 1 else expansion.value
    return node if picked is None or not is_chain(picked) else picked


def _chains(region: CodeRegion) -> Iterator[tuple[str, list[Step], bool]]:
    """The longest chains that begin at a name; whether they are stored to."""
    nodes = [node for statement in region.code for node in every_node(statement)]
    inner = {node.value for node in nodes if isinstance(node, ast.Attribute | ast.Subscript)}
    for node in nodes:
        if isinstance(node, ast.Attribute | ast.Subscript) and node not in inner:
            start, steps = steps_of(node, region.expansions)
            if isinstance(start, ast.Name):
                yield start.id, steps, not isinstance(node.ctx, ast.Load)


def _next_paths(
    chains: Sequence[tuple[str, list[Step], bool]], own: frozenset[str], known: set[str]
) -> Iterator[str]:
    """The paths by one more key, or part, than those known."""
    at: dict[str, list[tuple[list[Step], bool]]] = {}
    for name, steps, stored in chains:
        path, rest = _followed(name, steps, known)
        at.setdefault(path, []).append((rest, stored))
    for path, rests in at.items():
        after = [(rest, stored) for rest, stored in rests if rest]
        if after and all(_is_from_the_end(rest) for rest, _ in after):
            yield f"{path}[...]"
            continue
        keyed = all(_is_key(rest[0], own) for rest, _ in after)
        if keyed and any(stored and _has_bracket(rest[1:]) for rest, stored in after):
            yield from (_longer(path, rest[0]) for rest, _ in after)


def _followed(name: str, steps: list[Step], known: set[str]) -> tuple[str, list[Step]]:
    """The path as far as it is known, and the steps from there on."""
    path = name
    for position, step in enumerate(steps):
        longer = _longer(path, step)
        plain = isinstance(step, ast.Attribute) and step.attr not in _PARTS
        if not plain and longer not in known:
            return path, steps[position:]
        path = longer
    return path, []


def _longer(path: str, step: Step) -> str:
    return f"{path}.{step.attr}" if isinstance(step, ast.Attribute) else path + bracket_text(step.slice)


def _is_from_the_end(rest: list[Step]) -> bool:
    """Whether a bracket that begins with an ellipsis is the only one that follows."""
    return from_the_end(rest[0]) is not None and not _has_bracket(rest[1:])


def from_the_end(step: Step) -> ast.Subscript | None:
    """The bracket `[..., j, i]` as `[i, j, :]`, the axes from the last on; None for any other step."""
    match step:
        case ast.Subscript(slice=ast.Tuple(elts=[ast.Constant(value=value), *others])) if (
            value is Ellipsis and others and not any(map(_is_no_axis, others))
        ):
            axes = ast.Tuple([*reversed(others), ast.Slice()], ast.Load())
            return ast.copy_location(
                ast.Subscript(step.value, ast.copy_location(axes, step.slice), step.ctx), step
            )
    return None


def _is_no_axis(node: ast.expr) -> bool:
    """Whether a part of a bracket is no subscript of one axis: `None`, another ellipsis, `*rest`."""
    return isinstance(node, ast.Starred) or (isinstance(node, ast.Constant) and type(node.value) is not int)


def _has_bracket(steps: Iterable[Step]) -> bool:
    return any(isinstance(step, ast.Subscript) for step in steps)


def _is_key(step: Step, own: frozenset[str]) -> bool:
    """Whether a step leads to the same place in every iteration."""
    if isinstance(step, ast.Attribute):
        return step.attr in _PARTS
    return _is_fixed(step.slice, own)


def _is_fixed(node: ast.expr, own: frozenset[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is not Ellipsis
        case ast.Name(id=name):
            return name not in own
        case ast.Attribute(value=value):
            return _is_fixed(value, own)
        case ast.UnaryOp(operand=operand):
            return _is_fixed(operand, own)
        case ast.BinOp(left=left, right=right):
            return _is_fixed(left, own) and _is_fixed(right, own)
    return False
