"""The sequences that a loop runs over, in the order of the runtime's space, and the targets that hold items.

An iteration takes one item of each sequence, so an item belongs to its iteration. That no two items share an
object, and that nothing else reaches one, the runtime sees in the data before the loop.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Set

from dlbc.analysis.uses import bound_names, unparsed
from dlbc.ir.region import ModuleNames


def sequences_of(node: ast.For, targets: Set[str], module: ModuleNames) -> tuple[tuple[str, int], ...]:
    """The text and the number of each sequence whose items the ``targets`` hold."""
    found = enumerate(_sequences(node.target, node.iter, module))
    return tuple({text: number for number, (text, names) in found if names & targets}.items())


def _sequences(
    target: ast.expr, iterable: ast.expr, module: ModuleNames
) -> Iterator[tuple[str, frozenset[str]]]:
    parts = target.elts if isinstance(target, ast.Tuple | ast.List) else []
    match iterable:
        case ast.Call(func=ast.Name(id="range")) if module.builtin("range"):
            return
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *_]) if module.builtin("enumerate"):
            yield from _sequences(parts[1] if len(parts) == 2 else target, inner, module)
        case ast.Call(func=ast.Name(id="zip"), args=args) if module.builtin("zip"):
            for number, inner in enumerate(args):
                yield from _sequences(parts[number] if len(parts) == len(args) else target, inner, module)
        case ast.Call(func=function, args=[inner, *_]) if unparsed(function).split(".")[-1] == "tqdm":
            yield from _sequences(target, inner, module)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]) if module.builtin("reversed"):
            if not list(_sequences(target, inner, module)):
                return
            yield unparsed(inner), frozenset(bound_names([target]))
        case _:
            yield unparsed(iterable), frozenset(bound_names([target]))


def surely_runs(iterable: ast.expr, module: ModuleNames, integers: Mapping[str, int]) -> bool:
    """Whether a loop over it runs at least once, as its text shows; ``integers`` are names of integers."""
    match iterable:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args, keywords=[]) if module.builtin(
            "range"
        ):
            numbers = [_integer(each, integers) for each in args]
            known = [each for each in numbers if each is not None]
            return len(known) == len(args) <= 3 and 0 not in known[2:] and len(range(*known)) > 0
        case ast.Call(func=ast.Name(id="reversed" | "enumerate" as name), args=[inner]) if module.builtin(
            name
        ):
            return surely_runs(inner, module, integers)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            return any(not isinstance(each, ast.Starred) for each in elements)
        case ast.Constant(value=str(text)):
            return bool(text)
    return False


def _integer(node: ast.expr, integers: Mapping[str, int]) -> int | None:
    match node:
        case ast.Constant(value=int(number)) if type(number) is int:
            return number
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))) if type(number) is int:
            return -number
        case ast.Name(id=name):
            return integers.get(name)
    return None
