"""What evaluating the expression of a `cost` clause is seen to do beside giving a value.

The program evaluates it nowhere: whatever it printed, stored or drew, the program would go on otherwise than
without the clause. What is seen by the summaries of the module's functions and the tables of known calls
counts; functions of other modules that no table knows are taken to do nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from dlbc.ir.access import ChangeKind, Facts, OriginKind, Origins
from dlbc.ir.callees import callees, mentioned, mutated_arguments
from dlbc.ir.effects import (
    NOT_ITS_OWN,
    OUTWARD,
    Deed,
    Summaries,
    Summary,
    direct_deeds,
    writes_output,
)
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import ModuleNames, Region
from dlbc.ir.walk_code import walk_code
from dlbc.library.row import Effect

__all__ = ["effects_of"]

_OUTSIDE = {
    Effect.FILE: "writes to a file",
    Effect.INPUT: "reads standard input",
    Effect.RANDOM: "draws from a random generator",
    Effect.OBJECT: "changes an object of a module",
}
_PRINTS = "writes to standard output"
_BY_CONSTRUCT = {ChangeKind.DELETE: "`del`", ChangeKind.AUGMENTED: "an augmented assignment"}


def effects_of(
    node: ast.expr, loop: AnnotatedLoop, world: ModuleNames, summaries: Summaries
) -> Iterator[str]:
    """What evaluating ``node`` at the loop does, a clause of a sentence each: ``print`` writes to ..."""
    body: list[ast.stmt] = [ast.copy_location(ast.Expr(node), node)]
    own: frozenset[str] = frozenset()  # the loop's targets hold items that the program has as well
    facts = walk_code(Region(tuple(body), own, world, fresh=summaries.fresh, passing=summaries.passing))
    yield from _own(facts, world, summaries)
    roots: set[ast.AST] = {f for call in facts.calls for f, _ in callees(call, world)}
    roots |= mentioned(body, own, world)
    for function in summaries.reachable(frozenset(roots & summaries.of.keys())):
        yield from _of_function(summaries.of[function], loop)


def _own(facts: Facts, world: ModuleNames, summaries: Summaries) -> Iterator[str]:
    """What the expression does by itself, and its calls to objects that they are given."""
    for change in facts.changes:
        for name in _shared(change.origins):
            yield f"{_BY_CONSTRUCT.get(change.kind) or _quoted(change.detail)} changes `{name}`"
    for call in facts.calls:
        if writes_output(call):
            yield f"{_quoted(ast.unparse(call.node.func))} {_PRINTS}"
        for deed in direct_deeds(call):
            yield from _of_deed(deed)
        for function, value, _ in mutated_arguments(call, world, summaries.of):
            yield from (f"`{function.name}` changes `{name}`" for name in _shared(value.outer | value.inner))


def _of_deed(deed: Deed) -> Iterator[str]:
    if deed.effect in OUTWARD:
        yield f"`{deed.function}` {_OUTSIDE[deed.effect]}"
        return
    does = "draws from" if deed.effect is Effect.DRAW else "changes"
    yield from (f"`{deed.function}` {does} `{name}`" for name in _shared(deed.origins))


def _of_function(function: Summary, loop: AnnotatedLoop) -> Iterator[str]:
    """What a function of the module does that is not done to its own objects or arguments."""
    if function.prints:
        yield f"`{function.name}` {_PRINTS}"
    for deed in function.deeds:
        if deed.effect in OUTWARD:
            yield f"`{function.name}` calls `{deed.function}`, which {_OUTSIDE[deed.effect]}"
    for name in sorted({*function.rebinds, *function.touches} - {NOT_ITS_OWN}):
        owner = function.owners.get(name)
        of_its_call = function.closed and owner is not None and owner not in loop.path
        if not of_its_call:
            yield f"`{function.name}` changes `{name}`"


def _shared(origins: Origins) -> list[str]:
    """The names from outside among them; an object of which nothing is known may be a new one."""
    return sorted({o.name for o in origins if o.kind in (OriginKind.SHARED, OriginKind.ELEMENT) and o.name})


def _quoted(name: str) -> str:
    return f"`{name}`"
