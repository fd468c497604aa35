"""What evaluating the expression of a `cost` clause is seen to do beside giving a value.

The program evaluates it nowhere: whatever it printed, stored or drew, the program would go on otherwise than
without the clause. What is seen by the summaries of the module's functions and the tables of known calls
counts; functions of other modules that no table knows are taken to do nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from fractions import Fraction
from math import isfinite

from dlbc.algebra.integer_form import IntegerForm
from dlbc.algebra.work import WorkPolynomial
from dlbc.analysis.callees import callees, mentioned_functions, mutated_arguments
from dlbc.analysis.effects import (
    EXTERNAL_EFFECTS,
    NOT_ITS_OWN,
    FunctionSummaries,
    FunctionSummary,
    SideEffect,
    direct_side_effects,
    writes_output,
)
from dlbc.analysis.uses import uses_of
from dlbc.analysis.walk_code import walk_code
from dlbc.cost.shapes import dotted
from dlbc.ir.access import MutationKind, OriginKind, Origins, RegionFacts
from dlbc.ir.loop import AnnotatedLoop
from dlbc.ir.region import CodeRegion, ModuleNames
from dlbc.library.methods import METADATA
from dlbc.library.row import EffectKind
from dlbc.library.table import lookup

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


# ------------------------------------------------------------------------------
# What can be seen of the expression of a `cost` clause.
#
# Whether it takes a vector of index values in place of one: only where every operation on the index works
# element by element, or fails for a vector (``max(i, 3)``), which the runtime meets by asking value by value.
# What would give something else of the same shape (``np.sort(i)``, ``M[i][0]``) does not take one. And which
# work it is, where it is a polynomial, for the question whether pairs of iterations cost the same.

#: A power up to which a polynomial is written out.
_MOST_FACTORS = 8


def takes_vector(node: ast.expr, index: str, module: ModuleNames) -> bool:
    """Whether the expression for a vector of index values is the vector of its values, or fails."""
    if all(use.name != index for use in uses_of(node)):
        return True
    match node:
        case ast.Name():
            return True
        case ast.Subscript(value=array, slice=inside):
            parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
            plain = not any(isinstance(part, ast.Slice | ast.Starred) for part in parts)
            operands = [*parts] if plain and not _moves(array, index) else []
        case ast.Call(func=function, args=args, keywords=[]) if _elementwise(function, module):
            operands = [] if any(isinstance(a, ast.Starred) for a in args) else args
        case ast.BinOp(op=op, left=left, right=right):
            operands = [] if isinstance(op, ast.MatMult) else [left, right]
        case ast.UnaryOp() | ast.Compare() | ast.BoolOp() | ast.IfExp():
            operands = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)]
        case _:
            operands = []
    return bool(operands) and all(takes_vector(operand, index, module) for operand in operands)


def _moves(node: ast.expr, index: str) -> bool:
    return any(use.name == index for use in uses_of(node))


def _elementwise(function: ast.expr, module: ModuleNames) -> bool:
    if not dotted(function):
        return False
    root, _, rest = ast.unparse(function).partition(".")
    if root not in module.imports:
        return not rest and lookup(f"builtins.{root}").elementwise and module.builtin(root)
    full = module.imports[root] + ("." + rest if rest else "")
    return lookup(full).elementwise or full.startswith("math.")


def work_of(node: ast.expr, form: Callable[[ast.expr], IntegerForm | None]) -> WorkPolynomial | None:
    """The expression as work, where it is a polynomial of what ``form`` reads as integers."""
    match node:
        case ast.Constant(value=value):
            known = type(value) is int or (type(value) is float and isfinite(value))
            return WorkPolynomial.literal(Fraction(value)) if known else None  # type: ignore[arg-type]
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=operand):
            inner = work_of(operand, form)
            return inner if inner is None or isinstance(sign, ast.UAdd) else -inner
        case ast.BinOp(
            left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow() as op, right=right
        ):
            return _combined(op, work_of(left, form), work_of(right, form))
    found = form(node)
    return None if found is None else WorkPolynomial.from_form(found)


def _combined(
    op: ast.operator, left: WorkPolynomial | None, right: WorkPolynomial | None
) -> WorkPolynomial | None:
    if left is None or right is None:
        return None
    match op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case ast.Div():
            return left * (1 / Fraction(right.constant)) if right.constant else None
    power = right.constant
    small = isinstance(power, int) and 0 <= power <= _MOST_FACTORS
    return left ** int(power or 0) if small else None


def contents_read(node: ast.AST, module: ModuleNames) -> Iterator[str]:
    """Names and dotted names of which an expression reads more than their form (``len(A)``, ``A.shape``)."""
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[argument]) if dotted(argument) and module.builtin("len"):
            return
        case ast.Attribute(attr=attribute) if dotted(node):
            if attribute not in METADATA:
                yield ast.unparse(node)
            return
        case ast.Name(id=name):
            yield name
            return
    for child in ast.iter_child_nodes(node):
        yield from contents_read(child, module)
