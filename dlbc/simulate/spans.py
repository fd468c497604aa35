"""How many iterations a loop has, and the values of its index, from what it runs over."""

from __future__ import annotations

import ast

from dlbrt.records import dataclass

from dlbc.simulate.problems import CannotSimulateError
from dlbc.simulate.values import LoopNumbers

__all__ = ["NO_ITERATIONS", "IterationRange", "find_span"]


@dataclass(frozen=True, slots=True)
class IterationRange:
    """The iterations: values of the index variable, or just positions where ``counts`` is false."""

    values: range
    counts: bool


#: No iterations.
NO_ITERATIONS = IterationRange(range(0), counts=True)


def find_span(node: ast.expr, values: LoopNumbers) -> IterationRange | None:
    """The iterations of a loop over ``node``; None where numbers are missing, which ``values`` keep."""
    return _Reader(values).span(node)


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads what a loop runs over."""

    values: LoopNumbers

    def span(self, node: ast.expr) -> IterationRange | None:
        """The iterations of a loop over ``node``; None where numbers are missing."""
        match node:
            case ast.Call(func=ast.Name(id="range"), args=[_, *_] as args):
                return self._range(node, args)
            case ast.Call(func=ast.Name(id="reversed"), args=[inner]):
                found = self.span(inner)
                return None if found is None else IterationRange(found.values[::-1], found.counts)
            case ast.Call(func=ast.Name(id="enumerate"), args=[inner, *start]):
                return self._numbered(inner, [*start, *(k.value for k in node.keywords if k.arg == "start")])
            case ast.Call(func=ast.Name(id="zip"), args=[_, *_] as parts):
                spans = [self.span(part) for part in parts]
                known = [span for span in spans if span is not None]
                shortest = min((len(span.values) for span in known), default=0)
                return IterationRange(range(shortest), counts=False) if len(known) == len(spans) else None
            case ast.Call(func=ast.Name(id="tqdm") | ast.Attribute(attr="tqdm"), args=[inner, *_]):
                return self.span(inner)
        length = ast.parse(f"len({ast.unparse(node)})", mode="eval").body
        count = self.values.length(length, "how many iterations there are")
        return None if count is None else IterationRange(range(count), counts=False)

    def _range(self, node: ast.expr, args: list[ast.expr]) -> IterationRange | None:
        why = f"the loop runs over {ast.unparse(node)}"
        found = [self.values.whole(arg, why) for arg in args]
        known = [value for value in found if value is not None]
        if len(known) < len(found):
            return None
        try:
            return IterationRange(range(*known), counts=True)
        except (TypeError, ValueError) as error:
            raise CannotSimulateError(f"{why}: {error}") from error

    def _numbered(self, inner: ast.expr, start: list[ast.expr]) -> IterationRange | None:
        span = self.span(inner)
        first = self.values.whole(start[0], "the first number of enumerate") if start else 0
        if span is None or first is None:
            return None
        return IterationRange(range(first, first + len(span.values)), counts=True)
