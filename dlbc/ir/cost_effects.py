"""What evaluating the expression of a `cost` clause is seen to do beside giving a value.

The program evaluates it nowhere: whatever it printed, stored or drew, the program would go on otherwise than
without the clause. What is seen by the summaries of the module's functions and the tables of known calls
counts; functions of other modules that no table knows are taken to do nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.access import MutationKind, OriginKind, Origins, RegionFacts
from dlbc.ir.callees import callees, mentioned_functions, mutated_arguments
from dlbc.ir.effects import (
    EXTERNAL_EFFECTS,
    NOT_ITS_OWN,
    FunctionSummaries,
    FunctionSummary,
    SideEffect,
    direct_side_effects,
    writes_output,
)
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, ModuleNames
from dlbc.ir.walk_code import walk_code
from dlbc.library.row import EffectKind

__all__ = ["effects_of"]

_OUTSIDE = {
    EffectKind.FILE: "writes to a file",
    EffectKind.INPUT: "reads standard input",
    EffectKind.RANDOM: "draws from a random generator",
    EffectKind.OBJECT: "changes an object of a module",
}
_PRINTS = "writes to standard output"
_BY_CONSTRUCT = {MutationKind.DELETE: "`del`", MutationKind.AUGMENTED: "an augmented assignment"}


def effects_of(
    node: ast.expr, loop: AnnotatedLoop, module_names: ModuleNames, summaries: FunctionSummaries
) -> Iterator[str]:
    """What evaluating ``node`` at the loop does, a clause of a sentence each: ``print`` writes to ..."""
    body: list[ast.stmt] = [ast.copy_location(ast.Expr(node), node)]
    own: frozenset[str] = frozenset()  # the loop's targets hold items that the program has as well
    facts = walk_code(
        CodeRegion(
            tuple(body),
            own,
            module_names,
            fresh=summaries.fresh,
            returns_argument_parts=summaries.returns_argument_parts,
        )
    )
    yield from _own(facts, module_names, summaries)
    roots: set[ast.AST] = {f for call in facts.calls for f, _ in callees(call, module_names)}
    roots |= mentioned_functions(body, own, module_names)
    for function in summaries.reachable(frozenset(roots & summaries.of.keys())):
        yield from _of_function(summaries.of[function], loop)


def _own(facts: RegionFacts, module_names: ModuleNames, summaries: FunctionSummaries) -> Iterator[str]:
    """What the expression does by itself, and its calls to objects that they are given."""
    for change in facts.mutations:
        for name in _shared(change.origins):
            yield f"{_BY_CONSTRUCT.get(change.kind) or _quoted(change.detail)} changes `{name}`"
    for call in facts.calls:
        if writes_output(call):
            yield f"{_quoted(ast.unparse(call.node.func))} {_PRINTS}"
        for side_effect in direct_side_effects(call):
            yield from _of_side_effect(side_effect)
        for function, value, _ in mutated_arguments(call, module_names, summaries.of):
            yield from (
                f"`{function.name}` changes `{name}`" for name in _shared(value.points_to | value.reachable)
            )


def _of_side_effect(side_effect: SideEffect) -> Iterator[str]:
    if side_effect.effect in EXTERNAL_EFFECTS:
        yield f"`{side_effect.function}` {_OUTSIDE[side_effect.effect]}"
        return
    does = "draws from" if side_effect.effect is EffectKind.DRAW else "changes"
    yield from (f"`{side_effect.function}` {does} `{name}`" for name in _shared(side_effect.origins))


def _of_function(function: FunctionSummary, loop: AnnotatedLoop) -> Iterator[str]:
    """What a function of the module does that is not done to its own objects or arguments."""
    if function.prints:
        yield f"`{function.name}` {_PRINTS}"
    for side_effect in function.side_effects:
        if side_effect.effect in EXTERNAL_EFFECTS:
            yield f"`{function.name}` calls `{side_effect.function}`, which {_OUTSIDE[side_effect.effect]}"
    for name in sorted({*function.rebinds, *function.mutated_shared} - {NOT_ITS_OWN}):
        owner = function.owners.get(name)
        of_its_call = function.called_by_name_only and owner is not None and owner not in loop.path
        if not of_its_call:
            yield f"`{function.name}` changes `{name}`"


def _shared(origins: Origins) -> list[str]:
    """The names from outside among them; an object of which nothing is known may be a new one."""
    return sorted({o.name for o in origins if o.kind in (OriginKind.SHARED, OriginKind.ELEMENT) and o.name})


def _quoted(name: str) -> str:
    return f"`{name}`"
