"""The iterations of a loop, where the numbers that they depend on are known."""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.analysis.subscripts import all_known
from dlbc.commands.explain.loop_numbers import LoopNumbers, NumberError


@dataclass(frozen=True, slots=True)
class IterationRange:
    """The iterations: values of the index variable, or mere positions if ``counts`` is false."""

    values: range
    counts: bool


#: More iterations are not told apart by doubles.
MOST_ITERATIONS = 2**53

NO_ITERATIONS = IterationRange(range(0), counts=True)


def find_iterations(node: ast.expr, numbers: LoopNumbers) -> IterationRange | None:
    """The iterations of a loop over ``node``; None if numbers are missing, which ``numbers`` records.

    NumberError for numbers that make no range, or one of more than 2**53 iterations.
    """
    match node:
        case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args):
            return _range(node, args, numbers)
        case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
            found = find_iterations(inner, numbers)
            return None if found is None else IterationRange(found.values[::-1], found.counts)
        case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]):
            start += [k.value for k in node.keywords if k.arg == "start"]
            found = find_iterations(inner, numbers)
            first = numbers.whole(start[0], "the first number of enumerate") if start else 0
            if found is None or first is None:
                return None
            return IterationRange(range(first, first + len(found.values)), counts=True)
        case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as parts):
            ranges = all_known(find_iterations(part, numbers) for part in parts)
            if ranges is None:
                return None
            return IterationRange(range(min((len(r.values) for r in ranges), default=0)), counts=False)
        case ast.Call(func=ast.Name(id="tqdm") | ast.Attribute(attr="tqdm"), args=[inner, *_]):
            return find_iterations(inner, numbers)
        case ast.List(elts=parts) | ast.Tuple(elts=parts) if not any(
            isinstance(part, ast.Starred) for part in parts
        ):
            return IterationRange(range(len(parts)), counts=False)
        case ast.Constant(value=str() | bytes() as text):
            return IterationRange(range(len(text)), counts=False)
    length = ast.parse(f"len({ast.unparse(node)})", mode="eval").body
    count = numbers.length(length, "the number of iterations")
    return None if count is None else IterationRange(_counted(range(count), "the loop"), counts=False)


def _range(node: ast.expr, args: list[ast.expr], numbers: LoopNumbers) -> IterationRange | None:
    why = f"the loop runs over {ast.unparse(node)}"
    values = all_known(numbers.whole(arg, why) for arg in args)
    if values is None:
        return None
    try:
        return IterationRange(_counted(range(*values), why), counts=True)
    except (TypeError, ValueError) as error:
        raise NumberError(f"{why}: {error}") from error


def _counted(values: range, why: str) -> range:
    """The values, if they are so few that they can be counted; NumberError."""
    if -((values.start - values.stop) // values.step) > MOST_ITERATIONS:
        raise NumberError(f"{why}: expected at most 2**53 iterations, found more")
    return values
