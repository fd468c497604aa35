"""Check what the body does without saying so: functions reached through values and operators, iterators.

Law: a function that changes what it is given may be called by its name alone, where the arguments are seen;
an iterator from before the loop, and names looked up by text, are refused wherever they are used.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence, Set

from dlbc.catalogue import report
from dlbc.diagnostics import Diagnostic, RelatedPlace
from dlbc.ir.access import RegionFacts
from dlbc.ir.callees import CONSTRUCTORS, address_taken, is_opaque
from dlbc.ir.effects import FunctionSummary
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import LoopNames, ModuleNames
from dlbc.ir.uses import every_node
from dlbc.source import Source, SourcePlace

__all__ = ["check_implicit_calls"]

#: Builtins through which a function may change names that it does not mention.
_BY_TEXT = ("exec", "eval", "globals")


def check_implicit_calls(
    facts: RegionFacts,
    functions: Sequence[FunctionSummary],
    names: LoopNames,
    module_names: ModuleNames,
    source: Source,
    loop: AnnotatedLoop,
    added_to: Set[str] = frozenset(),
    writing: Sequence[SourcePlace] = (),
) -> tuple[Diagnostic, ...]:
    """Every hidden effect, once per place; ``functions`` are those that the body may run.

    ``added_to``: containers whose reads are part of what iterations contribute to them. ``writing``:
    where the body writes to files; an open file is no iterator there.
    """
    check = _Check(module_names, source, writing)
    body = loop.node.body
    start = source.place_of(body[0])
    found = [
        *check.operators(functions, start),
        *check.handed_on(functions, body),
        *check.values(facts, functions, start),
        *check.by_text(functions, start),
        *check.stepwise(body, names, added_to),
    ]
    return tuple({(f.code, f.place): f for f in reversed(found)}.values())


def _changing(functions: Sequence[FunctionSummary]) -> dict[ast.AST, FunctionSummary]:
    return {f.node: f for f in functions if f.mutated_parameters and f.name not in CONSTRUCTORS}


class _Check:
    def __init__(self, module_names: ModuleNames, source: Source, writing: Sequence[SourcePlace]) -> None:
        self._module_names, self._source, self._writing = module_names, source, writing

    def operators(self, functions: Sequence[FunctionSummary], place: SourcePlace) -> Iterator[Diagnostic]:
        """Special methods that change the object: any operator may run them."""
        for node, function in _changing(functions).items():
            if node in self._module_names.implicit_calls.special_methods:
                yield self._changes(function, place)

    def handed_on(self, functions: Sequence[FunctionSummary], body: list[ast.stmt]) -> Iterator[Diagnostic]:
        """Functions that the body gives to others: it cannot be seen what those call them with."""
        changing = _changing(functions)
        for node, mention in address_taken(body, self._module_names):
            if node in changing:
                yield self._changes(changing[node], self._source.place_of(mention))

    def values(
        self, facts: RegionFacts, functions: Sequence[FunctionSummary], start: SourcePlace
    ) -> Iterator[Diagnostic]:
        """Calls of values, in the body or in what it runs: they may be of any function handed about."""
        calls = [
            (c.node, self._source.place_of(c.node)) for c in facts.calls if is_opaque(c, self._module_names)
        ]
        calls += [(f.calls_values, start) for f in functions if f.calls_values is not None]
        hidden = self._module_names.implicit_calls
        escaping = [f for node, f in _changing(functions).items() if node in hidden.escaping]
        for call, place in calls:
            name = ast.unparse(call.func)
            yield from (self._changes(function, place) for function in escaping)
            for word, handed in hidden.escaping_methods.items():
                note = RelatedPlace(self._source.place_of(handed), "handed on here")
                yield report("DLB418", place, "", (note,), function=name, word=word)

    def _changes(self, function: FunctionSummary, place: SourcePlace) -> Diagnostic:
        note = RelatedPlace(self._source.place_of(function.node), "defined here")  # type: ignore[arg-type]
        return report("DLB419", place, "", (note,), function=function.name)

    def by_text(self, functions: Sequence[FunctionSummary], place: SourcePlace) -> Iterator[Diagnostic]:
        """Functions that look names up by text."""
        for function in functions:
            for name in _BY_TEXT:
                if name in function.reads and self._module_names.builtin(name):
                    note = RelatedPlace(self._source.place_of(function.reads[name]), f"in `{function.name}`")
                    yield report("DLB209", place, "", (note,), name=name)

    def stepwise(self, body: list[ast.stmt], names: LoopNames, added_to: Set[str]) -> Iterator[Diagnostic]:
        """Iterators from before the loop, and dictionaries that grow where they are read."""
        for node in (n for s in body for n in every_node(s)):
            if isinstance(node, ast.Subscript) and self._holds(
                node.value, names, self._module_names.growing_dicts
            ):
                name = ast.unparse(node.value)
                if name not in added_to:
                    yield report("DLB420", self._source.place_of(node), name=name)
            if isinstance(node, ast.expr) and self._holds(node, names, self._module_names.iterators):
                place = self._source.place_of(node)
                if not any(map(place.within, self._writing)):
                    yield report("DLB417", place, name=ast.unparse(node))

    @staticmethod
    def _holds(node: ast.expr, names: LoopNames, kind: frozenset[ast.AST | str]) -> bool:
        places: Iterable[ast.AST | str] = ()
        if isinstance(node, ast.Name):
            places = names.bindings.get(node.id, ())
        elif isinstance(node, ast.Attribute):
            places = (node.attr,)
        return not kind.isdisjoint(places)
